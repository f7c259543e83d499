"""Measures of what the metadata of passages says: types, providers and dates, named by the project."""

import csv
import io
import math

import pytest

from apps.accounts.actions.projects import change_project
from apps.corpus.enums import BlockField
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.rules import fields_refusal
from tests.cli.score.test_command import score as score_files
from tests.evaluation.factories import GOOD, ask, make_scene, score
from tests.factories import AT

pytestmark = pytest.mark.django_db

METADATA = {
    "a": {"doc_type": "guide", "date": "2026-01-01", "owner": ["Mara", "Lev"]},
    "b": {"doc_type": "guide", "date": "2026-02-20", "owner": ["Mara", "Lev"]},
    "c": {"doc_type": "notice", "date": "2025"},
}
MEASURES = (
    "ILD(by='type')@3 ILD(by='type')@4 CorpusCoverage(by='type')@4 Sources(by='document')@4 Sources(by='owner')@4 "
    "Distance(by='text')@2 TD_nDCG(half_life=10)@4"
)


@pytest.fixture
def scene():
    """Two queries, whose run ranks a, b, c, d in this order; a has grade 3 and b grade 1."""
    made = make_scene(
        queries=2,
        test_share=0.0,
        block_metadata=METADATA,
        documents={"a": "one", "b": "one", "c": "two", "d": "two"},
        runs={"good": dict.fromkeys(("Q01", "Q02"), GOOD)},
    )
    change_project(project_id=made.project.pk, policies={"type_field": "doc_type"}, actor=made.lead, at=AT)
    return made


def means(evaluation):
    return {one.measure: one.mean for one in evaluation.scores.all()}


def test_they_are_read_from_the_metadata_that_the_snapshot_froze(scene):
    found = means(score(scene, "good", measures=MEASURES))

    frozen = scene.snapshot.frozen_at.timestamp() / 86_400
    a, b = (grade * 0.5 ** ((frozen - day) / 10) for grade, day in ((3, 20_454), (1, 20_504)))
    assert found["ILD(by='type')@3"] == pytest.approx(2 / 3)
    assert found["ILD(by='type')@4"] == pytest.approx(2 / 3), "d has no type and is left out"
    assert found["CorpusCoverage(by='type')@4"] == 1.0
    assert found["Sources(by='document')@4"] == 0.5
    assert found["Sources(by='owner')@4"] == 0.5, "of the two that have one"
    assert found["Distance(by='text')@2"] == pytest.approx(2 / 5), "three words of five are in both"
    gained, best = (x + y / math.log2(3) for x, y in ((a, b), sorted((a, b), reverse=True)))
    assert found["TD_nDCG(half_life=10.0)@4"] == pytest.approx(gained / best)


def test_what_has_no_value_is_counted_and_said_by_number(scene, client):
    evaluation = score(scene, "good", measures=MEASURES)
    client.force_login(scene.lead)

    page = client.get(f"/p/{scene.project.slug}/evaluation/{evaluation.pk}/").content.decode()

    assert evaluation.left_out == [
        "ILD(by='type')@4: 2 of 8 results have no type and are left out.",
        "CorpusCoverage(by='type')@4: 2 of 8 results have no type and are left out.",
        "Sources(by='owner')@4: 4 of 8 results have no owner and are left out.",
    ]
    for words in evaluation.left_out:
        assert words.replace("'", "&#x27;") in page
    assert "2 of 2 queries have no date: age counts there to the freezing of Spring" in page


def test_the_same_figures_come_from_the_app_and_from_files(scene, tmp_path, capsys):
    """Also for the passages without a value, which an empty cell has in the file."""
    evaluation = score(scene, "good", measures="ILD(by='type')@4 CorpusCoverage(by='type')@4 TD_nDCG(half_life=10)@4")
    frozen = scene.snapshot.frozen_at.isoformat()
    files = {
        "qrels.txt": "\n".join(f"{query} 0 {block} {grade}" for query in ("Q01", "Q02")
                               for block, grade in (("a", 3), ("b", 1), ("c", 0))),
        "run.txt": "\n".join(f"{query} Q0 {block} 1 {value} tag" for query in ("Q01", "Q02")
                             for block, value in GOOD.items()),
        "blocks.csv": "block,type,time\na,guide,2026-01-01\nb,guide,2026-02-20\nc,notice,\nd,,\né,,\n",
        "queries.csv": f"query,time\nQ01,{frozen}\nQ02,{frozen}\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    at = {name: str(tmp_path / name) for name in files}

    code = score_files(
        "--qrels", at["qrels.txt"], "--run", at["run.txt"], "--blocks", at["blocks.csv"],
        "--query-attributes", at["queries.csv"], "--measures", " ".join(evaluation.measures), "--format", "csv",
    )  # fmt: skip

    out, err = capsys.readouterr()
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    by_files = {row["measure"]: float(row["value"]) for row in rows if row.get("query") in {"", "all", None}}
    assert {name: by_files[name] for name in evaluation.measures} == {
        name: mean for name, mean in means(evaluation).items() if name in evaluation.measures
    }
    assert "ILD(by='type')@4: 2 of 8 results have no type and are left out." in err


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("ILD(by='colour')@3", "no passage of Spring has “colour” in its metadata. Use a name that they have."),
        ("ILD(by='provider')@3", "has “provider” in its metadata. The settings state which name it has."),
        ("TD_nDCG(rate={'law':0.1})", "names no rate for queries of the domain access."),
    ],
)
def test_what_no_passage_has_is_refused_before_a_job_is_made(scene, measure, said):
    with pytest.raises(EvaluationRefused, match=said):
        ask(scene, "good", measures=measure)


def test_a_name_that_scores_were_computed_by_is_not_changed(scene):
    score(scene, "good", measures="ILD(by='type')@3 ILD(by='owner')@3")

    assert fields_refusal(scene.project, list(BlockField)) == {
        BlockField.TYPE: "It cannot be changed: 1 evaluation was computed by it, and would not compare with later ones."
    }
