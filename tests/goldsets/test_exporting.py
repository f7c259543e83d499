import csv
import gc
import io
import json
import weakref
import zipfile
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.common.errors import Refusal
from apps.common.files.tabular import TableFile
from apps.config.commandline import main as karat
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.formats.verification import verify
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.content import VersionContent
from apps.goldsets.selectors.diffs import diff
from apps.judging.actions.differences import answer_difference, look_at_difference
from apps.judging.actions.imports import import_judgements
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.rounds import close_round
from apps.judging.core.resolution import Answer
from apps.judging.imports.judgements import read_draft
from apps.judging.selectors.pairs import resolved_grades
from apps.metrics.files.trec_rows import read_qrel_rows
from apps.queries.models import Permission, Query
from apps.triples.models import Triple
from tests.factories import AT
from tests.goldsets.factories import (
    DENSE,
    LEXICAL,
    make_bench,
    make_ranked_bench,
    make_source,
    make_uploaded_run,
    make_version,
)
from tests.goldsets.reading import as_text
from tests.judging.factories import decide, judge_all, make_round, people_of
from tests.retrieval.factories import make_queries
from tests.review.factories import CHANGED, make_accepted
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(bench):
    return make_version(VersionState.RELEASED, bench)


def packed(version, **options) -> bytes:
    with exporting.zipped(version, **{"formats": ["all"], **options}) as stream:
        return stream.read()


def members(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: as_text(name, archive.read(name)) for name in archive.namelist()}


WITHOUT_TRACES = [form for form in CHOICES if form != "annotations"]
"""The forms of a version whose queries are from no trace."""


@pytest.mark.parametrize("form", WITHOUT_TRACES)
def test_an_export_is_the_same_bytes_twice(form, version):
    assert packed(version, formats=[form]) == packed(version, formats=[form])


@pytest.mark.slow
def test_an_export_takes_as_many_statements_for_few_pairs_as_for_many():
    assert statements_by_form(queries=16) == statements_by_form(queries=8)


def statements_by_form(*, queries):
    version = make_version(VersionState.RELEASED, make_bench(queries=queries))
    assert {row.split for row in version.queries.all()} == {"dev", "test"}
    counts = {}
    for form in WITHOUT_TRACES:
        with CaptureQueriesContext(connection) as statements:
            packed(version, formats=[form])
        counts[form] = len(statements)
    return counts


def test_superseding_a_version_does_not_change_its_export(bench, version):
    before = packed(version)
    make_version(VersionState.RELEASED, bench)
    version.refresh_from_db()

    assert version.state == VersionState.SUPERSEDED
    assert packed(version) == before


def test_an_export_is_intact_by_its_own_manifest_and_its_qrels_are_the_grades_of_the_version(tmp_path, version):
    exporting.write(version, tmp_path, formats=["all"])

    report = verify(tmp_path)
    assert report.is_intact
    assert report.manifest["digest"] == version.digest
    rows = [tuple(row)[:3] for row in read_qrel_rows(tmp_path / "trec/qrels.txt")]
    assert rows == sorted(version.grades.values_list("query__outside_id", "block_id", "grade"))
    assert len(rows) == 12
    assert {grade for _, _, grade in rows} == {0, 2, 3}


def test_one_split_contains_nothing_of_the_other():
    bench = make_bench(queries=6, triples=4)
    version = make_version(VersionState.RELEASED, bench)
    sealed = set(version.queries.filter(split="test").values_list("outside_id", flat=True))
    questions = [row.content["question"] for row in version.triples.filter(split="test")]
    assert sealed
    assert questions

    everything = "".join(members(packed(version, splits=["dev"])).values())

    assert not any(outside_id in everything for outside_id in sealed)
    assert not any(question in everything for question in questions)


def test_without_names_no_person_is_named_anywhere(version):
    triple = version.triples.get()
    people = {triple.content["added_by"], *triple.content["reviewed_by"]}
    assert people == {"Author", "Reviewer"}

    named = json.loads(members(packed(version, formats=["jsonl"]))["jsonl/triples.jsonl"])["metadata"]
    hidden = json.loads(members(packed(version, formats=["jsonl"], names=False))["jsonl/triples.jsonl"])["metadata"]

    assert (named["added_by"], named["reviewed_by"]) == ("Author", ["Reviewer", "Reviewer"])
    assert (hidden["added_by"], hidden["reviewed_by"]) == ("author", ["reviewer 1", "reviewer 2"])


