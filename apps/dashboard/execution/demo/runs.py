"""The systems, runs and pools of the demo."""

from collections.abc import Iterator

import numpy as np
from django.utils.text import slugify

from apps.dashboard.execution.demo.scores import LEDGER
from apps.dashboard.execution.demo.stage import RELEASED, Stage, finish
from apps.goldsets.models import Version
from apps.queries.models import Query
from apps.retrieval.actions import create_system, request_pool, request_run
from apps.retrieval.core.ranking import unpack
from apps.retrieval.enums import SystemKind
from apps.retrieval.execution.intake import import_run
from apps.retrieval.formats.runs import draft_from_lines
from apps.retrieval.models import Pool, Ranking, Run, System
from apps.retrieval.selectors import ALL_QUERIES, QueryChoice, position_of_blocks

DEPTH = 20
POOL_DEPTH = 6
FUSION_CONSTANT = 60
HYBRID = "hybrid-rrf"
HYBRID_SYSTEM = "Hybrid"


def build_systems(stage: Stage) -> list[System]:
    plans = [
        ("BM25", SystemKind.BM25, {"k1": 0.9, "b": 0.4}),
        ("BM25, long passages damped", SystemKind.BM25, {"k1": 1.6, "b": 0.9}),
        ("TF-IDF", SystemKind.TFIDF, {}),
    ]
    return [
        create_system(
            project=stage.project, name=name, kind=kind, parameters=parameters, actor=stage.lead, at=stage.at(1)
        )
        for name, kind, parameters in plans
    ]


def run_systems(stage: Stage, systems: list[System]) -> None:
    """On all queries of the project, before anybody wrote a Q&A."""
    _run(stage, systems, ALL_QUERIES, "", day=1.1)


def run_questions(stage: Stage, version: Version) -> None:
    """On the questions of the first version: its queries and those of its Q&As."""
    systems = [run.system for run in stage.ranked() if run.system.kind != SystemKind.UPLOADED]
    choice = QueryChoice(questions=f"{version.gold_set.slug}/{version.label}")
    _run(stage, systems, choice, f"-{version.label}", day=RELEASED + 0.1)


def _run(stage: Stage, systems: list[System], choice: QueryChoice, suffix: str, *, day: float) -> None:
    """Run each system, and upload the fusion of the first and the third."""
    runs = []
    for system in systems:
        run = request_run(
            project=stage.project,
            system_id=system.pk,
            snapshot_id=stage.frozen().pk,
            choice=choice,
            depth=DEPTH,
            tag=f"{slugify(system.name)}{suffix}" if suffix else "",
            note=LEDGER[system.name].tried,
            actor=stage.lead,
            at=stage.at(day),
        )
        finish(run.job, at=stage.at(day))
        runs.append(run)
    upload_hybrid(stage, runs[0], runs[2], f"{HYBRID}{suffix}", day=day + 0.4)


def upload_hybrid(stage: Stage, first: Run, second: Run, tag: str, *, day: float) -> Run:
    """Fuse two runs outside of Karat, as a team would, and upload the result as a file."""
    positions = position_of_blocks(stage.frozen())
    queries = dict(Query.everything.filter(project=stage.project).values_list("outside_id", "pk"))
    lines = _fused_lines(first, second, positions, queries, tag)
    draft = draft_from_lines(lines, f"{tag}.run", queries=queries, blocks=positions)
    return import_run(
        project=stage.project,
        snapshot=stage.frozen(),
        draft=draft,
        system=HYBRID_SYSTEM,
        note=LEDGER[HYBRID_SYSTEM].tried,
        commit="4f1c2ab",
        actor=stage.lead,
        at=stage.at(day),
    ).run


def _fused_lines(
    first: Run, second: Run, positions: dict[str, int], queries: dict[str, int], tag: str
) -> Iterator[bytes]:
    block_ids = {position: block_id for block_id, position in positions.items()}
    query_ids = {key: outside_id for outside_id, key in queries.items()}
    scores_by_query: dict[int, dict[int, float]] = {}
    for ranking in Ranking.objects.filter(run__in=[first, second]).order_by("query_id", "run_id"):
        ranked, _ = unpack(bytes(ranking.packed))
        scores = scores_by_query.setdefault(ranking.query_id, {})
        for rank, position in enumerate(ranked.tolist(), start=1):
            scores[position] = scores.get(position, 0.0) + 1 / (FUSION_CONSTANT + rank)
    for query, scores in scores_by_query.items():
        order = np.lexsort((-np.array(list(scores)), -np.array(list(scores.values()))))[:DEPTH]
        best = [list(scores.items())[index] for index in order]
        for rank, (position, score) in enumerate(best, start=1):
            line = f"{query_ids[query]} Q0 {block_ids[position]} {rank} {score:.8f} {tag}\n"
            yield line.encode()


def pool_runs(stage: Stage) -> None:
    pool = request_pool(
        project=stage.project,
        name="Spring, depth 6",
        snapshot_id=stage.frozen().pk,
        run_ids=[run.pk for run in stage.ranked()],
        depth=POOL_DEPTH,
        actor=stage.lead,
        at=stage.at(2),
    )
    finish(pool.job, at=stage.at(2))


def pool_hard_queries(stage: Stage, *, day: float) -> Pool:
    """A second, deeper pool for the hard queries: the round that is still open."""
    pool = request_pool(
        project=stage.project,
        name="Hard queries, depth 12",
        snapshot_id=stage.frozen().pk,
        run_ids=[run.pk for run in stage.ranked()],
        depth=12,
        choice=QueryChoice(difficulty="hard"),
        actor=stage.lead,
        at=stage.at(day),
    )
    finish(pool.job, at=stage.at(day))
    pool.refresh_from_db()
    return pool
