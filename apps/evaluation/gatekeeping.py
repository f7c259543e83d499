"""Runs held to the gates of their system: decided from stored rankings, kept once, and told when a state changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.evaluation import gates, gating, rules, selectors
from apps.evaluation.columns import Floats
from apps.evaluation.comparing import FEWEST_IN_STRATUM
from apps.evaluation.enums import STRATA, GateState
from apps.evaluation.measurable import grades_refusal
from apps.evaluation.measures import Measure, measure_run
from apps.evaluation.models import Evaluation, Gate, GateResult
from apps.evaluation.selectors import Ground
from apps.goldsets.models import Version
from apps.jobs.actions import enqueue
from apps.jobs.mailing import absolute
from apps.jobs.notifications import notify
from apps.jobs.webhooks import post_to_webhooks
from apps.retrieval.models import Ranking, Run

CHANGED = "gate.changed"
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
    if reason := _reason_against(gate, rule, evaluation):
        return gating.Verdict(gating.UNKNOWN, None, gating.bound_of(rule), f"Not known: {reason}")
    if gate.baseline is not None:
        evidence = evidence._replace(baseline=table.values_of(gate.baseline))
    verdict = gating.decide(rule, evidence)
    if rule.slice is not None and 0 < verdict.n < FEWEST_IN_STRATUM:
        # As on the pages of scores: the mean of so few would tell what single queries score, the sealed ones too.
        reason = f"{rule.slice} has fewer than {FEWEST_IN_STRATUM} queries here, and a slice is told from those on."
        return gating.Verdict(gating.UNKNOWN, None, verdict.bound, f"Not known: {reason}")
    return verdict


def _reason_against(gate: Gate, rule: gating.Rule, evaluation: Evaluation) -> str | None:
    """Why this version cannot answer the gate: the baseline ranked other texts, the grades are off the scale."""
    if gate.baseline is not None:
        reason = rules.request_refusal(gate.baseline, evaluation.version, evaluation.split)
        if reason is not None:
            return reason
    return grades_refusal([rule.measure], evaluation.version) if rule.measure else None


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
        action=CHANGED,
        obj=gate,
        before={"state": before} if before else None,
        after={"state": result.state, "run": result.evaluation.run.tag, "words": result.words},
        at=at,
    )
    is_news = before is not None or result.state == GateState.FAILED
    if tells and is_news:
        _tell(gate, before, result, at)


# Telling -----------------------------------------------------------------------------------------------------------


def _tell(gate: Gate, before: str | None, result: GateResult, at: datetime) -> None:
    project, evaluation = gate.gold_set.project, result.evaluation
    path = reverse("evaluation:gate", args=[project.slug, gate.pk])
    was = f", it was {GateState(before).label}" if before else ""
    sentence = f"Gate {gate.name} of {gate.system.name}: {result.get_state_display()}{was}. {result.words}"
    for lead in members_of(project, Role.LEAD):
        key = f"gate:{gate.pk}:{result.pk}"
        notify(person=lead, project=project, kind="gate", sentence=sentence, path=path, key=key, at=at)
    facts: dict[str, Any] = {
        "gate": {"id": gate.pk, "name": gate.name, "tier": gate.tier, "rule": gate.rule},
        "gold_set": gate.gold_set.slug,
        "version": evaluation.version.number,
        "split": evaluation.split,
        "system": gate.system.name,
        "run": evaluation.run.tag,
        "from": before,
        "to": result.state,
        "value": result.value,
        "bound": result.bound,
        "words": result.words,
        "url": absolute(path),
    }
    post_to_webhooks(project=project, event=CHANGED, facts=facts, at=at)