def test_a_triple_is_exported_with_its_evidence_and_pages(version):
    entry = json.loads(members(packed(version, formats=["jsonl"]))["jsonl/triples.jsonl"])

    assert entry["expected_block"] == {"block_id": "access", "document_id": "handbook", "page_range": [31, 32]}
    assert entry["expected_blocks"][0]["evidence"] == ["A session lasts at most eight hours."]
    assert entry["expected_answer"] == "At most eight hours."
    assert entry["metadata"]["resolution"] == "consensus"


def test_what_rests_on_a_permission_revoked_since_leaves_every_later_export(bench):
    revoked = make_source(bench.project, "Interviews")
    gone = Query.objects.filter(project=bench.project).earliest("outside_id")
    Query.objects.filter(pk=gone.pk).update(source=revoked)
    version = make_version(VersionState.RELEASED, bench)
    assert any(gone.outside_id in text for text in members(packed(version)).values())
    Permission.objects.filter(source=revoked).update(revoked_at=AT, revoked_by=bench.lead, revocation_reason="Asked to")

    pks = versions.revoked_sources(version, at=AT)
    files = members(packed(version, revoked=list(pks)))

    assert list(pks) == [revoked.pk]
    assert not any(gone.outside_id in text for text in files.values())
    assert json.loads(files["manifest.json"])["export"]["left_out_as_revoked"] is True


def test_a_query_that_would_end_its_topic_is_refused_for_trec_and_written_as_jsonl(tmp_path):
    bench = make_bench(queries=1, judge=False)
    query = make_queries(bench.project, {"Q1": "What does </top> mean?"})[0]
    Triple.objects.filter(project=bench.project).update(query=query)
    version = make_version(VersionState.FROZEN, bench)

    with pytest.raises(Refusal, match="which TREC readers parse as a tag"):
        exporting.write(version, tmp_path, formats=["trec"])
    assert "What does </top> mean?" in members(packed(version, formats=["jsonl"]))["jsonl/queries.jsonl"]


def test_what_a_version_keeps_on_disk_goes_with_it(version):
    content = VersionContent(version)
    read = [list(content.grades()), list(content.judgements()), list(content.blocks())]
    kept = weakref.ref(content)

    gc.disable()
    try:
        del content
        assert all(read)
        assert kept() is None
    finally:
        gc.enable()


# Single judgements


def judged(version, **options):
    text = members(packed(version, formats=["judgements"], **options))["judgements/judgements.csv"]
    return list(csv.DictReader(io.StringIO(text)))


def test_every_judgement_of_the_version_is_a_row_under_a_pseudonym(bench, version):
    rows = judged(version)

    assert len(rows) == bench.round.judgements.count() == 24
    assert {row["annotator"] for row in rows} == {"person 1", "person 2"}
    names = set(bench.round.annotators.values_list("annotator__name", flat=True))
    assert not any(name in "".join(row.values()) for name in names for row in rows)
    grades = {(row["query_id"], row["block_id"]): row["grade"] for row in rows}
    frozen = version.grades.values_list("query__outside_id", "block_id", "grade")
    assert grades == {(query, block): str(grade) for query, block, grade in frozen}


def test_where_judges_settled_a_difference_the_first_and_the_second_grades_are_a_table():
    bench = make_bench(queries=1, judge=False, reconcile=True)
    one, two = people_of(bench.round)
    judge_all(bench.round, one, lambda seat: 3)
    judge_all(bench.round, two, lambda seat: 1)
    for entry in bench.pool.entries.order_by("pk"):
        look_at_difference(round_=bench.round, entry=entry, judge=two, at=AT)
        answer_difference(
            round_=bench.round, entry=entry, judge=two, grade=3, reason="=Right.", seen=0, idempotency_key="k", at=AT
        )
    version = make_version(VersionState.FROZEN, bench)

    files = members(packed(version, formats=["judgements", "jsonl"]))
    rows = list(csv.DictReader(io.StringIO(files["judgements/reconciled.csv"])))
    graded = [json.loads(line) for line in files["jsonl/judgements.jsonl"].splitlines()]

    said = {(row["first_grade"], row["second_grade"], row["reason"]) for row in rows}
    assert said == {("1", "3", "'=Right."), ("3", "", "")}  # it was settled before the other answered
    assert len(rows) == 2 * len(graded) == 2 * bench.pool.entry_count
    assert {(row["grade"], row["resolution"], row["judges"]) for row in graded} == {(3, "reconciled", 2)}
    assert version.manifest["counts"]["by_resolution"] == {"reconciled": len(graded)}
    assert {row["grade"] for row in judged(version)} == {"1", "3"}


