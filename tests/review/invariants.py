"""What is always true of reviews, looked at after any step."""

from hypothesis.stateful import invariant

from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.review.core.visibility import RoundPhase
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.review.selectors.participation import participation_of
from apps.review.selectors.reviews import rounds_of
from apps.review.selectors.seats import free_number, is_pulled
from apps.triples.enums import State, Step
from apps.triples.models import Revision, Triple
from apps.triples.workflow import edge_for


class AlwaysTrue:
    """Looks at the world that the machine of `test_machine` starts in."""

    @invariant()
    def what_was_touched_is_in_order(self) -> None:
        if not hasattr(self, "told"):
            return
        self.events_walk_the_table()
        triples = Triple.objects.filter(project=self.project).select_related("project", "author", "current")
        for triple in triples.filter(pk__in=self.touched) | triples.filter(pk__gt=self.born):
            self.born = max(self.born, triple.pk)
            self.is_in_order(triple)
        assert Verdict.objects.count() == len(self.verdicts), "a verdict that was acknowledged is kept"
        if self.turn % 50 == 0:
            self.everything_is_in_order(self.people[self.turn // 50 % len(self.people) :][:1])

    def everything_is_in_order(self, onlookers: list[User]) -> None:
        """All of it, with the history replayed from its beginning, and no open round telling any of `onlookers`."""
        self.told, self.heard = {}, 0
        self.events_walk_the_table()
        for triple in Triple.objects.filter(project=self.project).select_related("project", "author", "current"):
            self.is_in_order(triple)
            if triple.state == State.IN_REVIEW:
                for person in onlookers:
                    self.nothing_shows_early(triple, person)
        assert {verdict.pk: self._row(verdict) for verdict in Verdict.objects.all()} == self.verdicts
        assert not ReviewSeat.objects.filter(pk__in=self.answered).exclude(released_at=None).exists()

    @staticmethod
    def _row(verdict: Verdict) -> tuple:
        return (verdict.revision_id, verdict.seat_id, verdict.reviewer_id, verdict.choice, verdict.supersedes_id)

    def events_walk_the_table(self) -> None:
        """Every event leaves the state that the one before it reached, along an edge, and names where it arrives."""
        told = Event.objects.filter(project=self.project, object_type="triples.triple", pk__gt=self.heard)
        for event in told.order_by("pk"):
            self.heard, pk = event.pk, int(event.object_id)
            if "state" not in (event.after or {}):
                continue
            if event.action == "triple.start":
                assert pk not in self.told
                self.told[pk] = (State.DRAFT.value, False, 0)
                continue
            state, stale, round_number = self.told[pk]
            assert event.before == {"state": state, "is_stale": stale, "round": round_number}
            edge = edge_for(state, stale, Step(event.action.removeprefix("triple.")))
            assert edge is not None
            opens = edge.step == Step.TAKE or (edge.target == State.IN_REVIEW and edge.step != Step.SAMPLE)
            self.told[pk] = (edge.target.value, edge.marks, round_number + opens)
            assert (event.after["state"], event.after["is_stale"], event.after["round"]) == self.told[pk]
            assert event.actor_id or event.action == "triple.mark_stale"

    def is_in_order(self, triple: Triple) -> None:
        assert self.told[triple.pk] == (triple.state, triple.is_stale, triple.round)
        revisions = list(triple.revisions.order_by("number"))
        submitted = [revision for revision in revisions if revision.submitted_at is not None]
        assert [revision.round for revision in submitted] == list(range(1, triple.round + 1))
        self.one_revision_at_most_is_being_written(triple, revisions)
        seats = list(ReviewSeat.objects.filter(revision__triple=triple).order_by("pk"))
        verdicts = list(Verdict.objects.filter(revision__triple=triple).order_by("pk"))
        ends = list(Resolution.objects.filter(triple=triple).order_by("pk"))
        taken = {end.revision_id for end in ends if end.kind == "elsewhere"} if not triple.sampled_at else set()
        self.seats_are_right(triple, [one for one in revisions if one.pk not in taken], seats, verdicts)
        replaced = {verdict.supersedes_id for verdict in verdicts}
        live = [verdict for verdict in verdicts if verdict.pk not in replaced]
        for revision in submitted:
            given = [verdict.reviewer_id for verdict in live if verdict.revision_id == revision.pk]
            assert len(given) == len(set(given)) <= 2
            assert len(given) == 2 or revision.pk == triple.current_id or (revision.pk in taken and not given)
        self.state_is_earned(triple, sorted(v.choice for v in live if v.revision_id == triple.current_id))
        if triple.state == State.IN_REVIEW and self.turn % 3 == 0:
            self.nothing_shows_early(triple, self.people[self.turn % len(self.people)])

    def one_revision_at_most_is_being_written(self, triple: Triple, revisions: list[Revision]) -> None:
        writing = [revision for revision in revisions if revision.submitted_at is None]
        assert len(writing) <= 1
        if triple.state == State.DRAFT:
            assert [triple.current] == writing
        else:
            assert triple.current.submitted_at or triple.state == State.WITHDRAWN
            assert not writing or triple.state in (State.DISPUTED, State.WITHDRAWN, State.ACCEPTED)

    def seats_are_right(
        self, triple: Triple, revisions: list[Revision], seats: list[ReviewSeat], verdicts: list[Verdict]
    ) -> None:
        """Two at most, two different people, none of whom wrote; none lost, and none given away that has answered."""
        wrote = {revision.author_id for revision in revisions} | {triple.author_id, triple.adopted_by_id}
        assert not {seat.reviewer_id for seat in seats} & wrote
        holders = {seat.pk: seat.reviewer_id for seat in seats}
        assert all(holders[verdict.seat_id] == verdict.reviewer_id for verdict in verdicts)
        self.answered |= {verdict.seat_id for verdict in verdicts}
        assert not [seat for seat in seats if seat.pk in self.answered and seat.released_at]
        for revision in revisions:
            held = [seat for seat in seats if seat.revision_id == revision.pk and seat.released_at is None]
            assert len(held) == len({seat.number for seat in held}) == len({seat.reviewer_id for seat in held}) <= 2
            closed = revision.round and (revision.pk != triple.current_id or triple.state != State.IN_REVIEW)
            assert len(held) == 2 or not closed
        if triple.state == State.IN_REVIEW and not is_pulled(self.project):
            held = [seat for seat in seats if seat.revision_id == triple.current_id and seat.released_at is None]
            assert len(held) == 2 or free_number(triple.current) is not None

    def state_is_earned(self, triple: Triple, choices: list[str]) -> None:
        """What the two verdicts, and what was recorded about them, have to say for the state it is in."""
        ends = list(Resolution.objects.filter(triple=triple, revision=triple.current_id).order_by("pk"))
        if ends and ends[0].kind == "elsewhere":
            taken = ends.pop(0)
            assert taken.decided_by
            assert taken.reason
            assert not triple.is_machine_written
            assert not [end for end in ends if end.kind == "elsewhere"]
        if triple.resolution == "elsewhere":
            assert (ends, triple.state == State.IN_REVIEW) == ([], triple.sampled_at is not None)
            assert len(choices) < (2 if triple.sampled_at else 1)
            return
        last = ends[-1] if ends else None
        if triple.state == State.IN_REVIEW:
            assert (len(choices) < 2, ends) == (True, [])
        elif triple.state == State.DISPUTED:
            assert (choices, ends) == (["confirm", "flag"], [])
        elif triple.state == State.ACCEPTED:
            assert last
            assert triple.resolved_at
            kind = triple.resolution.split(":")[0]
            assert kind == last.kind
            assert choices == (["confirm", "confirm"] if kind in ("consensus", "revised") else ["confirm", "flag"])
            assert kind != "consensus" or (triple.round == 1 and not triple.was_disputed)
            assert kind != "adjudicated" or (last.reason and last.decided_by_id)
            assert kind != "policy" or last.category
        elif triple.state == State.DROPPED:
            assert last
            assert (last.kind, bool(last.reason)) == ("dropped", True)
        elif triple.state == State.SPLIT:
            assert last
            assert last.kind == "split"
            assert Triple.objects.filter(parent=triple).count() >= 2
        elif triple.state == State.RETIRED:
            assert triple.retire_reason
        if triple.is_machine_written and triple.state not in (State.DRAFT, State.WITHDRAWN):
            assert triple.adopted_by_id, "a machine's triple goes to review once a person adopted it"
        assert triple.state == State.ACCEPTED or not triple.resolution

    def nothing_shows_early(self, triple: Triple, person: User) -> None:
        participation = participation_of(triple, person, roles_of(person, self.project))
        for view in rounds_of(triple, participation):
            if view.phase is RoundPhase.OPEN:
                assert all(verdict.is_own for verdict in view.verdicts)
                assert not view.messages
                assert not view.resolution
                assert not view.reviewers or participation.is_lead
