"""Decide on drops, record, plan and close a comparison, pool pairs in doubt, and write the ledger of runs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from django.db import transaction

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.execution.listeners import on_cost
from apps.evaluation.execution.results import top_blocks, unjudged_blocks
from apps.evaluation.models import (
    ClosedComparison,
    Comparison,
    Evaluation,
    PlannedComparison,
    RegressionNote,
    RunNote,
)
from apps.evaluation.rules import LONGEST_COMMIT
from apps.evaluation.selectors import evaluations, expected, rankings
from apps.evaluation.selectors.comparisons import EvaluationPair, ground_of
from apps.goldsets.models import GoldSet, Version, VersionQuery
from apps.metrics.statistics.usage import PRICES, UsageError, cost_of_thousand
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.enums import RunState
from apps.retrieval.models import Pool, Run
from apps.triples.selectors.triples import asked_queries

JUDGED_AGAIN = 10
"""The depth of the rankings whose pairs are judged again, or for the first time."""


class DecisionRefused(Refusal):
    """No such decision can be made on this drop."""


@transaction.atomic
def decide_drop(
    *,
    baseline: Evaluation,
    candidate: Evaluation,
    measure: str,
    query_id: str,
    decision: str,
    explanation: str,
    member: Member,
    at: datetime,
) -> RegressionNote:
    """Decide on a query, or a Q&A by its label, whose score fell: accepted, to be fixed, or the grades are wrong.

    Accepting needs a reason, fixing a description. The decision can be replaced until the comparison is closed; any
    other than “Grades wrong” removes the pool from the note.
    """
    _check(baseline, candidate, measure, query_id, decision, explanation, member)
    Version.objects.select_for_update().get(pk=candidate.version_id)
    if evaluations.closed(baseline, candidate, measure):
        raise DecisionRefused(rules.CLOSED, code="comparison_closed")
    place: dict[str, Any] = {
        "baseline": baseline,
        "candidate": candidate,
        "measure": measure,
        "query_id_text": query_id,
    }
    former = RegressionNote.objects.filter(**place).first()
    words = {"decision": decision, "explanation": explanation.strip()}
    rest = {"decided_by": member.user, "decided_at": at}
    if decision != RegressionNote.Decision.GRADES_WRONG:
        rest["pool"] = None
    note, _ = RegressionNote.objects.update_or_create(**place, defaults={**words, **rest})
    before = {"decision": former.decision, "explanation": former.explanation} if former else None
    record(
        project=candidate.project,
        actor=member.user,
        action="evaluation.drop_decided",
        obj=candidate,
        before=before,
        after={"query": query_id, "measure": measure, **words},
        at=at,
    )
    return note


def _check(
    baseline: Evaluation,
    candidate: Evaluation,
    measure: str,
    query_id: str,
    decision: str,
    explanation: str,
    member: Member,
) -> None:
    """Raise DecisionRefused unless the person may make this decision on a query of both evaluations."""
    if reason := rules.comparison_refusal(baseline, candidate):
        raise DecisionRefused(reason, code="comparison_refused")
    split, query = _items(candidate).get(query_id, ("", None))
    if not split or query_id not in candidate.query_ids or measure not in candidate.measures:
        raise DecisionRefused("This comparison has no such query or measure.", code="no_such_drop")
    hidden = rules.ranking_refusal(member.user, query, candidate.version.snapshot) if query is not None else None
    if reason := rules.decision_refusal(member, split) or hidden:
        raise DecisionRefused(reason, code="decision_refused")
    if decision not in RegressionNote.Decision.values:
        raise DecisionRefused("Choose Accept, Fix or Grades wrong.", code="bad_decision")
    if candidate.counts_questions and decision == RegressionNote.Decision.GRADES_WRONG:
        raise DecisionRefused(rules.NO_GRADES_HERE, code="no_grades")
    if reason := rules.explanation_refusal(decision, explanation):
        raise DecisionRefused(reason, code="explanation_missing")


def _items(candidate: Evaluation) -> dict[str, tuple[str, int | None]]:
    """Split and key of the query of each item by its name: the id of a query, or the label of a Q&A."""
    if candidate.counts_questions:
        rows = expected.version_triples(candidate.version, "")
        asked = asked_queries([row.revision_id for row in rows])
        keys = {revision: one.query_id for revision, one in asked.items()}
        return {row.label: (row.split, keys.get(row.revision_id)) for row in rows}
    return {row.outside_id: (row.split, row.query_id) for row in rankings.version_queries(candidate.version, "")}


DEAREST = Decimal("99999999.9999")


class LedgerRefused(Refusal):
    """The ledger entry is not valid."""


class LedgerChanges(TypedDict, total=False):
    """Fields of a ledger entry."""

    tried: str
    commit: str
    configuration: str
    verdict: str
    cost: Decimal | None
    prices: Mapping[str, Decimal] | None
    figures: Mapping[str, float] | None


@transaction.atomic
def write_ledger(
    *,
    run: Run,
    actor: User,
    at: datetime,
    **changes: Unpack[LedgerChanges],
) -> RunNote:
    """Record what was tried with a run, its configuration, the cost of 1,000 queries, and the outcome.

    What is left out stays as it is. With `prices`, by the names of `usage.PRICES`, the cost is worked out of what the
    run used; `cost` is then None or equal to it. `figures` were measured elsewhere, by name, such as clicks. The run
    itself does not change. Earlier entries are in the audit trail. The listeners of `on_cost` are called after a new
    cost.

    Raises LedgerRefused for a run that is not complete, a commit of more than 80 characters, a cost or a price below
    zero, a price of something that the run does not tell, and figures that `rules.figures_refusal` refuses.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    former = RunNote.objects.filter(run=run).first()
    wanted = _kept(former, changes) | changes
    words = {name: str(wanted.get(name, "")).strip() for name in ("tried", "commit", "configuration", "verdict")}
    typed, prices, figures = wanted.get("cost"), wanted.get("prices"), wanted.get("figures")
    cost = _cost_by(run, prices) if prices else typed
    if typed is not None and typed != cost:
        raise LedgerRefused("Give the cost of 1,000 queries or prices, not both.", code="ledger_refused")
    if reason := _refusal(run, words["commit"], cost) or rules.figures_refusal(figures or {}):
        raise LedgerRefused(reason, code="ledger_refused")
    rest = {
        "cost": cost,
        "prices": {name: str(price) for name, price in prices.items()} if prices else None,
        "figures": dict(figures) if figures else None,
        "written_by": actor,
        "written_at": at,
    }
    note, _ = RunNote.objects.update_or_create(run=run, defaults={**words, **rest})
    record(
        project=run.project,
        actor=actor,
        action="run.ledger_written",
        obj=run,
        before=_facts(former) if former else None,
        after=_facts(note),
        at=at,
    )
    if cost is not None and (former is None or former.cost != cost):
        for act in on_cost:
            act(run=run, actor=actor, at=at)
    return note


