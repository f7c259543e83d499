"""Grades by text on the command line are those of the app: the same version, exported, and the same passages."""

import json

import pytest
from django.core.management import call_command

from apps.config.commandline import main as karat
from apps.evaluation.selectors.evaluations import values_of
from apps.goldsets.enums import VersionState
from apps.metrics.measures.registry import DEFAULT_TEXT_MEASURES
from apps.queries.models import Query
from tests.evaluation.by_text import ELSEWHERE, add_cut_run
from tests.evaluation.factories import Scene, score
from tests.goldsets.factories import make_bench, make_version
from tests.review.factories import make_accepted_from

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_release_says_what_the_app_says(tmp_path, capsys, share):
    bench = make_bench(queries=4, triples=0)
    names = list(bench.pool.pool_queries.order_by("query").values_list("query__outside_id", flat=True))
    make_accepted_from(Query.objects.get(outside_id=names[0]), bench.snapshot)
    scene = Scene(bench.project, bench.snapshot, make_version(VersionState.RELEASED, bench, test_share=0.0))
    texts = list(bench.snapshot.entries.order_by("position").values_list("version__text", flat=True))
    halves = [" ".join(text.split()[: len(text.split()) // 2 + 1]) for text in texts]
    passages = {
        names[0]: ["A session lasts at most eight hours.", *texts],
        names[1]: [ELSEWHERE, *halves, *texts],
        names[2]: [" ".join(texts), texts[0]],
    }
    _says_the_same(scene, passages, share, tmp_path, capsys)


def test_windows_over_blocks_whose_ids_are_in_no_reading_order_are_the_same_in_both(tmp_path, capsys):
    """Blocks of one to ten words, of which a window holds several, and one without a text."""
    sizes = {"zoo": 9, "why": 1, "scope": 8, "rules": 10, "keys": 2, "end": 9, "boiler": 6, "empty": 0}
    texts = {name: " ".join(f"{name}{place}" for place in range(size)) for name, size in sizes.items()}
    bench = make_bench(queries=4, triples=0, texts=texts)
    names = list(bench.pool.pool_queries.order_by("query").values_list("query__outside_id", flat=True))
    scene = Scene(bench.project, bench.snapshot, make_version(VersionState.RELEASED, bench, test_share=0.0))
    words = " ".join(texts.values()).split()
    windows = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]

    _says_the_same(scene, dict.fromkeys(names[:3], windows), 0.8, tmp_path, capsys)


def _says_the_same(scene, passages, share, tmp_path, capsys):
    add_cut_run(scene, "cut", passages)
    stored = score(scene, "cut", hit=f"text(share={share})")
    version = scene.version
    name = f"{version.gold_set.slug}/{version.label}"
    call_command("export", project=version.gold_set.project.slug, version=name, out=tmp_path / "release")
    rows = [{"qid": name, "text": text} for name, texts in passages.items() for text in texts]
    (tmp_path / "cut.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    capsys.readouterr()

    given = ["--results", str(tmp_path / "cut.jsonl"), "--split", "all", "--hit", f"text(share={share})"]
    assert karat(["eval", str(tmp_path / "release"), *given, "--format", "json"]) == 0

    card = json.loads(capsys.readouterr().out)
    means = {name: one["value"] for name, one in card["runs"][0]["measures"].items()}
    assert list(means) == DEFAULT_TEXT_MEASURES.split()
    assert means == pytest.approx({name: column.mean() for name, column in values_of(stored).items() if name in means})
    assert means["RR"] > 0
