"""Rounds, guidelines and seats, always inside one project."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project, User
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Guideline, Round, RoundAnnotator, Seat
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry


def rounds_in(project: Project) -> QuerySet[Round]:
    """The project's rounds, newest first, without those that were withdrawn."""
    return Round.objects.in_force().filter(project=project).select_related("pool", "guideline").order_by("-number")


def rounds_of(user: User, project: Project) -> QuerySet[Round]:
    """The rounds in which this person is an annotator, newest first."""
    mine = RoundAnnotator.objects.filter(annotator=user)
    return rounds_in(project).filter(kind=RoundKind.JUDGING, pk__in=mine.values("round"))


def round_in(project: Project, pk: int) -> Round:
    """The round, or Http404."""
    rounds = Round.objects.select_related("project", "pool__snapshot", "guideline", "created_by")
    return get_object_or_404(rounds, project=project, pk=pk)


def own_round(user: User, project: Project, pk: int) -> Round:
    """The round if this person is an annotator of it, or Http404."""
    rounds = Round.objects.select_related("project", "guideline")
    return get_object_or_404(rounds, project=project, pk=pk, annotators__annotator=user)


def seat_in(round_: Round, pk: int) -> Seat:
    """The seat, or Http404."""
    return get_object_or_404(Seat, round=round_, pk=pk)


def entry_in(round_: Round, pk: int) -> PoolEntry:
    """The pair, or Http404."""
    entries = PoolEntry.objects.select_related("query", "version__block__document")
    return get_object_or_404(entries, pool=round_.pool_id, pk=pk)


def entries_in(round_: Round, pks: list[int]) -> dict[int, PoolEntry]:
    """These pairs of the round with their query and text, by key."""
    entries = PoolEntry.objects.select_related("query", "version__block__document")
    return {entry.pk: entry for entry in entries.filter(pool=round_.pool_id, pk__in=pks)}


def open_rounds_of(user: User, project: Project) -> QuerySet[Round]:
    """The open rounds in which this person is an annotator, oldest first."""
    return rounds_of(user, project).filter(state=RoundState.OPEN).order_by("number")


def guidelines_in(project: Project) -> QuerySet[Guideline]:
    """The versions of the project's guideline, newest first."""
    return Guideline.objects.filter(project=project).select_related("published_by").order_by("-number")


def guideline_in(project: Project, number: int) -> Guideline:
    """The version of the guideline, or Http404."""
    return get_object_or_404(guidelines_in(project), number=number)


def latest_guideline(project: Project) -> Guideline | None:
    """The version that new rounds use."""
    return guidelines_in(project).first()


def wants_first_round(project: Project) -> bool:
    """Whether pairs wait in a pool and nobody was ever asked to judge any."""
    pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE).exclude(kind=PoolKind.IMPORTED)
    return pools.exists() and not rounds_in(project).exists()


def pool_in(project: Project, pk: int) -> Pool:
    """The pool, or Http404."""
    return get_object_or_404(Pool.objects.select_related("snapshot"), project=project, pk=pk)


def pools_judged_by(user: User) -> QuerySet:
    """Keys of the pools of which this person may still be assigned pairs: their ranks are hidden from them."""
    return RoundAnnotator.objects.filter(annotator=user).exclude(round__state=RoundState.CLOSED).values("round__pool")


def withdrawn_pools(project: Project) -> QuerySet[Pool]:
    """The pools that came with grades whose import was undone."""
    return Pool.objects.filter(project=project, rounds__withdrawn_at__isnull=False)


def person_of_round(round_: Round, pk: int) -> User | None:
    """A person who was asked in a round; None for anybody else."""
    return User.objects.filter(pk=pk, pk__in=round_.annotators.values("annotator")).first()
