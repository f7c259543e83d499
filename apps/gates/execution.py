"""Check runs against the gates of their system, save each result once, and report changed states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.drawing.svg import clip
from apps.evaluation import rules
from apps.evaluation.core.question_kinds import FIELDS, kinds_of
from apps.evaluation.execution.listeners import Save, Scored, ScoredByHits
from apps.evaluation.execution.results import RunResults
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_score_tables import source_of
from apps.evaluation.presenters.score_tables import fields_of, stratum_of
from apps.evaluation.rules import grades_refusal
from apps.evaluation.selectors import rankings
from apps.evaluation.selectors.evaluations import names_of
from apps.evaluation.selectors.expected import HitTable, flags_of
from apps.evaluation.selectors.rankings import ScoringGround
from apps.gates import selectors as gates
from apps.gates.core import decisions
from apps.gates.core.rule import GateRule, measures_of, sample
from apps.gates.enums import GateState, Tier
from apps.gates.models import Gate, GateResult
from apps.gates.selectors import Next, next_step
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors import slices
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.notifications import SENTENCE_LENGTH, notify
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.context import JobContext
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import Floats, Result
from apps.metrics.expected.rules import counts_questions, items_of
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import measure_run
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, Kind, open_strata
from apps.queries.core.strata import STRATA, label_of
from apps.retrieval.models import Ranking, Run

CHANGED = "gate.changed"

NAMES_OF = (SENTENCE_LENGTH, 40, 20)


def notify_of_change(gate: Gate, before: str | None, result: GateResult, at: datetime) -> None:
    """Notify leads and webhooks that the state of a gate is no longer `before`."""
    project = gate.gold_set.project
    path = reverse("gates:gate", args=[project.slug, gate.pk])
    step = next_step(gate, result)
    sentence = sentence_of(gate, before, result, step)
    for lead in members_of(project, Role.LEAD):
        key = f"gate:{gate.pk}:{result.pk}"
        notify(person=lead, project=project, kind="gate", sentence=sentence, path=path, key=key, at=at)
    facts = {**facts_of(gate, before, result, step), "url": absolute(path)}
    post_to_webhooks(project=project, event=WebhookEvent.GATE, facts=facts, at=at)


def sentence_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> str:
    """What happened, on which run, with which figure, and what to do next.

    At most SENTENCE_LENGTH characters: with long names the next step is left out first (the page shows it too); then
    names are shortened.
    """
    sentences = [_sentence(gate, before, result, longest) for longest in NAMES_OF]
    full = f"{sentences[0]} {step.words}" if step else sentences[0]
    return next((one for one in (full, *sentences) if len(one) <= SENTENCE_LENGTH), sentences[-1])


def _sentence(gate: Gate, before: str | None, result: GateResult, longest: int) -> str:
    name, system, tag, gold_set = (
        clip(words, longest) for words in (gate.name, gate.system.name, result.evaluation.run.tag, gate.gold_set.name)
    )
    was = f", it was {GateState(before).label}" if before else ""
    run = tag if tag == system else f"{tag} of {system}"
    where = f"{gold_set} {result.evaluation.version.label}, {rules.SPLIT_WORDS[gate.split]}"
    return f"Gate {name}: {result.get_state_display()}{was}. Run {run} on {where}: {result.words}"


def facts_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> dict[str, Any]:
    """The same as plain JSON values."""
    evaluation = result.evaluation
    return {
        "gate": {"id": gate.pk, "name": gate.name, "tier": gate.tier, "rule": gate.rule},
        "asks": gates.requirement_of(gate),
        "gold_set": gate.gold_set.slug,
        "version": evaluation.version.number,
        "split": evaluation.split,
        "system": gate.system.name,
        "run": evaluation.run.tag,
        "evaluation": evaluation.pk,
        "baseline": gate.baseline.tag if gate.baseline else None,
        "from": before,
        "to": result.state,
        **result.estimate.as_json,
        "bound": result.bound,
        "gap": result.gap,
        "words": result.words,
        "next": step.words if step else "",
    }


KIND = "gates.decide"
LONGEST_WORDS = 400

Decided = list[tuple[Gate, decisions.GateVerdict]]


def decide_when_scored(scored: Scored | ScoredByHits) -> Save:
    """Decide the gates of a run that was just scored, from the same values; returns the function that saves the
    results.
    """
    evaluation = scored.evaluation
    undecided = gates.undecided_on(evaluation)
    if isinstance(scored, ScoredByHits):
        decided = decide_by_hits(evaluation, undecided, scored.table)
    else:
        decided = decide_on(evaluation, undecided, scored)

    def save(*, actor: User | None, at: datetime) -> None:
        save_results(evaluation, decided if evaluation.sealed_by is None else _sealed(evaluation, undecided), at=at)
        enqueue_late_gates(evaluation, actor=actor, at=at)

    return save


def _sealed(evaluation: Evaluation, undecided: Sequence[Gate]) -> Decided:
    """The verdicts on a run whose figures on test are not published, nor may a gate tell on which side they are."""
    reason = (
        f"the score on {rules.SPLIT_WORDS[evaluation.split]} does not beat the best published one by "
        f"{evaluation.sealed_by:g}, so it stays sealed."
    )
    return [(gate, decisions.not_known(gates.rule_of(gate), decisions.SEALED, reason)) for gate in undecided]


def decide_on(evaluation: Evaluation, undecided: Sequence[Gate], scored: Scored | None = None) -> Decided:
    """The verdicts of these gates on a run on one split of a version. Writes nothing.

    Reads the rankings of the run, unless `scored` already has its values.
    """
    if not undecided:
        return []
    if evaluation.counts_questions:
        assert evaluation.rule is not None
        hit_table = HitTable(evaluation.version, evaluation.split, evaluation.rule, names_of(evaluation))
        return decide_by_hits(evaluation, undecided, hit_table)
    ground = scored.ground if scored else rankings.judged_of(evaluation.version, evaluation.split, names_of(evaluation))
    measures = measures_of(gates.rule_of(gate) for gate in undecided)
    on_scale = [measure for measure in measures if grades_refusal([measure], evaluation.version) is None]
    results = RunResults(evaluation.version, ground.numbers, evaluation.rule)
    table = _Table(evaluation.version, ground, on_scale, results)
    if scored:
        table.take(scored)
    by_id = {row.outside_id: row for row in rankings.version_queries(evaluation.version, evaluation.split)}
    queries = [by_id[name] for name in ground.judged.queries]
    strata = {name: [label_of(row.fields, name) for row in queries] for name in STRATA}
    shown = list(fields_of(queries))
    evidence = decisions.RunEvidence(
        query_ids=ground.judged.queries,
        values=table.values_of(evaluation.run),
        latencies=_latencies(evaluation.run, ground),
        cost=gates.cost_of(evaluation),
        strata=strata,
        slices=_slices(evaluation, undecided),
        seed=evaluation.seed,
        originals=ground.judged.originals,
    )
    kinds = [[(name, value) for name in shown if (value := stratum_of(row, name))] for row in queries]
    told = _Told(kinds, [row.split == Split.TEST for row in queries], shown, evidence)
    return [(gate, _verdict(gate, evaluation, evidence, table.values_of, told)) for gate in undecided]


def decide_by_hits(evaluation: Evaluation, undecided: Sequence[Gate], table: HitTable) -> Decided:
    """The verdicts of gates with the evaluation's hit rule. Writes nothing."""
    if not undecided:
        return []
    measures = measures_of(gates.rule_of(gate) for gate in undecided)

    def values_of(run: Run) -> dict[str, Floats]:
        values = table.values_of(run, measures)
        return {str(measure): values[:, place] for place, measure in enumerate(measures)}

    evidence = decisions.RunEvidence(
        query_ids=table.labels,
        values=values_of(evaluation.run),
        strata={name: [label_of(row.content, name) for row in table.triples] for name in STRATA},
        slices=_slices(evaluation, undecided, by_triples=True),
        seed=evaluation.seed,
    )
    flags = flags_of(evaluation.version, table.triples)
    kinds = [kinds_of(row.content, source_of(row), flags.get(row.triple_id, ())) for row in table.triples]
    told = _Told(kinds, [row.split == Split.TEST for row in table.triples], list(FIELDS), evidence)
    return [(gate, _verdict(gate, evaluation, evidence, values_of, told)) for gate in undecided]