def _kept(former: RunNote | None, changes: LedgerChanges) -> LedgerChanges:
    """What the entry says already; its cost or its prices only where neither changes, since one of them is the cost."""
    if former is None:
        return {}
    kept = LedgerChanges(
        tried=former.tried,
        commit=former.commit,
        configuration=former.configuration,
        verdict=former.verdict,
        figures=former.figures,
    )
    if not changes.keys() & {"cost", "prices"}:
        kept["cost"] = former.cost
        kept["prices"] = {name: Decimal(price) for name, price in (former.prices or {}).items()}
    return kept


def _cost_by(run: Run, prices: Mapping[str, Decimal]) -> Decimal:
    for name, price in prices.items():
        if name not in PRICES:
            raise LedgerRefused(f"“{name}” has no price. Prices are of {', '.join(PRICES)}.", code="ledger_refused")
        if not 0 <= price <= DEAREST:
            words = f"The price of {PRICES[name]} is zero or more, and below 100 million."
            raise LedgerRefused(words, code="ledger_refused")
    try:
        return cost_of_thousand(prices, run.usage, run.query_count, run.latency.get("mean"))
    except UsageError as error:
        raise LedgerRefused(str(error), code="ledger_refused") from None


def _refusal(run: Run, commit: str, cost: Decimal | None) -> str | None:
    if run.state != RunState.COMPLETE:
        return f"{run.tag} is {run.state}. Only complete runs have a ledger entry."
    if len(commit) > LONGEST_COMMIT:
        return f"A commit has at most {LONGEST_COMMIT} characters; this one has {len(commit):,}."
    if cost is not None and not 0 <= cost <= DEAREST:
        return "The cost of 1,000 queries is zero or more, and below 100 million."
    return None


