"""trec_eval's own test files: what `trec_eval` prints, four decimals, against ours."""

from pathlib import Path

import pytest

from apps.common.errors import InputErrors
from apps.metrics.columns import Ranked, in_rank_order, place_within
from apps.metrics.files.reading import load_qrels, load_run
from apps.metrics.measures.registry import measure_run, parse_measure
from apps.metrics.statistics.significance import mean_of
from apps.metrics.vocabulary import Vocabulary
from tests.conftest import SHARED_DATA

FILES = SHARED_DATA / "trec_eval"
pytestmark = pytest.mark.skipif(not FILES.is_dir(), reason="the trec_eval files are not there")

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OURS = {
    "map": "AP",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "ndcg": "nDCG",
    **{f"P_{k}": f"P@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"Recall@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"AP@{k}" for k in CUTOFFS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    "infAP": "infAP",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "rbp": "RBP(p=0.9)",
}
NAMED = {
    **{f"P_{k}": f"P@{k}" for k in (3, 5, 7)},
    **{f"recall_{k}": f"Recall@{k}" for k in (20, 2000)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (10, 20, 23)},
    **{f"success_{k}": f"Success@{k}" for k in (2, 5, 20)},
    "ndcg_1=3,2=9,4=4.5": "nDCG(gains={1:3,2:9,4:4.5})",
}
UNJUDGED = {f"unj_{k}": f"Judged@{k}" for k in (5, 10, 20)}


def printed(name: str, names: dict[str, str] = OURS) -> dict[tuple[str, str], float]:
    """What trec_eval printed, by measure and query (`all` for the mean), for the measures Karat offers."""
    found = {}
    for line in (FILES / name).read_text().splitlines():
        measure, query, value = line.split()
        if measure in names:
            found[names[measure], query] = float(value)
    return found


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def in_six_columns(run: str) -> Path:
    """A copy without what trec_eval passes over: words after the tag of a line, which Karat refuses."""
    copy = Path(run)
    lines = (FILES / run).read_text().splitlines()
    copy.write_text("".join("\t".join(line.split()[:6]) + "\n" for line in lines))
    return copy


def ours(
    qrels: str, run: str, *, rel: int = 1, names: dict[str, str] = OURS, deepest: int | None = None
) -> dict[tuple[str, str], float]:
    """Karat's values by measure and query; `deepest` cuts every ranking there first, as `trec_eval -M` does."""
    blocks = Vocabulary()
    judged = load_qrels(FILES / qrels, blocks)
    _, _, ranked, ids, *_ = load_run(in_six_columns(run), judged, blocks)
    if deepest is not None:
        ordered = in_rank_order(ranked, ids)
        kept = place_within(ordered.query, len(judged.queries)) < deepest
        ranked = Ranked(*(column[kept] for column in ordered[:3]))
    values = measure_run([parse_measure(name, rel=rel) for name in names.values()], judged, ranked, ids)
    found = {}
    for column, name in enumerate(names.values()):
        found[name, "all"] = mean_of(values[:, column])
        for row, query in enumerate(judged.queries):
            found[name, query] = values[row, column]
    return found


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "rel", "deepest", "count"),
    [
        ("out.test", "qrels.test", "results.test", 1, None, 13),
        ("out.test.a", "qrels.test", "results.test", 1, None, 49),
        ("out.test.aq", "qrels.test", "results.test", 1, None, 196),
        ("out.test.aqc", "qrels.test", "results.trunc", 1, None, 196),
        ("out.test.aqcM", "qrels.test", "results.trunc", 1, 100, 196),
    ],
)
def test_every_printed_value_is_ours(expected, qrels, run, rel, deepest, count):
    theirs, mine = printed(expected), ours(qrels, run, rel=rel, deepest=deepest)

    assert len(theirs) == count
    assert [key for key, value in theirs.items() if abs(mine[key] - value) > 5e-5] == []


def test_every_value_on_a_graded_scale_is_ours_but_rbp():
    """trec_eval 10 takes the raw grades for the gains of RBP; Karat counts relevant or not, as it was published."""
    theirs, mine = printed("out.test.aql"), ours("qrels.rel_level", "results.test", rel=2)

    assert len(theirs) == 196
    apart = {key for key, value in theirs.items() if abs(mine[key] - value) > 5e-5}
    assert {name for name, _ in apart} == {"RBP(p=0.9)"}


def test_values_with_parameters_of_their_own_are_ours():
    theirs, mine = printed("out.test.meas_params", NAMED), ours("qrels.test", "results.test", names=NAMED)

    assert len(theirs) == 48
    assert [key for key, value in theirs.items() if abs(mine[key] - value) > 5e-5] == []


def test_what_trec_eval_calls_unjudged_is_what_judged_leaves():
    theirs, mine = printed("out.test.aq", UNJUDGED), ours("qrels.test", "results.test", names=UNJUDGED)

    assert len(theirs) == 12
    assert [key for key, value in theirs.items() if abs(1 - mine[key] - value) > 5e-5] == []


def test_a_query_missing_from_the_run_is_zero():
    mine = ours("qrels.test", "results.trunc")

    assert {value for (_, query), value in mine.items() if query == "302"} == {0.0}


def test_words_after_a_tag_that_trec_eval_passes_over_are_refused_with_their_line():
    with pytest.raises(InputErrors, match=r"results\.trunc, line 1") as refused:
        load_run(FILES / "results.trunc", load_qrels(FILES / "qrels.test"))

    assert len(refused.value.errors) == 5


def test_comment_lines_and_ids_with_a_hash_are_read():
    judged = load_qrels(FILES / "qrels.test.with-comments", Vocabulary())
    plain = load_qrels(FILES / "qrels.test", Vocabulary())

    assert judged.queries == plain.queries
    assert judged.grade.tolist() == plain.grade.tolist()