@dataclass
class _Table:
    """The values of runs by measure, each measure of a run computed once."""

    version: Version
    ground: ScoringGround
    measures: Sequence[Measure]
    results: RunResults
    known: dict[int, dict[str, Floats]] = field(default_factory=dict)

    def take(self, scored: Scored) -> None:
        """Reuse the values that the run was scored with; compute only the gates' other measures."""
        missing = [measure for measure in self.measures if str(measure) not in scored.values]
        self.known[scored.evaluation.run_id] = scored.values | self._measured(missing, scored.ranked)

    def values_of(self, run: Run) -> dict[str, Floats]:
        if run.pk not in self.known:
            self.known[run.pk] = self._measured(self.measures, self.results.of(run))
        return self.known[run.pk]

    def _measured(self, measures: Sequence[Measure], ranked: Result) -> dict[str, Floats]:
        if not measures:
            return {}
        values = measure_run(measures, self.ground.judged, ranked, range(self.version.snapshot.block_count))
        return {str(measure): values[:, place] for place, measure in enumerate(measures)}


def _verdict(
    gate: Gate,
    evaluation: Evaluation,
    evidence: decisions.RunEvidence,
    values_of: Callable[[Run], dict[str, Floats]],
    told: "_Told",
) -> decisions.GateVerdict:
    rule = gates.rule_of(gate)
    if against := _gap(gate, rule, evaluation):
        return decisions.not_known(rule, *against)
    if gate.baseline is not None:
        evidence = evidence._replace(baseline=values_of(gate.baseline))
    verdict = decisions.decide(rule, evidence)
    if rule.slice is not None and not rule.slice.is_named and 0 < verdict.n < FEWEST_IN_STRATUM:
        few = f"fewer than {FEWEST_IN_STRATUM} {items_of(rule.hit).many} where {rule.slice} have a figure here"
        return decisions.not_known(rule, decisions.FEW_QUERIES, f"{few}; a slice needs at least that many.")
    if verdict.n and rule.measure and (reason := told.refusal(rule)):
        return decisions.not_known(rule, decisions.FEW_QUERIES, reason)
    return verdict


