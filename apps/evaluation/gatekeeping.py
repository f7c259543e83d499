"""Runs held to the gates of their system: decided from stored rankings, kept once, and told when a state changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from apps.accounts.models import User
from apps.audit.actions import record
from apps.corpus.models import Snapshot
from apps.evaluation import gate_telling, gates, gating, rules, selectors
from apps.evaluation.enums import STRATA, GateState
from apps.evaluation.measurable import grades_refusal
from apps.evaluation.models import Evaluation, Gate, GateResult
from apps.evaluation.selectors import Ground
from apps.goldsets.models import Version
from apps.jobs.actions import enqueue
from apps.metrics.columns import Floats
from apps.metrics.comparison import FEWEST_IN_STRATUM
from apps.metrics.measures import Measure, measure_run
from apps.retrieval.models import Ranking, Run

KIND = "evaluation.gate"
LONGEST_WORDS = 400

Decided = list[tuple[Gate, gating.Verdict]]


# Deciding ----------------------------------------------------------------------------------------------------------


def decide_on(evaluation: Evaluation, held: Sequence[Gate]) -> Decided:
    """What these gates say of a run on one side of a version. Reads rankings; writes nothing."""
    if not held:
        return []
    ground = selectors.judged_of(evaluation.version, evaluation.split)
    measures = gating.measures_of(gates.rule_of(gate) for gate in held)
    on_scale = [measure for measure in measures if grades_refusal([measure], evaluation.version) is None]
    table = _Table(evaluation.version, ground, on_scale)
    evidence = gating.Evidence(
        query_ids=ground.judged.queries,
        values=table.values_of(evaluation.run),
        latencies=_latencies(evaluation.run, ground),
        cost=gates.cost_of(evaluation),
        strata=_strata(evaluation, ground),
        seed=evaluation.seed,
    )
    return [(gate, _verdict(gate, evaluation, evidence, table)) for gate in held]


@dataclass
class _Table:
    """The values of runs by measure, each run scored once."""

    version: Version
    ground: Ground
    measures: Sequence[Measure]
    known: dict[int, dict[str, Floats]] = field(default_factory=dict)

    def values_of(self, run: Run) -> dict[str, Floats]:
        if run.pk not in self.known:
            ranked = selectors.ranked_of(run, self.ground.numbers)
            ids = range(self.version.snapshot.block_count)
            values = measure_run(self.measures, self.ground.judged, ranked, ids)
            self.known[run.pk] = {str(measure): values[:, place] for place, measure in enumerate(self.measures)}
        return self.known[run.pk]


def _verdict(gate: Gate, evaluation: Evaluation, evidence: gating.Evidence, table: _Table) -> gating.Verdict:
    rule = gates.rule_of(gate)
    if against := _gap(gate, rule, evaluation):
        return gating.not_known(rule, *against)
    if gate.baseline is not None:
        evidence = evidence._replace(baseline=table.values_of(gate.baseline))
    verdict = gating.decide(rule, evidence)
    if rule.slice is not None and 0 < verdict.n < FEWEST_IN_STRATUM:
        # As on the pages of scores: the mean of so few would tell what single queries score, the sealed ones too.
        few = f"fewer than {FEWEST_IN_STRATUM} queries where {rule.slice} have a figure here"
        return gating.not_known(rule, gating.FEW_QUERIES, f"{few}, and a slice is told from those on.")
    return verdict


def _gap(gate: Gate, rule: gating.Rule, evaluation: Evaluation) -> tuple[str, str] | None:
    """Why this version cannot answer the gate: the baseline ranked other texts, the grades are off the scale."""
    version, baseline = evaluation.version, gate.baseline
    if baseline is not None and baseline.snapshot_id != version.snapshot_id:
        ranked, graded = _named(baseline.snapshot), _named(version.snapshot)
        return gating.OTHER_TEXTS, f"the baseline {baseline.tag} ranked {ranked}, and {version.label} grades {graded}."
    if baseline is not None and (reason := rules.request_refusal(baseline, version, evaluation.split)):
        return gating.NO_BASELINE, reason
    if rule.measure is not None and (reason := grades_refusal([rule.measure], version)):
        return gating.OFF_SCALE, reason
    return None


def _named(snapshot: Snapshot) -> str:
    return f"{snapshot.corpus.slug}@{snapshot.number}"


def _latencies(run: Run, ground: Ground) -> Floats:
    """Milliseconds by query, NaN where none is known."""
    taken = np.full(len(ground.judged.queries), np.nan)
    for query_id, latency in Ranking.objects.filter(run=run).values_list("query_id", "latency_ms"):
        if query_id in ground.numbers and latency is not None:
            taken[ground.numbers[query_id]] = latency
    return taken


def _strata(evaluation: Evaluation, ground: Ground) -> dict[str, list[str]]:
    fields = {row.outside_id: row.fields for row in selectors.version_queries(evaluation.version, evaluation.split)}
    return {name: [str(fields[query].get(name) or "") for query in ground.judged.queries] for name in STRATA}


# Keeping -----------------------------------------------------------------------------------------------------------


def keep(evaluation: Evaluation, decided: Decided, *, at: datetime, tells: bool = True) -> list[GateResult]:
    """Write what gates said of an evaluation, in the transaction of the caller. What was written before stays.

    A gate whose state this changes is told to leads and webhooks, unless `tells` is off: then somebody has just made
    the gate, and what was scored before is held to it.
    """
    kept = []
    for gate, verdict in decided:
        Gate.objects.select_for_update().get(pk=gate.pk)
        former = gates.held([gate])[0].result
        result, is_new = GateResult.objects.get_or_create(
            gate=gate,
            evaluation=evaluation,
            defaults={
                "state": verdict.state,
                "value": verdict.value,
                "ci_low": verdict.interval[0] if verdict.interval else None,
                "ci_high": verdict.interval[1] if verdict.interval else None,
                "n": verdict.n if verdict.value is not None else None,
                "gap": verdict.gap or None,
                "bound": verdict.bound,
                "words": _shortened(verdict.words),
                "decided_at": at,
            },
        )
        if is_new:
            kept.append(result)
            _note_change(gate, former, at, tells=tells)
    return kept


def hold_late(evaluation: Evaluation, *, actor: User | None, at: datetime) -> None:
    """Ask for the gates that were made while the run was being scored: their own jobs have not seen its scores."""
    for gate in gates.undecided_on(evaluation):
        ask_to_hold(gate, tells=True, actor=actor, at=at)


def ask_to_hold(gate: Gate, *, tells: bool, actor: User | None, at: datetime) -> None:
    """Have a job hold to the gate what is scored and was not held to it; `tells` as in `keep`."""
    enqueue(
        kind=KIND,
        params={"gate_id": gate.pk, "tells": tells},
        project=gate.gold_set.project,
        actor=actor,
        at=at,
        title=f"Hold {gate.system.name} to {gate.name}",
    )


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def _note_change(gate: Gate, former: GateResult | None, at: datetime, *, tells: bool) -> None:
    """Record that the gate says something else now. A late result of an older run or version changes nothing."""
    result = gates.held([gate])[0].result
    assert result is not None  # one has just been written
    before = former.state if former else None
    if result.state == before:
        return
    record(
        project=gate.gold_set.project,
        actor=None,
        action=gate_telling.CHANGED,
        obj=gate,
        before={"state": before} if before else None,
        after={"state": result.state, "run": result.evaluation.run.tag, "words": result.words},
        at=at,
    )
    is_news = before is not None or result.state == GateState.FAILED
    if tells and is_news:
        gate_telling.tell(gate, before, result, at)