def _facts(note: RunNote) -> dict[str, Any]:
    return {
        "tried": note.tried,
        "commit": note.commit,
        "configuration": note.configuration,
        "verdict": note.verdict,
        "cost": None if note.cost is None else str(note.cost),
        "prices": note.prices or {},
        "figures": note.figures or {},
    }


def record_comparison(*, pair: EvaluationPair, measure: str, actor: User, at: datetime) -> None:
    """Put on record that the two runs were compared by the measure on their version, once, whoever looks how often.

    The row is its own record. From then on the comparison counts in the family over which all of them are corrected.
    """
    record_comparisons(looks=[(pair, measure)], actor=actor, at=at)


def record_comparisons(*, looks: Iterable[tuple[EvaluationPair, str]], actor: User, at: datetime) -> None:
    """The same for several, each with its measure, in one statement."""
    new = [
        Comparison(
            version=pair.candidate.version,
            **ground_of(pair.candidate),
            measure=measure,
            first_id=pair.runs[0],
            second_id=pair.runs[1],
            n=pair.counted(measure),
            seen_by=actor,
            seen_at=at,
        )
        for pair, measure in looks
        if pair.runs[0] != pair.runs[1] and not pair.family(measure).is_recorded
    ]
    Comparison.objects.bulk_create(new, ignore_conflicts=True)


class PlanRefused(Refusal):
    """No such number of queries can be planned for this comparison."""


@transaction.atomic
def plan_comparison(
    *, baseline: Evaluation, candidate: Evaluation, measure: str, queries: int, member: Member, at: datetime
) -> PlannedComparison:
    """Set the number of queries at which the fixed test of the two systems decides by the measure, on any version.

    It replaces the number set before, which stays in the audit trail. Raises PlanRefused unless the person is a lead,
    where the two were seen at so many queries already, once a plan was reached, on a slice, and for one system.
    """
    if reason := rules.comparison_refusal(baseline, candidate):
        raise PlanRefused(reason, code="comparison_refused")
    gold_set = GoldSet.objects.select_for_update().get(pk=candidate.version.gold_set_id)
    pair = EvaluationPair.of(baseline, candidate)
    if pair.comparison.measure(measure) is None:
        raise PlanRefused("This comparison has no such measure.", code="no_measure")
    family, (first, second) = pair.family(measure), pair.systems
    if reason := rules.planning_refusal(
        member, candidate, queries, family.seen, is_one_system=first == second, is_reached=family.reached
    ):
        raise PlanRefused(reason, code="plan_refused")
    place: dict[str, Any] = {"split": candidate.split, "hit": candidate.hit, "measure": measure}
    place |= {"gold_set": gold_set, "first_id": first, "second_id": second}
    former = PlannedComparison.objects.filter(**place).first()
    given = {"queries": queries, "planned_by": member.user, "planned_at": at}
    plan, _ = PlannedComparison.objects.update_or_create(**place, defaults=given)
    record(
        project=candidate.project,
        actor=member.user,
        action="evaluation.planned",
        obj=candidate,
        before={"queries": former.queries} if former else None,
        after={"baseline": baseline.run.tag, "measure": measure, "queries": queries},
        at=at,
    )
    return plan


class ClosingRefused(Refusal):
    """A comparison cannot be closed."""


class RejudgingRefused(Refusal):
    """No pair of this comparison can be judged again."""


@transaction.atomic
def close_comparison(
    *, baseline: Evaluation, candidate: Evaluation, measure: str, member: Member, at: datetime
) -> ClosedComparison:
    """Record that every regression by this measure is explained, with the verdict at that time.

    Closing is final: decisions about the drops can no longer be changed. Raises ClosingRefused unless the person is a
    lead, for a closed comparison, and while a regression has no explanation.
    """
    if reason := rules.comparison_refusal(baseline, candidate):
        raise ClosingRefused(reason, code="comparison_refused")
    Version.objects.select_for_update().get(pk=candidate.version_id)
    pair = EvaluationPair.of(baseline, candidate)
    compared = pair.comparison.measure(measure)
    if compared is None:
        raise ClosingRefused("This comparison has no such measure.", code="no_measure")
    is_closed = evaluations.closed(baseline, candidate, measure) is not None
    fell = pair.regressions(measure)
    if reason := rules.closing_refusal(member, fell, is_closed=is_closed, hit=candidate.hit):
        raise ClosingRefused(reason, code="closing_refused")
    closed = ClosedComparison.objects.create(
        baseline=baseline,
        candidate=candidate,
        measure=measure,
        verdict=pair.verdict(compared),
        closed_by=member.user,
        closed_at=at,
    )
    after = {"baseline": baseline.run.tag, "measure": measure, "verdict": closed.verdict}
    record(project=candidate.project, actor=member.user, action="evaluation.closed", obj=candidate, after=after, at=at)
    return closed


