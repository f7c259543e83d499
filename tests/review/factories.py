"""Reviewed triples for tests, walked to their state by the real actions."""

from uuid import uuid4

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.review.actions.disputes import Claim, adjudicate, drop_triple, split_triple, withdraw_flag
from apps.review.actions.submitting import give_verdict, submit_triple
from apps.review.enums import Category, Decision, Reason, VerdictChoice
from apps.review.models import Verdict
from apps.triples.actions.triples import copy_wording, refresh_staleness, retire_triple, start_draft, withdraw_draft
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_wording

CHANGED = TEXTS | {"access": "A session lasts at most eight hours. It may be extended once."}


def reload(triple: Triple) -> Triple:
    return Triple.objects.select_related("project", "author", "current").get(pk=triple.pk)


def reviewers_of(triple: Triple) -> list[User]:
    return [seat.reviewer for seat in reload(triple).current.seats.filter(released_at=None).order_by("number")]


def make_in_review(project: Project, **draft) -> Triple:
    triple = make_draft(project, **draft)
    return submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)


def answer(triple: Triple, reviewer: User, choice: str = VerdictChoice.CONFIRM, **more) -> Verdict:
    """The reviewer's verdict on the current revision; a flag is "overstated, numeric" unless told otherwise."""
    if choice == VerdictChoice.FLAG:
        more = {"reasons": [Reason.OVERSTATED], "category": Category.NUMERIC, "note": "Too much."} | more
    return give_verdict(
        project=triple.project,
        triple_id=triple.pk,
        revision_id=reload(triple).current_id,
        reviewer=reviewer,
        choice=choice,
        idempotency_key=uuid4().hex,  # a copied world has the keys of another process
        at=AT,
        **({"reasons": []} | more),
    )


def answer_both(triple: Triple, first: str, second: str, **more) -> Triple:
    one, two = reviewers_of(triple)
    answer(triple, one, first, **(more if first == VerdictChoice.FLAG else {}))
    answer(triple, two, second, **(more if second == VerdictChoice.FLAG else {}))
    return reload(triple)


def make_accepted(project: Project, **draft) -> Triple:
    return answer_both(make_in_review(project, **draft), VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)


def make_accepted_from(query: Query, snapshot: Snapshot, **wording) -> Triple:
    """Accepted, and started from the query."""
    project = query.project
    triple = start_draft(
        project=project,
        author=make_member(project, Role.ANNOTATOR, name="Author"),
        snapshot=snapshot,
        wording=make_wording(snapshot, **wording),
        query=query,
        at=AT,
    )
    submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)
    return answer_both(reload(triple), VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)


def make_disputed(project: Project, *, flag: dict | None = None, **draft) -> Triple:
    """Confirmed from the first seat, flagged from the second."""
    return answer_both(make_in_review(project, **draft), VerdictChoice.CONFIRM, VerdictChoice.FLAG, **(flag or {}))


def make_claims(triple: Triple) -> list[Claim]:
    """Two atomic claims that keep the blocks and the evidence of the triple."""
    blocks = copy_wording(triple, reload(triple).current).blocks
    return [
        Claim("How long may access last?", "Eight hours.", blocks),
        Claim("Who ends it?", "It closes by itself.", blocks),
    ]


def make_triple(project: Project, state: State, *, stale: bool = False, **draft) -> Triple:
    """A triple in `state`; `stale` goes with accepted."""
    if state == State.DRAFT:
        return make_draft(project, **draft)
    if state == State.WITHDRAWN:
        triple = make_draft(project, **draft)
        return withdraw_draft(project=project, triple_id=triple.pk, author=triple.author, at=AT)
    if state == State.IN_REVIEW:
        return make_in_review(project, **draft)
    if state == State.DISPUTED:
        return make_disputed(project, **draft)
    if state == State.SPLIT:
        triple = make_disputed(project, **draft)
        split_triple(project=project, triple_id=triple.pk, author=triple.author, claims=make_claims(triple), at=AT)
    elif state == State.DROPPED:
        triple = make_disputed(project, **draft)
        drop_triple(project=project, triple_id=triple.pk, author=triple.author, reason="Not needed.", at=AT)
    else:
        triple = make_accepted(project, **draft)
        if stale:
            snapshot = make_snapshot(project, CHANGED, corpus=triple.snapshot.corpus)
            refresh_staleness(project=project, snapshot=snapshot, at=AT)
        if state == State.RETIRED:
            retire_triple(
                project=project,
                triple_id=triple.pk,
                lead=lead_of(project),
                roles=frozenset({"lead"}),
                reason=RetireReason.OUT_OF_SCOPE,
                at=AT,
            )
    return reload(triple)


def decide(triple: Triple, lead: User, decision: Decision, reason: str = "Read it twice.") -> Triple:
    return adjudicate(project=triple.project, triple_id=triple.pk, lead=lead, decision=decision, reason=reason, at=AT)


def take_back(triple: Triple, reviewer: User, policy: Category = Category.SYNONYM) -> Triple:
    return withdraw_flag(project=triple.project, triple_id=triple.pk, reviewer=reviewer, policy=policy, at=AT)