@dataclass
class _Told:
    """What may be told of an evaluation, as on its pages: no mean, alone or subtracted, tells of few items of test.

    `kinds` are those by which pages break its scores down, in the order of `fields`; strata of rules come after them.
    """

    kinds: Sequence[Sequence[Kind]]
    is_test: Sequence[bool]
    fields: Sequence[str]
    evidence: decisions.RunEvidence

    @cached_property
    def _rows(self) -> list[list[Kind]]:
        others = [(name, labels) for name, labels in self.evidence.strata.items() if name not in self.fields]
        return [
            [*own, *((name, labels[at]) for name, labels in others if labels[at])] for at, own in enumerate(self.kinds)
        ]

    @cached_property
    def _open(self) -> set[Kind]:
        return set(open_strata(self._rows, self.is_test, fields=self.fields))

    @cached_property
    def _drawn(self) -> list[int]:
        return sample(self.evidence.query_ids, seed=self.evidence.seed)

    @cached_property
    def _open_in_sample(self) -> set[Kind]:
        rows, is_test = [self._rows[at] for at in self._drawn], [self.is_test[at] for at in self._drawn]
        return set(open_strata(rows, is_test, fields=self.fields))

    def refusal(self, rule: GateRule) -> str:
        """Why the figure of a rule would tell of fewer items than may be known; "" where it does not."""
        if rule.slice is not None and rule.slice.is_named:  # of dev alone
            return ""
        own = (rule.slice.field, rule.slice.value) if rule.slice else None
        is_open = own is None or own in self._open
        if is_open and rule.tier == Tier.SMOKE:
            is_open = (own is None or own in self._open_in_sample) and not self._leaves_few(own)
        if is_open:
            return ""
        many = items_of(rule.hit).many
        what = decisions.where(rule).strip() or "in the smoke tier"
        return (
            f"the figure of the {many} {what} would tell, alone or beside others, of fewer than {FEWEST_IN_STRATUM} "
            f"{many} of dev or of test."
        )

    def _leaves_few(self, own: Kind | None) -> bool:
        """Whether few items of test are in the sample, or few are not, of those of a stratum or of all."""
        test = {at for at, is_test in enumerate(self.is_test) if is_test and (own is None or own in self._rows[at])}
        drawn = len(test.intersection(self._drawn))
        return any(0 < part < FEWEST_IN_STRATUM for part in (drawn, len(test) - drawn))


def _gap(gate: Gate, rule: GateRule, evaluation: Evaluation) -> tuple[str, str] | None:
    """Why this version cannot decide the gate: the baseline ranked another snapshot, or the grades are off the scale.

    The code of `GAPS` and a sentence.
    """
    version, baseline = evaluation.version, gate.baseline
    if baseline is not None and baseline.snapshot_id != version.snapshot_id:
        ranked, graded = baseline.snapshot.reference, version.snapshot.reference
        return (
            decisions.OTHER_TEXTS,
            f"the baseline {baseline.tag} ranked {ranked}, and {version.label} grades {graded}.",
        )
    if baseline is not None and (reason := rules.request_refusal(baseline, version, evaluation.split, rule.hit)):
        return decisions.NO_BASELINE, reason
    if (
        baseline is not None
        and baseline.pk != evaluation.run_id
        and (reason := rules.unpublished_refusal(baseline, version, evaluation.split, rule.hit))
    ):
        return decisions.SEALED, reason
    if (
        not counts_questions(rule.hit)
        and rule.measure is not None
        and (reason := grades_refusal([rule.measure], version))
    ):
        return decisions.OFF_SCALE, reason
    return None