def test_who_was_asked_about_a_difference_and_did_not_answer_is_in_the_table_too():
    bench = make_bench(queries=1, judge=False, reconcile=True)
    one, two = people_of(bench.round)
    same, *apart = bench.pool.entries.order_by("pk")
    judge_all(bench.round, one, lambda seat: 3)
    judge_all(bench.round, two, lambda seat: 3 if seat.entry == same else 1)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    for entry in apart:
        decide(bench.round, entry, 2)

    files = members(packed(make_version(VersionState.FROZEN, bench), formats=["judgements"]))
    rows = list(csv.DictReader(io.StringIO(files["judgements/reconciled.csv"])))
    assert sorted((row["first_grade"], row["second_grade"]) for row in rows) == [
        *[("1", "")] * len(apart), *[("3", "")] * len(apart),
    ]  # fmt: skip


def test_what_is_judged_after_the_freeze_changes_no_byte(bench, version):
    before = packed(version, formats=["judgements", "csv"])
    first = bench.round.judgements.order_by("pk").first()

    give_judgement(
        round_=first.round,
        seat_id=first.seat_id,
        annotator=first.annotator,
        answer=Answer(grade=1, note="on second thought"),
        idempotency_key="later",
        at=AT + timedelta(hours=1),
    )

    assert bench.round.judgements.filter(note="on second thought").exists()
    assert packed(version, formats=["judgements", "csv"]) == before


def test_an_answer_that_was_changed_before_the_freeze_is_one_row(bench):
    first = bench.round.judgements.order_by("pk").first()
    answer = Answer(grade=first.grade, note="on second thought")
    give_judgement(
        round_=first.round,
        seat_id=first.seat_id,
        annotator=first.annotator,
        answer=answer,
        idempotency_key="later",
        at=AT,
    )

    rows = judged(make_version(VersionState.RELEASED, bench))

    assert len(rows) == 24
    assert [row["note"] for row in rows].count("on second thought") == 1


def test_one_split_has_the_judgements_of_its_queries_only():
    version = make_version(VersionState.RELEASED, make_bench(queries=6))
    dev = set(version.queries.filter(split="dev").values_list("outside_id", flat=True))

    assert {row["query_id"] for row in judged(version, splits=["dev"])} == dev
    people = {(row["query_id"], row["block_id"], row["annotator"]) for row in judged(version, splits=["dev"])}
    assert people <= {(row["query_id"], row["block_id"], row["annotator"]) for row in judged(version)}


# Scores of runs


def features_of(version, *tags, splits=("dev", "test")) -> dict[tuple[str, str], list[float]]:
    """The scores of each pair in the lines for learners, by the place of its query."""
    runs = exporting.runs_for(version, ["letor"], tags)
    files = members(packed(version, formats=["letor"], runs=runs, splits=splits))
    lines = [line for name, text in files.items() if name.endswith(".txt") for line in text.splitlines()]
    queries = sorted({line.split()[-2] for line in lines})
    return {
        (str(queries.index(line.split()[-2])), line.split()[-1]): [
            float(part.partition(":")[2]) for part in line.partition(" #")[0].split()[2:]
        ]
        for line in lines
    }


def test_a_pair_has_the_scores_of_the_runs_by_tag_and_the_lowest_of_a_run_that_did_not_return_it():
    version = make_version(VersionState.RELEASED, make_ranked_bench(lexical=LEXICAL, dense=DENSE), test_share=0.0)

    assert features_of(version, "lexical", "dense") == {
        ("0", "access"): [-1.5, 3.0],
        ("0", "backups"): [-2.0, 3.0],
        ("0", "rotation"): [-2.0, 9.25],
        ("1", "access"): [0.0, 1.0],
        ("1", "backups"): [0.0, 1.0],
        ("1", "rotation"): [0.0, 1.0],
    }


def test_unasked_the_runs_are_those_that_were_pooled_and_the_manifest_names_them():
    version = make_version(VersionState.RELEASED, make_ranked_bench(lexical=LEXICAL, dense=DENSE), test_share=0.0)

    assert set(map(len, features_of(version).values())) == {1}
    (run,) = runs = exporting.runs_for(version, ["letor"], [])
    manifest = json.loads(members(packed(version, formats=["letor"], runs=runs))["manifest.json"])
    assert manifest["export"]["features"] == [{"run": "lexical", "system": "lexical", "digest": run.digest}]


