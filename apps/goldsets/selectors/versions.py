"""Reads of gold sets, versions and signing keys."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, Prefetch, Q, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project
from apps.accounts.selectors import Member, policy
from apps.audit.models import Event
from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf, answer_to, joined, once
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import DocumentReach, reach_of
from apps.goldsets.enums import PublicState, Split, VersionState
from apps.goldsets.models import GoldSet, SigningKey, Version, VersionGrade, VersionLoss, VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.exclusions import Loss
from apps.goldsets.selectors.freeze_checks import FEWEST_GRADED
from apps.goldsets.selectors.training import LiveManifest, live_manifests_question
from apps.judging.enums import SeatState
from apps.judging.models import Round, Seat
from apps.judging.selectors.rounds import rounds_in
from apps.metrics.agreement.results import informative
from apps.metrics.estimate import Estimate
from apps.queries.models import Source
from apps.queries.selectors import REVOKED, closest_permission, lost_permissions
from apps.querylogs.models import OfferedQuery
from apps.querylogs.selectors.logs import with_traces
from apps.triples.enums import State
from apps.triples.models import USABLE, Triple


def version_resting_on(round_: Round) -> str | None:
    """The version that has this round, as a reason against withdrawing its grades; None when there is none."""
    version = Version.objects.filter(rounds=round_).select_related("gold_set").order_by("-number", "pk").first()
    if version is None:
        return None
    if version.is_draft:
        return f"The draft {version} has its grades. Take the round out of the draft first."
    return f"{version} has its grades, and a frozen version never changes. The next version can leave the round out."


def version_with(triples: QuerySet[Triple]) -> str | None:
    """The version that has one of these triples, as a reason against taking back their import; None for none."""
    row = VersionTriple.objects.filter(triple__in=triples.values("pk")).select_related("version__gold_set")
    found = row.order_by("-version__number", "pk").first()
    return f"{found.version} has {found.label}, and a frozen version never changes." if found else None


def keys_of(project: Project) -> list[SigningKey]:
    """The key in use and those before it, newest first."""
    return list(SigningKey.objects.filter(project=project).select_related("made_by").order_by("-made_at", "-pk"))


def current_key(project: Project) -> SigningKey | None:
    """The key that signs now."""
    return SigningKey.objects.filter(project=project, ended_at=None).first()


TEST_SEEN = "version.test_seen"
USUAL_TEST = 0.5
FEWEST_TO_HOLD_OUT = 2 * FEWEST_GRADED
"""With fewer questions one of the sides has too few to tell systems apart, so all are dev."""


def gold_sets_of(project: Project) -> QuerySet[GoldSet]:
    """The project's gold sets by name, each with its versions, newest first."""
    versions = Version.objects.select_related("snapshot", "released_by", "frozen_by").order_by("-number")
    return (
        GoldSet.objects.filter(project=project)
        .order_by("name", "pk")
        .prefetch_related(Prefetch("versions", queryset=versions))
    )


def item_count(project: Project) -> int:
    """How many queries and Q&As a version could have: queries with a judged pair, and accepted Q&As."""
    done = Seat.objects.filter(round__project=project, state=SeatState.DONE, query__retired_at=None)
    judged = done.values("query").distinct()
    return judged.count() + Triple.objects.filter(USABLE, project=project).count()


def usual_test_share(project: Project) -> float:
    """The share of test that a new draft begins with, by the number of questions that it could have."""
    return USUAL_TEST if item_count(project) >= FEWEST_TO_HOLD_OUT else 0.0


def gold_set_in(project: Project, slug: str) -> GoldSet:
    return get_object_or_404(GoldSet.objects.select_related("project"), project=project, slug=slug)


def versions_in(project: Project) -> QuerySet[Version]:
    return Version.objects.filter(gold_set__project=project).select_related(
        "gold_set__project", "snapshot__corpus", "guideline", "created_by", "frozen_by", "released_by"
    )


def version_in(project: Project, gold_set: str, number: int) -> Version:
    return get_object_or_404(versions_in(project), gold_set__slug=gold_set, number=number)


def frozen_in(project: Project, pk: int) -> Version:
    """A version to score against: frozen, released or superseded. Raises Http404."""
    return get_object_or_404(versions_in(project).exclude(state=VersionState.DRAFT), pk=pk)


def seen_by(member: Member, version: Version) -> Version:
    """The version, or Http404 where it is not released and the person is no lead: a draft tells who disagrees."""
    if version.released_at is None and not member.is_lead:
        raise Http404("No such version.")
    return version


class Looks(NamedTuple):
    """How often sealed items or scores of a version's test split were looked at, and when last."""

    number: int
    last_at: datetime | None


def triples_on_their_way(version: Version) -> dict[str, int]:
    """Number of the project's triples that are disputed or in review, except those in the version."""
    return answer_to(version, on_their_way_question(version))


