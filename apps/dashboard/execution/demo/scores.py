"""The scores, costs and ledger notes of the demo's runs, and the gates of one system."""

from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

from apps.dashboard.execution.demo.stage import Stage, finish
from apps.evaluation.actions.ledger import write_ledger
from apps.evaluation.actions.scoring import request_evaluation
from apps.gates.actions import create_gate
from apps.goldsets.models import Version
from apps.metrics.expected.rules import BY_GRADES, KINDS
from apps.reports.actions.negatives import measure_negatives
from apps.retrieval.models import Run


class ScoreLine(NamedTuple):
    """A line of the ledger; `cost` is that of 1,000 queries. `tried` is the note of the run too."""

    tried: str
    configuration: str
    verdict: str
    cost: Decimal


RERANKED, NO_NUMBERS = "Reranked BM25", "BM25 without numbers"
LEDGER = {
    "BM25": ScoreLine(
        "What the help centre has served since spring. Every other run is compared with it.",
        "k1 = 0.9, b = 0.4, English, plurals folded",
        "Baseline.",
        Decimal("0.02"),
    ),
    "Damped BM25": ScoreLine(
        "Long policy pages crowded out the short steps people look for, so length counts for more.",
        "k1 = 1.6, b = 0.9, English, plurals folded",
        "No different from BM25. Kept as the candidate until the second round of grades is in.",
        Decimal("0.02"),
    ),
    RERANKED: ScoreLine(
        "A cross-encoder reads the first 20 results of BM25 and puts them in order again.",
        "BM25, then a cross-encoder over 20 results, made outside of Karat",
        "Clearly better, at ten times the price. To go live with the next release.",
        Decimal("0.20"),
    ),
    NO_NUMBERS: ScoreLine(
        "Numbers go out of date, so sentences with a number were left out of the index.",
        "k1 = 0.9, b = 0.4, without sentences that have a number, made outside of Karat",
        "Given up: people who ask for a number no longer find it.",
        Decimal("0.02"),
    ),
}
CANDIDATE, BASELINE = "Damped BM25", "BM25"
GATES: list[dict[str, Any]] = [
    {"name": "First screen", "figure": "nDCG@10", "at_least": 0.75, "on": "interval"},
    {"name": "No worse than what is live", "figure": "RR", "no_worse_than": "baseline"},
    {"name": "Finds the answer at all", "figure": "Recall@100", "at_least": 0.8, "on": "interval"},
    {"name": "Quick enough", "figure": "latency_p95", "at_most": 100, "tier": "smoke"},
    {"name": "Every change", "figure": "RR", "at_least": 0.6, "slice": "canary", "tier": "smoke"},
    {
        "name": "Finds passages with numbers too",
        "system": NO_NUMBERS,
        "figure": "RR",
        "hit": "block",
        "no_worse_than": "baseline",
    },
    {"name": "Weekly", "figure": "nDCG@10", "at_least": 0.7, "slice": "rotating"},
]


def fill_ledger(stage: Stage, runs: list[Run], *, day: float) -> None:
    for run in runs:
        line = LEDGER[run.system.name]
        words = {"tried": line.tried, "configuration": line.configuration, "verdict": line.verdict}
        write_ledger(run=run, commit=run.commit, cost=line.cost, actor=stage.lead, at=stage.at(day), **words)


def add_gates(stage: Stage, version: Version, asked: list[Run]) -> None:
    """Create gates before any score, so that each score is checked against them; the candidate's unless named."""
    runs = {run.system.name: run for run in asked}
    for facts in GATES:
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


def measure_hard_negatives(stage: Stage, version: Version, asked: list[Run]) -> None:
    """Measure what the hard negatives that the baseline finds do to scores, for the report of the version."""
    baseline = next(run for run in asked if run.system.name == BASELINE)
    for report in measure_negatives(
        version=version, baseline_id=baseline.pk, depth=100, actor=stage.lead, at=stage.at(42.1)
    ):
        finish(report.job, at=stage.at(42.1))