def _latencies(run: Run, ground: ScoringGround) -> Floats:
    """Milliseconds by query, NaN where none is known."""
    taken = np.full(len(ground.judged.queries), np.nan)
    for query_id, latency in Ranking.objects.filter(run=run).values_list("query_id", "latency_ms"):
        if query_id in ground.numbers and latency is not None:
            taken[ground.numbers[query_id]] = latency
    return taken


def _slices(evaluation: Evaluation, undecided: Sequence[Gate], *, by_triples: bool = False) -> dict[str, set[str]]:
    """The queries, or triples, of the slices that these gates name, as they are now; of rotating ones the newest.

    Of the slice that the evaluation is on they are those that were scored.
    """
    if (own := names_of(evaluation)) is not None and evaluation.slice is not None:
        return {evaluation.slice.kind: own}
    version = evaluation.version
    named = {rule.slice.value for rule in map(gates.rule_of, undecided) if rule.slice and rule.slice.is_named}
    parts = slices.newest_slices(version) if named else []
    return {part.kind: slices.items_in(part, by_triples=by_triples) for part in parts if part.kind in named}


def save_results(evaluation: Evaluation, decided: Decided, *, at: datetime, notify: bool = True) -> list[GateResult]:
    """Save what was decided on an evaluation, in the caller's transaction. Earlier results are kept.

    Leads and webhooks are notified of each gate whose state this changes, unless `notify` is off: the gate was just
    created, and the scores are older than it.
    """
    saved = []
    for gate, verdict in decided:
        Gate.objects.select_for_update().get(pk=gate.pk)
        former = gates.statuses([gate])[0].result
        result, is_new = GateResult.objects.get_or_create(
            gate=gate,
            evaluation=evaluation,
            defaults={
                "state": verdict.state,
                "value": verdict.value,
                "ci_low": verdict.interval[0] if verdict.interval else None,
                "ci_high": verdict.interval[1] if verdict.interval else None,
                "method": verdict.method,
                "n": verdict.n if verdict.value is not None else None,
                "gap": verdict.gap or None,
                "bound": verdict.bound,
                "words": _shortened(verdict.words),
                "decided_at": at,
            },
        )
        if is_new:
            saved.append(result)
            _note_change(gate, former, at, notify=notify)
    return saved


def enqueue_late_gates(evaluation: Evaluation, *, actor: User | None, at: datetime) -> None:
    """Queue the gates that were created while the run was being scored: their own jobs did not see its scores."""
    for gate in gates.undecided_on(evaluation):
        enqueue_check(gate, notify=True, actor=actor, at=at)


def enqueue_check(gate: Gate, *, notify: bool, actor: User | None, at: datetime) -> None:
    """Queue a job that checks the gate's unchecked scores; `notify` as in `save_results`."""
    enqueue(
        kind=KIND,
        params={"gate_id": gate.pk, "tells": notify},
        project=gate.gold_set.project,
        actor=actor,
        at=at,
        title=f"Check {gate.system.name} against {gate.name}",
    )


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def _note_change(gate: Gate, former: GateResult | None, at: datetime, *, notify: bool) -> None:
    """Record a changed state of the gate. A late result of an older run or version changes nothing."""
    result = gates.statuses([gate])[0].result
    assert result is not None  # just written
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
    if notify and is_news:
        notify_of_change(gate, before, result, at)


@job_kind(KIND, title="Check scores against a gate", page=("gates:gate", "gate_id"))
def check_earlier_scores(ctx: JobContext) -> dict[str, Any]:
    """Decide the gate `gate_id` on every scored run of its system, oldest version and run first."""
    gate = Gate.objects.get(pk=ctx.params["gate_id"])
    keys = list(gates.scored_for(gate).values_list("pk", flat=True)) if gate.retired_at is None else []
    for done, key in enumerate(keys):
        ctx.progress(done, len(keys), gate.name)
        evaluation = Evaluation.everything.select_related("run__ledger", "version__snapshot", "slice").get(pk=key)
        mine = [one for one in gates.undecided_on(evaluation) if one.pk == gate.pk]
        decided = decide_on(evaluation, mine)
        with ctx.chunk(f"evaluation:{key}") as fresh:
            if fresh:
                save_results(evaluation, decided, at=ctx.at, notify=ctx.params["tells"])
    with ctx.finish() as result:
        result.update(gate_id=gate.pk, evaluations=len(keys))
    return ctx.result