def test_a_later_run_changes_no_byte_of_the_lines_for_learners():
    bench = make_ranked_bench(lexical=LEXICAL)
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    before = packed(version, formats=["letor"], runs=exporting.runs_for(version, ["letor"], []))

    make_uploaded_run(bench, "dense", {bench.pool.pool_queries.first().query.outside_id: {"access": 1.0}})

    assert packed(version, formats=["letor"], runs=exporting.runs_for(version, ["letor"], [])) == before


def test_runs_that_cannot_be_features_are_refused_in_words():
    version = make_version(VersionState.RELEASED, make_ranked_bench(lexical=LEXICAL))
    bare = make_version(VersionState.RELEASED, make_bench(queries=1, triples=0))

    for of, formats, tags, words in (
        (version, ["letor"], ["lexical", "sparse"], "sparse is no complete run .* There are: lexical"),
        (version, ["csv"], ["lexical"], "Only the form letor has scores of runs"),
        (bare, ["letor"], [], "No run on the snapshot of .* was pooled for it"),
    ):
        with pytest.raises(Refusal, match=words):
            exporting.runs_for(of, formats, tags)
    assert exporting.runs_for(version, ["all"], []) == []


# Out and in again


@pytest.mark.parametrize(("form", "name"), [("qrels", "trec/qrels.txt"), ("csv", "csv/judgements.csv")])
def test_exported_grades_imported_again_are_equal_grades(tmp_path, form, name, bench, version):
    exporting.write(version, tmp_path, formats=["csv", "trec"])
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)

    with (tmp_path / name).open("rb") as stream:
        table = TableFile(name, stream)
        read = read_draft(table, project=bench.project, snapshot=bench.snapshot, format=form, person="Somebody else")
    imported = import_judgements(project=bench.project, snapshot=bench.snapshot, draft=read, actor=bench.lead, at=AT)

    before = version.grades.values_list("query__query_id", "block_version_id", "grade")
    after = [(pair.query_id, pair.version_id, pair.grade) for pair in resolved_grades(imported.round)]
    assert sorted(after) == sorted(before)


def test_karat_score_reads_the_exported_qrels(tmp_path, capsys, version):
    exporting.write(version, tmp_path, formats=["trec"])
    queries = version.queries.values_list("outside_id", flat=True)
    ranked = [(query, block, rank) for query in queries for rank, block in enumerate(["backups", "access"], 1)]
    lines = [f"{query} Q0 {block} {rank} {1 / rank} best\n" for query, block, rank in ranked]
    (tmp_path / "best.run").write_text("".join(lines))

    files = ["--qrels", str(tmp_path / "trec/qrels.txt"), "--run", str(tmp_path / "best.run")]
    code = karat(["score", *files, "--measures", "nDCG@10 P@2", "--format", "json"])

    scored = json.loads(capsys.readouterr().out)
    assert code == 0
    assert scored["queries"]["judged"] == 4
    assert scored["runs"][0]["measures"]["nDCG@10"]["value"] == 1.0
    assert scored["runs"][0]["measures"]["P@2"]["value"] == 1.0


# Differences


def test_diff_names_added_and_regraded_items(bench):
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    make_accepted(bench.project, snapshot=bench.snapshot)
    again = make_round(bench.project, pool=bench.pool, annotators=1, judges=1, judge_again=True)
    judge_all(again, again.annotators.get().annotator, lambda seat: 1)

    second = make_version(VersionState.RELEASED, bench, rounds=[bench.round, again], test_share=0.0)
    found = diff(first, second)

    assert [change.name for change in found.added] == ["T-0002"]
    assert found.removed == []
    assert {(change.before, change.after) for change in found.regraded} == {
        ("grade 2", "grade 1"),
        ("grade 3", "grade 1"),
        ("grade 0", "grade 1"),
    }
    assert found.repinned == found.reworded == []
    assert diff(second, second).is_empty


def test_diff_names_removed_and_repinned_items():
    bench = make_bench(queries=1, triples=0)
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    newer = make_snapshot(bench.project, CHANGED, corpus=bench.snapshot.corpus)

    found = diff(first, make_version(VersionState.RELEASED, bench, snapshot=newer, test_share=0.0))

    query = first.queries.get().outside_id
    assert [(change.name, change.before) for change in found.removed] == [(f"{query} with access", "grade 2")]
    assert found.repinned == []
