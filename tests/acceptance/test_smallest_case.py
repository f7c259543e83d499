"""Five documents, twenty queries, one relevant block each: the whole chain, against values worked by hand.

The run ranks all five blocks for every query; the relevant one stands at rank 1 for four queries, at rank 2 for four,
and so on to rank 5. So, with k the cutoff and r the rank of the relevant block:

- P@k is 1/k when r <= k: P@3 = 12/20 x 1/3, P@5 = 1/5, P@10 = 1/10 (a cutoff beyond the corpus still divides by k)
- Recall@k is the share of queries with r <= k
- RR is the mean of 1, 1/2, 1/3, 1/4, 1/5
- nDCG@k is the mean of 1/log2(r + 1) over r <= k, since the ideal ranking has gain 1 at rank 1
"""

import json
import math

import pytest

from apps.accounts.enums import Role
from apps.corpus.models import Snapshot
from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.models import Score
from apps.judging.core.plan import Plan
from apps.retrieval.models import Pool, Run
from tests.acceptance import chain
from tests.factories import AT, lead_of, make_member, make_project
from tests.running_jobs import run_jobs

BLOCKS = [f"d{number}" for number in range(1, 6)]
QUERIES = [f"q{number:02}" for number in range(1, 21)]
MEASURES = "P@3 P@5 P@10 Recall@3 Recall@5 Recall@10 RR nDCG@3 nDCG@5 nDCG@10"


def rank_of_relevant(query: str) -> int:
    return QUERIES.index(query) % 5 + 1


def ranking(query: str) -> list[str]:
    """The blocks in the order of the run: the relevant one, d1, is put at its rank among the others."""
    others = BLOCKS[1:]
    return [*others[: rank_of_relevant(query) - 1], "d1", *others[rank_of_relevant(query) - 1 :]]


def discounted(*ranks: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks) / 5


EXPECTED = {
    "P@3": 12 / 20 / 3,
    "P@5": 1 / 5,
    "P@10": 1 / 10,
    "Recall@3": 12 / 20,
    "Recall@5": 1.0,
    "Recall@10": 1.0,
    "RR": (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5,
    "nDCG@3": discounted(1, 2, 3),
    "nDCG@5": discounted(1, 2, 3, 4, 5),
    "nDCG@10": discounted(1, 2, 3, 4, 5),
}


@pytest.fixture
def files(tmp_path):
    corpus = [
        {"block_id": block, "document_id": block, "title": block, "text": f"What stands in {block}."}
        for block in BLOCKS
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    (tmp_path / "queries.csv").write_text(
        "query_id,text\n" + "".join(f"{query},Question {query}\n" for query in QUERIES)
    )
    lines = [
        f"{query} Q0 {block} {rank} {10 - rank} byhand\n"
        for query in QUERIES
        for rank, block in enumerate(ranking(query), start=1)
    ]
    (tmp_path / "byhand.run").write_text("".join(lines))
    return tmp_path


def test_the_smallest_case_goes_through_the_whole_chain(transactional_db, files):
    project = make_project("Smallest")
    slug, lead = project.slug, lead_of(project)
    annotator = make_member(project, Role.ANNOTATOR)
    truth = {(query, "d1"): 1 for query in QUERIES}

    chain.command(
        "import_corpus", str(files / "corpus.jsonl"), "--project", slug, "--corpus", "five", "--format", "jsonl"
    )
    chain.command("freeze", "--project", slug, "--corpus", "five")
    options = ("--project", slug, "--format", "csv", "--source", chain.permit(project, "byhand"))
    chain.command("import_queries", str(files / "queries.csv"), *options)
    chain.command("import_run", str(files / "byhand.run"), "--project", slug, "--snapshot", "five@1")
    chain.command(
        "pool", "--project", slug, "--snapshot", "five@1", "--name", "All", "--depth", "10", "--run", "byhand"
    )
    pool = Pool.objects.get()
    round_ = chain.begin_round(project, pool, [annotator], Plan(overlap=0, judges=1, seed=1))
    given = chain.grade_over_http(project, round_, annotator, truth, noise=0)
    chain.settle(project, round_, truth)
    version = chain.release(project, round_)
    run = Run.objects.get()
    request_evaluation(project=project, run_id=run.pk, version_id=version.pk, measures=MEASURES, actor=lead, at=AT)
    run_jobs()
    folder = chain.export(version, files / "out", "trec")
    scored = chain.score(
        "--qrels", str(folder / "trec/qrels.txt"), "--run", str(files / "byhand.run"), "--measures", MEASURES
    )

    assert (pool.entry_count, given, Snapshot.objects.get().block_count) == (100, 100, 5)
    in_app = dict(Score.objects.exclude(measure__startswith="Judged").values_list("measure", "mean"))
    on_command_line = {name: value["value"] for name, value in scored["runs"][0]["measures"].items()}
    assert in_app == pytest.approx(EXPECTED, abs=1e-12)
    assert on_command_line == pytest.approx(EXPECTED, abs=1e-12)
    assert scored["queries"] == {"judged": 20, "with_relevant": 20, "in_run": 20, "missing": 0}