def on_their_way_question(version: Version) -> BatchedRead[dict[str, int]]:
    """The same for pages that ask for more in one statement."""
    included = VersionTriple.objects.filter(version=version).values("triple")
    others = (
        Triple.objects.filter(project=version.gold_set.project).exclude(pk__in=included).exclude(USABLE).values("pk")
    )
    asks = {str(state): CountOf(others.filter(state=state)) for state in (State.DISPUTED, State.IN_REVIEW)}
    return BatchedRead(asks, lambda found: {word: count for word, count in found.items() if count})


def looks_at_test(version: Version) -> Looks:
    seen = Event.objects.filter(
        action=TEST_SEEN, object_type=version._meta.label_lower, object_id=str(version.pk)
    ).aggregate(number=Count("pk"), last_at=Max("at"))
    return Looks(**seen)


def names_in_test(version: Version) -> set[str]:
    """The queries and triples that this version or an earlier one of its gold set has in test, by outside id."""
    sealed = {"version__gold_set": version.gold_set_id, "version__number__lte": version.number, "split": Split.TEST}
    queries = VersionQuery.objects.filter(**sealed).values_list("outside_id", flat=True)
    return {*queries, *VersionTriple.objects.filter(**sealed).values_list("label", flat=True)}


def scorable_versions(project: Project) -> QuerySet[Version]:
    """Versions to score against, the newest of each gold set first."""
    versions = versions_in(project).exclude(state=VersionState.DRAFT)
    return versions.order_by("gold_set__name", "gold_set_id", "-number")


def latest_version(project: Project) -> Version | None:
    """The version released last, whatever its gold set."""
    return newest_versions(project).released


class NewestVersions(NamedTuple):
    """The version released last, the draft created last, and the last one that is not released yet: it or a frozen one.

    Whatever their gold sets.
    """

    released: Version | None
    draft: Version | None
    unreleased: Version | None


def due_on(released: date, months: int) -> date:
    """So many months after the release, at the latest on the last day of that month."""
    year, month = _months_on(released, months)
    return date(year, month, min(released.day, monthrange(year, month)[1]))


def latest_due(today: date, months: int) -> date:
    """The latest day of a release that is due today, by `due_on`."""
    year, month = _months_on(today, -months)
    last, is_last = monthrange(year, month)[1], today.day == monthrange(today.year, today.month)[1]
    return date(year, month, last if is_last else min(today.day, last))


def _months_on(day: date, months: int) -> tuple[int, int]:
    years, month = divmod(day.month - 1 + months, 12)
    return day.year + years, month + 1


def versions_due(project: Project, at: datetime) -> QuerySet[Version]:
    """The versions in force that are due for a refresh by the settings of the project, longest first."""
    months = int(policy(project, "refresh_months"))
    if not months:
        return Version.objects.none()
    after = datetime.combine(latest_due(at.astimezone(UTC).date(), months), time.max, tzinfo=UTC)
    released = Version.objects.filter(gold_set__project=project, state=VersionState.RELEASED, released_at__lte=after)
    return released.select_related("gold_set").order_by("released_at", "pk")


def due_dates(project: Project, versions: Iterable[Version]) -> dict[int, date]:
    """When those of the versions that are in force are due for a refresh, by key; none where the settings say never."""
    months = int(policy(project, "refresh_months"))
    in_force = [one for one in versions if one.state == VersionState.RELEASED and months]
    return {one.pk: due_on(one.released_at.astimezone(UTC).date(), months) for one in in_force if one.released_at}


def newest_versions(project: Project) -> NewestVersions:
    """In one statement."""
    return once(("newest versions", project.pk), lambda: _newest_versions(project))


def _newest_versions(project: Project) -> NewestVersions:
    ours = Version.objects.filter(gold_set__project=project)
    released = ours.filter(state=VersionState.RELEASED).order_by("-released_at", "-pk")
    begun = ours.order_by("-created_at", "-pk")
    draft, frozen = begun.filter(state=VersionState.DRAFT), begun.filter(state=VersionState.FROZEN)
    wanted = Q()
    for rows in (released, draft, frozen):
        wanted |= Q(pk=Subquery(rows.values("pk")[:1]))
    found = {version.state: version for version in versions_in(project).filter(wanted)}
    open_ones = [found[state] for state in (VersionState.DRAFT, VersionState.FROZEN) if state in found]
    return NewestVersions(
        found.get(VersionState.RELEASED),
        found.get(VersionState.DRAFT),
        max(open_ones, key=lambda version: (version.created_at, version.pk), default=None),
    )


def rounds_on(project: Project, snapshot: Snapshot | None = None) -> QuerySet[Round]:
    """Rounds that a version may use: those judged on the snapshot's corpus."""
    rounds = rounds_in(project).select_related("pool__snapshot__corpus")
    return rounds.filter(pool__snapshot__corpus=snapshot.corpus_id) if snapshot else rounds


def queries_of(version: Version, split: str) -> QuerySet[VersionQuery]:
    """The queries of one split with the numbers of their grades and of relevant ones."""
    return (
        VersionQuery.objects.filter(version=version, split=split)
        .annotate(grade_count=Count("grades"), relevant_count=Count("grades", filter=Q(grades__grade__gt=0)))
        .order_by("outside_id")
    )


def triples_of(version: Version, split: str) -> QuerySet[VersionTriple]:
    return VersionTriple.objects.filter(version=version, split=split).order_by("label")


