"""The systems, runs and pools of the demo, and what is made of them: scores, gates, slices and a public release."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import NamedTuple

from django.utils.text import slugify

from apps.corpus.actions.corpora import allow_public_texts
from apps.corpus.models import SnapshotBlock
from apps.dashboard.execution.demo import material
from apps.dashboard.execution.demo.grading import share
from apps.dashboard.execution.demo.stage import RELEASED, WEEKS, Stage, finish
from apps.evaluation.actions.comparisons import write_ledger
from apps.evaluation.actions.scoring import request_evaluation
from apps.gates.actions import create_gate
from apps.goldsets.actions.public import ask_to_sign, prepare_public_release
from apps.goldsets.actions.slices import add_found, add_to_slice, make_rotating_slice
from apps.goldsets.core.slice_sampling import first_day, quarter_of
from apps.goldsets.enums import SliceKind, Split
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import questions_for_slices
from apps.metrics.expected.rules import BY_GRADES, KINDS
from apps.queries.models import Query
from apps.reports.actions import measure_negatives
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_system
from apps.retrieval.core.ranking import unpack
from apps.retrieval.enums import SystemKind
from apps.retrieval.execution.intake import import_run
from apps.retrieval.formats import draft_from_lines
from apps.retrieval.models import Pool, Ranking, Run, System
from apps.retrieval.selectors.question_sets import ALL_QUERIES, QueryChoice
from apps.retrieval.selectors.snapshots import position_of_blocks

SIZE = 12
CANARY = "Asked every week; it has to work."
HARD = "Its words are not those of the handbook."
FELL = "It fell when long passages were damped for the first time."


def cut_slices(stage: Stage, version: Version) -> None:
    """Cut every kind of slice; the newest rotating one is of the quarter in which the demo is loaded."""
    actor, at = stage.lead, stage.at(41.3)
    now = quarter_of(stage.at(7 * WEEKS))
    before = quarter_of(first_day(now) - timedelta(days=1))
    for quarter in (before, now):
        make_rotating_slice(version_id=version.pk, quarter=quarter, size=SIZE, actor=actor, at=at)
    names = [question.name for question in questions_for_slices(version)]
    picked = {
        SliceKind.CANARY: (names[::6], CANARY),
        SliceKind.REGRESSION: (names[3::8], FELL),
        SliceKind.CHALLENGE: (names[1::5], HARD),
    }
    for kind, (chosen, why) in picked.items():
        add_to_slice(version_id=version.pk, kind=kind, names=dict.fromkeys(chosen, why), actor=actor, at=at)
    add_found(version_id=version.pk, kind=SliceKind.CHALLENGE, actor=actor, at=at)


ORDER = Order("Tarnwick handbook questions", "Tarnwick", "CC-BY-4.0", (Split.DEV.value,))


def prepare_public_release_of_first(stage: Stage) -> None:
    version = Version.objects.get(gold_set__project=stage.project, number=1)
    corpus = stage.frozen().corpus
    allow_public_texts(
        corpus_id=corpus.pk,
        owner="Tarnwick",
        evidence="The handbooks are made up, for this demo.",
        actor=stage.lead,
        at=stage.at(48.5),
    )
    release = prepare_public_release(version_id=version.pk, order=ORDER, actor=stage.lead, at=stage.at(48.6))
    finish(release.job, at=stage.at(48.6))
    ask_to_sign(release_id=release.pk, lead=stage.host, actor=stage.lead, at=stage.at(48.7))


RERANKED, NO_NUMBERS = "Reranked BM25", "BM25 without numbers"
CANDIDATE, BASELINE = "Damped BM25", "BM25"


def fill_ledger(stage: Stage, runs: list[Run], *, day: float) -> None:
    for run in runs:
        words = material.ledger()[run.system.name]
        write_ledger(
            run=run,
            tried=words["tried"],
            commit=run.commit,
            configuration=words["configuration"],
            verdict=words["verdict"],
            cost=Decimal(words["cost"]),
            actor=stage.lead,
            at=stage.at(day),
        )


def add_gates(stage: Stage, version: Version, asked: list[Run]) -> None:
    """Create gates before any score, so that each score is checked against them; the candidate's unless named."""
    runs = {run.system.name: run for run in asked}
    for facts in material.gates():
        baseline = runs[BASELINE].pk if "no_worse_than" in facts else None
        create_gate(
            gold_set=version.gold_set,
            system_id=runs[facts.get("system", CANDIDATE)].system_id,
            facts={key: value for key, value in facts.items() if key != "system"},
            baseline_id=baseline,
            actor=stage.lead,
            at=stage.at(41.6),
        )


def score_runs(stage: Stage, version: Version, asked: list[Run]) -> None:
    """Score the runs on the version's questions by its grades, and by its Q&As under every hit rule.

    On the same splits, so that a comparison on Q&As shows what the grades say beside it.
    """
    for hit, run in product((BY_GRADES, *KINDS), asked):
        evaluation = request_evaluation(
            project=stage.project,
            run_id=run.pk,
            version_id=version.pk,
            hit=hit,
            actor=stage.lead,
            at=stage.at(42),
        )
        finish(evaluation.job, at=stage.at(42))
    _score_by_fields(stage, version, asked)


FIELD_MEASURES = (
    "nDCG@10 STREC@10 TD_nDCG(half_life=365)@10 ILD(by='type')@10 Sources(by='document')@10 "
    "Leaks(role='guest')@10 AnyLeak(role='guest')@10"
)


