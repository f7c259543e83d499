"""Voting on whether anything in a snapshot answers a query, and a lead's decision where the votes differ."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.accounts.selectors import policy
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.judging import rules
from apps.judging.core.unanswerable import LEAD, VOTES
from apps.judging.models import UnanswerableVote
from apps.judging.selectors.deciding import OWN_DECISIONS
from apps.judging.selectors.unanswerable import VotedQuery, voted_queries
from apps.queries.models import Query
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool, PoolEntry
from apps.retrieval.selectors.question_sets import found_in


class VoteRefused(Refusal):
    """A vote, or a decision on votes, that is not possible now."""


@transaction.atomic
def vote_on_unanswerable(
    *, snapshot: Snapshot, query_id: int, person: User, passage: str = "", at: datetime
) -> UnanswerableVote:
    """Vote that nothing in the snapshot answers the query, or that the passage with this outside id does.

    The query is locked, and the vote decided on what is judged by then. The same vote again returns the first one.
    Where both name a passage, these become a pool, to be judged. Raises VoteRefused.
    """
    voted, project = _locked(snapshot, query_id)
    named = _named(snapshot, voted.query, passage)
    own = next((vote for vote in voted.live if vote.person_id == person.pk), None)
    if own is not None and own.passage == named and own.number != LEAD:
        return own
    roles = locked_roles(person, project)
    VoteRefused.raise_for(rules.annotator_refusal(roles), code="no_longer_annotator")
    VoteRefused.raise_for(rules.vote_refusal(voted.state, has_voted=own is not None), code="no_vote")
    vote = _add(snapshot, voted, len(voted.live) + 1, person, named, "", at)
    named_by_all = [each.passage for each in [*voted.live, vote] if each.passage is not None]
    if len(named_by_all) == VOTES:
        _pool(snapshot, voted.query, named_by_all, vote)
    return vote


@transaction.atomic
def decide_unanswerable(
    *, snapshot: Snapshot, query_id: int, lead: User, is_nothing: bool, passage: str = "", reason: str, at: datetime
) -> UnanswerableVote:
    """Decide as a lead where two votes differ, or against two that agree. Raises VoteRefused.

    That a passage answers needs its outside id, unless one was named; it becomes a pool, to be judged.
    """
    voted, project = _locked(snapshot, query_id)
    if Role.LEAD not in locked_roles(lead, project):
        raise VoteRefused("You are no longer a lead of this project.", code="no_longer_lead")
    reason = reason.strip()
    refusal = rules.vote_decision_refusal(
        voted.state,
        has_voted=voted.has_voted(lead) and not policy(project, OWN_DECISIONS),
        is_decided=voted.is_decided,
        is_nothing=is_nothing,
        reason=reason,
    )
    VoteRefused.raise_for(refusal, code="no_decision")
    named = None
    if not is_nothing:
        before = next((vote.passage for vote in voted.live if vote.passage is not None), None)
        named = _named(snapshot, voted.query, passage) or before
        if named is None:
            raise VoteRefused("Enter the id of the passage that answers the query.", code="no_passage")
    vote = _add(snapshot, voted, LEAD, lead, named, reason, at)
    if named is not None:
        _pool(snapshot, voted.query, [named], vote)
    after = {"query": voted.query.outside_id, "snapshot": snapshot.digest, "is_nothing": is_nothing, "reason": reason}
    record(project=project, actor=lead, action="unanswerable.decided", obj=vote, after=after, at=at)
    return vote


def _locked(snapshot: Snapshot, query_id: int) -> tuple[VotedQuery, Project]:
    """The query as it is now, locked, and its project; Http404 for one of another project."""
    rows = Query.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    query = found_in(rows.filter(project=snapshot.corpus.project_id, pk=query_id))
    return candidate_among(voted_queries(snapshot, [query_id]), query_id), query.project


def candidate_among(every: Collection[VotedQuery], query_id: int) -> VotedQuery:
    """The candidate that this query is. Raises VoteRefused for a query that is none of them."""
    voted = next((each for each in every if each.query.pk == query_id), None)
    if voted is None:
        message = "This query is no candidate: a pair of it is not judged yet, or a passage is graded relevant."
        raise VoteRefused(message, code="no_candidate")
    return voted


def _named(snapshot: Snapshot, query: Query, passage: str) -> BlockVersion | None:
    """The passage with this outside id, None for an empty one. Raises VoteRefused for one that cannot be named."""
    if not (passage := passage.strip()):
        return None
    entry = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id=passage).select_related("version").first()
    if entry is None:
        message = f"{snapshot.name} has no passage with the id {passage}. Copy the id from the page of the passage."
        raise VoteRefused(message, code="no_passage")
    if PoolEntry.objects.filter(pool__snapshot=snapshot, query=query, version=entry.version).exists():
        message = (
            f"{passage} was judged for this query, as not relevant. Name another passage; or vote that nothing answers"
            " it, and ask a lead to decide the grade of this passage."
        )
        raise VoteRefused(message, code="passage_judged")
    return entry.version


def _add(
    snapshot: Snapshot,
    voted: VotedQuery,
    number: int,
    person: User,
    passage: BlockVersion | None,
    reason: str,
    at: datetime,
) -> UnanswerableVote:
    return UnanswerableVote.objects.create(
        query=voted.query,
        snapshot=snapshot,
        attempt=voted.next_attempt,
        number=number,
        person=person,
        is_nothing=passage is None,
        passage=passage,
        reason=reason,
        basis=voted.basis.as_json,
        given_at=at,
    )


def _pool(snapshot: Snapshot, query: Query, passages: list[BlockVersion], vote: UnanswerableVote) -> Pool:
    """The passages that people named, as pairs to be judged."""
    return choose_pairs(
        project=snapshot.corpus.project,
        snapshot=snapshot,
        name=f"Named for {query.outside_id} in vote {vote.pk}",
        pairs=[(query.pk, passage.pk) for passage in passages],
        origin=f"Passages that people named who were asked whether anything answers {query.outside_id}.",
        actor=vote.person,
        at=vote.given_at,
    )