def revoked_sources(version: Version, *, at: datetime) -> list[int]:
    """Sources of the version with a revoked permission, by key. Every export leaves out their items."""
    return list(sources_revoked(version, at=at).values_list("pk", flat=True))


def revoked_question(version: Version, *, at: datetime) -> BatchedRead[list[int]]:
    """The same for pages that ask for more in one statement."""
    rows = ListOf(sources_revoked(version, at=at).values_list("pk"))
    return BatchedRead({"revoked": rows}, lambda found: [pk for (pk,) in found["revoked"]])


def sources_revoked(version: Version, *, at: datetime) -> QuerySet[Source]:
    queries = VersionQuery.objects.filter(version=version).values("query__source")
    triples = VersionTriple.objects.filter(version=version)
    used = (
        Q(pk__in=queries)
        | Q(pk__in=triples.values("triple__source"))
        | Q(pk__in=triples.values("triple__query__source"))
    )
    return Source.objects.filter(used).annotate(permitted=closest_permission(at)).filter(permitted=REVOKED)


def resting_on_revoked(project: Project, *, at: datetime) -> set[int]:
    """The frozen versions of the project with items of a source whose permission was revoked."""
    revoked = [pk for pk, reason in lost_permissions(project, at=at).items() if "revoked" in reason]
    if not revoked:
        return set()
    of_project = {"version__gold_set__project": project}
    queries = VersionQuery.objects.filter(**of_project, query__source__in=revoked)
    triples = VersionTriple.objects.filter(**of_project)
    triples = triples.filter(Q(triple__source__in=revoked) | Q(triple__query__source__in=revoked))
    return {pk for rows in (queries, triples) for pk in rows.order_by().values_list("version", flat=True).distinct()}


def losses_of(version: Version) -> Sequence[Loss] | QuerySet[VersionLoss]:
    """What the version left out when it was frozen, or would leave out now, by name."""
    if version.is_draft:
        return gather(version).losses
    return version.losses.order_by("pk")


AGREEMENT = {"grades": "Grades", "verdicts": "Reviewers"}
"""What each coefficient of a manifest is about."""


class NamedEstimate(NamedTuple):
    """A coefficient; its name begins with what it is about."""

    name: str
    estimate: Estimate


def agreement_of(version: Version) -> list[NamedEstimate]:
    """The agreement at the time of the freeze, as people read it: without uninformative intervals."""
    facts = version.manifest.get("agreement", {})
    return [
        NamedEstimate(f"{about}: {facts[key]['name']}", informative(Estimate.read(facts[key])))
        for key, about in AGREEMENT.items()
        if key in facts
    ]


@dataclass(frozen=True)
class VersionNow:
    """`former` is the version frozen before it and `released` the one that is out, both by label, "" for none.

    `revoked` are its sources whose permission was revoked, `waiting` the triples on their way by state, `manifests`
    the training manifests in use.
    """

    former: str
    released: str
    is_public: bool
    has_slices: bool
    has_traces: bool
    revoked: list[int]
    waiting: dict[str, int]
    manifests: list[LiveManifest]


def version_now(version: Version, *, at: datetime) -> VersionNow:
    asked: dict[str, BatchedRead[Any]] = {
        "own": _own(version),
        "revoked": revoked_question(version, at=at),
        "waiting": on_their_way_question(version),
        "manifests": live_manifests_question(version.gold_set.project),
    }
    found = answer_to(version, joined(asked))
    return VersionNow(**found.pop("own"), **found)


def _own(version: Version) -> BatchedRead[dict[str, Any]]:
    siblings = Version.objects.filter(gold_set=version.gold_set_id)
    former = siblings.filter(number__lt=version.number).exclude(state=VersionState.DRAFT).order_by("-number")
    released = siblings.filter(state=VersionState.RELEASED)
    asks = {
        "former": Subquery(former.values("number")[:1]),
        "released": Subquery(released.values("number")[:1]),
        "is_public": Exists(version.public_releases.filter(state=PublicState.RELEASED)),
        "has_slices": Exists(version.slices.all()),
        "has_traces": Exists(traced_in(version)),
    }

    def read(found: Mapping[str, Any]) -> dict[str, Any]:
        labels = {name: f"v{found[name]}" if found[name] else "" for name in ("former", "released")}
        return {**found, **labels}

    return BatchedRead(asks, read)


def traced_in(version: Version) -> QuerySet[OfferedQuery]:
    """The queries of a version whose grades may go back to their traces."""
    return with_traces().filter(query__in=version.queries.values("query"))


def documents_held(version: Version) -> DocumentReach:
    """The documents of the snapshot with a passage graded 1 or more, or expected by a Q&A; of a frozen version."""
    graded = VersionGrade.objects.filter(version=version, grade__gte=1).order_by()
    asked = VersionTriple.objects.filter(version=version).order_by()
    of_grades = graded.values_list("block_version__block__document", flat=True).distinct()
    of_triples = asked.values_list("revision__expected_blocks__version__block__document", flat=True).distinct()
    return reach_of(version.snapshot, {*of_grades, *of_triples})