def _score_by_fields(stage: Stage, version: Version, asked: list[Run]) -> None:
    """On dev, by what passages say of themselves and by subtopics: what is live and its candidate."""
    for run in asked:
        if run.system.name in {BASELINE, CANDIDATE}:
            evaluation = request_evaluation(
                project=stage.project,
                run_id=run.pk,
                version_id=version.pk,
                split=Split.DEV,
                measures=FIELD_MEASURES,
                actor=stage.lead,
                at=stage.at(42.05),
            )
            finish(evaluation.job, at=stage.at(42.05))


def measure_hard_negatives(stage: Stage, version: Version, asked: list[Run]) -> None:
    """Measure what the hard negatives that the baseline finds do to scores, for the report of the version."""
    baseline = next(run for run in asked if run.system.name == BASELINE)
    for report in measure_negatives(
        version=version, baseline_id=baseline.pk, depth=100, actor=stage.lead, at=stage.at(42.1)
    ):
        finish(report.job, at=stage.at(42.1))


DEPTH = 20
POOL_DEPTH = 4
READING_NOISE = 2.4
"""How far a re-ranker's reading of a passage is from the careful reader's grade, at most."""
SENTENCE_END = re.compile(r"(?<=[.:;])\s+")
NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|month|quarter|year|week)",
    re.IGNORECASE,
)
LONG_WORD = re.compile(r"\w{4,}")


def build_systems(stage: Stage) -> list[System]:
    plans = [
        ("BM25", SystemKind.BM25, {"k1": 0.9, "b": 0.4}),
        ("Damped BM25", SystemKind.BM25, {"k1": 1.6, "b": 0.9}),
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
    """Run each system, and upload what a team made of the first one's results outside of Karat."""
    runs = []
    for system in systems:
        run = request_run(
            project=stage.project,
            system_id=system.pk,
            snapshot_id=stage.frozen().pk,
            choice=choice,
            depth=DEPTH,
            tag=f"{slugify(system.name)}{suffix}" if suffix else "",
            note=material.ledger()[system.name]["tried"],
            actor=stage.lead,
            at=stage.at(day),
        )
        finish(run.job, at=stage.at(day))
        runs.append(run)
    for name, score in ((RERANKED, _read_again), (NO_NUMBERS, _without_numbers)):
        upload(stage, runs[0], name, score, f"{slugify(name)}{suffix}", day=day + 0.4)


class Found(NamedTuple):
    """A passage as one query found it."""

    query_id: str
    query: str
    block_id: str
    text: str
    score: float


def upload(stage: Stage, first: Run, system: str, score: Callable[[Found], float], tag: str, *, day: float) -> Run:
    """Score the results of a run again, as a team would outside of Karat, and upload the new order as a file."""
    positions = position_of_blocks(stage.frozen())
    queries = {query.pk: query for query in Query.everything.filter(project=stage.project)}
    draft = draft_from_lines(
        _lines(first, queries, positions, stage, score, tag),
        f"{tag}.run",
        queries={query.outside_id: key for key, query in queries.items()},
        blocks=positions,
    )
    return import_run(
        project=stage.project,
        snapshot=stage.frozen(),
        draft=draft,
        system=system,
        note=material.ledger()[system]["tried"],
        commit="4f1c2ab",
        actor=stage.lead,
        at=stage.at(day),
    ).run


def _lines(
    first: Run,
    queries: Mapping[int, Query],
    positions: Mapping[str, int],
    stage: Stage,
    score: Callable[[Found], float],
    tag: str,
) -> Iterator[bytes]:
    block_ids = {position: block_id for block_id, position in positions.items()}
    texts = dict(
        SnapshotBlock.objects.filter(snapshot=stage.frozen()).values_list("block__outside_id", "version__text")
    )
    for ranking in Ranking.objects.filter(run=first).order_by("query_id"):
        query = queries[ranking.query_id]
        ranked, scores = unpack(bytes(ranking.packed))
        found = [
            Found(query.outside_id, query.text, block_ids[position], texts[block_ids[position]], value)
            for position, value in zip(ranked.tolist(), scores.tolist(), strict=True)
        ]
        again = sorted(found, key=lambda one: (-score(one), one.block_id))
        for rank, one in enumerate(again, start=1):
            yield f"{one.query_id} Q0 {one.block_id} {rank} {DEPTH + 1 - rank} {tag}\n".encode()


def _read_again(found: Found) -> float:
    """A cross-encoder's view of the pair: near that of the careful reader, and the same on every machine."""
    careful = material.careful_view(found.query_id, found.query, found.block_id)
    return careful + READING_NOISE * share("cross-encoder", found.query, found.block_id)


def _without_numbers(found: Found) -> float:
    """The score, less what the query finds in sentences with a number alone."""
    sentences = SENTENCE_END.split(found.text)
    left = " ".join(sentence for sentence in sentences if not NUMBER.search(sentence))
    wanted = {word.lower() for word in LONG_WORD.findall(found.query)}
    before, after = (len(wanted.intersection(LONG_WORD.findall(text.lower()))) for text in (found.text, left))
    return found.score * (after + 1) / (before + 1)


def pool_runs(stage: Stage) -> None:
    pool = request_pool(
        project=stage.project,
        name=f"Spring, depth {POOL_DEPTH}",
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
