"""trec_eval's own test files: what `trec_eval` prints, four decimals, against ours."""

import pytest

from apps.evaluation.columns import Vocabulary
from apps.evaluation.measures import measure_run, parse_measures
from apps.evaluation.significance import mean_of
from apps.evaluation.trecfiles import load_qrels, load_run
from tests.evaluation.oracle import shared_data

FILES = shared_data() / "trec_eval"
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
}


def printed(name: str) -> dict[tuple[str, str], float]:
    """What trec_eval printed, by measure and query (`all` for the mean), for the measures Karat offers."""
    found = {}
    for line in (FILES / name).read_text().splitlines():
        measure, query, value = line.split()
        if measure in OURS:
            found[OURS[measure], query] = float(value)
    return found


def ours(qrels: str, run: str, *, rel: int = 1) -> dict[tuple[str, str], float]:
    blocks = Vocabulary()
    judged = load_qrels(FILES / qrels, blocks)
    file = load_run(FILES / run, judged, blocks)
    values = measure_run(parse_measures(" ".join(OURS.values()), rel=rel), judged, file.ranked, list(blocks))
    found = {}
    for column, name in enumerate(OURS.values()):
        found[name, "all"] = mean_of(values[:, column])
        for row, query in enumerate(judged.queries):
            found[name, query] = values[row, column]
    return found


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "rel", "count"),
    [
        ("out.test", "qrels.test", "results.test", 1, 13),
        ("out.test.a", "qrels.test", "results.test", 1, 44),
        ("out.test.aq", "qrels.test", "results.test", 1, 176),
        ("out.test.aqc", "qrels.test", "results.trunc", 1, 176),
        ("out.test.aql", "qrels.rel_level", "results.test", 2, 176),
    ],
)
def test_every_printed_value_is_ours(expected, qrels, run, rel, count):
    theirs, mine = printed(expected), ours(qrels, run, rel=rel)

    assert len(theirs) == count
    assert [key for key, value in theirs.items() if abs(mine[key] - value) > 5e-5] == []


def test_a_query_missing_from_the_run_is_zero():
    mine = ours("qrels.test", "results.trunc")

    assert {value for (_, query), value in mine.items() if query == "302"} == {0.0}


def test_comment_lines_and_ids_with_a_hash_are_read():
    judged = load_qrels(FILES / "qrels.test.with-comments", Vocabulary())
    plain = load_qrels(FILES / "qrels.test", Vocabulary())

    assert judged.queries == plain.queries
    assert judged.grade.tolist() == plain.grade.tolist()
