"""What rests on the grades of a round, so that they cannot be withdrawn. Apps above add their own."""

from collections.abc import Callable

from django.db.models import Q

from apps.judging.enums import ErrorType, RoundKind, RoundState
from apps.judging.models import Adjudication, KeptPair, KnownAnswer, Round
from apps.retrieval.models import PoolQuery

RestingCheck = Callable[[Round], str | None]
"""What of another app rests on the grades of a round, as a sentence with what to do; None for nothing."""

BESIDE = "beside"
"""In the plan of an imported round, the rounds whose grades stand in it beside those of its file, by key."""
_checks: list[RestingCheck] = []


def add_resting_check(check: RestingCheck) -> RestingCheck:
    """Register what of an app above may rest on a round."""
    if check not in _checks:
        _checks.append(check)
    return check


def rests_on(round_: Round) -> str | None:
    """The first of what rests on the grades of a closed round, as a sentence; None when nothing does."""
    return next((reason for check in [*_checks, _work, _rounds] if (reason := check(round_))), None)


def _work(round_: Round) -> str | None:
    """Decisions that people made on its pairs since. Those that came with the grades have no type of error."""
    decided = Adjudication.objects.filter(round=round_).exclude(error_type=ErrorType.NOT_RECORDED)
    if number := decided.values("entry").distinct().count():
        pairs = "1 of its pairs" if number == 1 else f"{number:,} of its pairs"
        return f"A lead has decided {pairs} since, and decisions are never lost."
    return None


def _rounds(round_: Round) -> str | None:
    """Other rounds that left pairs out, checked people or carried grades over because of this one."""
    if other := Round.objects.filter(pool=round_.pool_id).exclude(pk=round_.pk).order_by("number").first():
        return f"{other.name} is a round on the same pairs."
    imported = Round.objects.in_force().filter(project=round_.project_id, kind=RoundKind.IMPORTED, plan__isnull=False)
    for other in imported.order_by("number"):
        if round_.pk in (other.plan or {}).get(BESIDE, []):
            return f"{other.name} has a second opinion beside its grades. Undo that import first."
    opening = Round.objects.filter(state=RoundState.OPENING, pool__snapshot__corpus=round_.pool.snapshot.corpus_id)
    if other := opening.order_by("number").first():
        return f"{other.name} is being opened, and reads which pairs have a grade. Wait until it is open."
    kept_pairs = KeptPair.objects.filter(kept_from=round_).select_related("round").order_by("round__number")
    if kept := kept_pairs.first():
        return f"{kept.round.name} left pairs out because they have a grade here, and nobody else judges them."
    named = Q(origin=f"decided in {round_.name}") | Q(origin=f"all alike in {round_.name}")
    checks = KnownAnswer.objects.filter(named, round__project=round_.project_id, round__number__gt=round_.number)
    if check := checks.select_related("round").order_by("round__number").first():
        return f"{check.round.name} checks people against its grades."
    queries = PoolQuery.objects.filter(pool=round_.pool_id).values("query")
    carried = Round.objects.filter(
        kind=RoundKind.PROPAGATED,
        number__gt=round_.number,
        pool__snapshot__corpus=round_.pool.snapshot.corpus_id,
        pool__pool_queries__query__in=queries,
    )
    if other := carried.order_by("number").first():
        return f"{other.name} has carried grades over since, for the same queries."
    return None