@transaction.atomic
def judge_again(
    *, baseline: Evaluation, candidate: Evaluation, measure: str, name: str = "", member: Member, at: datetime
) -> Pool:
    """Create a pool of the pairs of drops marked “Grades wrong”, for a new round.

    For each such query, the first ten blocks of either run, judged or not: the grades that made the drop; by text the
    blocks that its first ten passages cover. Queries that already have a pool are left out. Raises RejudgingRefused
    when none is left.
    """
    if reason := rules.comparison_refusal(baseline, candidate) or rules.rejudging_refusal(member):
        raise RejudgingRefused(reason, code="rejudging_refused")
    version = Version.objects.select_for_update().get(pk=candidate.version_id)
    notes = [
        note
        for note in evaluations.notes_on(baseline, candidate, measure).values()
        if note.decision == RegressionNote.Decision.GRADES_WRONG and note.pool_id is None
    ]
    if not notes:
        reason = "No query is marked to be judged again. Mark a drop as “Grades wrong” first."
        raise RejudgingRefused(reason, code="nothing_to_judge")
    wanted = {note.query_id_text for note in notes}
    queries = [query for query in rankings.version_queries(version, "") if query.outside_id in wanted]
    pool = choose_pairs(
        project=candidate.project,
        snapshot=version.snapshot,
        name=name.strip() or f"Judge again, {candidate.run.tag} against {baseline.run.tag}, {at:%Y-%m-%d %H:%M:%S}",
        pairs=_top_pairs(version, queries, (baseline, candidate)),
        origin=f"grades called wrong when {candidate.run.tag} was compared with {baseline.run.tag} by {measure}",
        plan={"how": "again", "baseline": baseline.pk, "candidate": candidate.pk, "measure": measure},
        actor=member.user,
        at=at,
    )
    RegressionNote.objects.filter(pk__in=[note.pk for note in notes]).update(pool=pool)
    return pool


def _top_pairs(
    version: Version, queries: Sequence[VersionQuery], evaluations: Sequence[Evaluation]
) -> list[tuple[int, int]]:
    """The blocks in the first ten of each run for each query, as keys of query and block version."""
    placed = top_blocks(evaluations, queries, JUDGED_AGAIN)
    versions = rankings.versions_at(version, [position for _, position in placed])
    return [(query, versions[position]) for query, position in placed]


@transaction.atomic
def pool_unjudged(
    *, baseline: Evaluation, candidate: Evaluation, query: VersionQuery, name: str = "", member: Member, at: datetime
) -> Pool:
    """Create a pool of the query's unjudged blocks in the first ten of either run.

    Raises RejudgingRefused when every such block has a grade, and for somebody who may not see the rankings yet.
    """
    if reason := rules.comparison_refusal(baseline, candidate) or rules.rejudging_refusal(member):
        raise RejudgingRefused(reason, code="rejudging_refused")
    if reason := rules.ranking_refusal(member.user, query.query_id, candidate.version.snapshot):
        raise RejudgingRefused(reason, code="pairs_open")
    unjudged = unjudged_blocks([baseline, candidate], [query], JUDGED_AGAIN)
    positions = unjudged.get(query.query_id, [])
    if not positions:
        reason = f"Every passage in the top ten of {query.outside_id} has a grade already."
        raise RejudgingRefused(reason, code="nothing_to_judge")
    version = candidate.version
    versions = rankings.versions_at(version, positions)
    return choose_pairs(
        project=candidate.project,
        snapshot=version.snapshot,
        name=name.strip() or f"Unjudged of {query.outside_id}, {at:%Y-%m-%d %H:%M:%S}",
        pairs=[(query.query_id, versions[position]) for position in positions],
        origin=f"not judged, in the first ten of {candidate.run.tag} or {baseline.run.tag} for {query.outside_id}",
        plan={"how": "unjudged", "baseline": baseline.pk, "candidate": candidate.pk, "query": query.outside_id},
        actor=member.user,
        at=at,
    )
