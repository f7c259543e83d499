"""Differences that their judges settle: who may answer, how each ends, and what never changes by it."""

import re
from itertools import count

import pytest
from django.db import DatabaseError, connection, transaction
from django.http import Http404
from django.urls import reverse
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, initialize, invariant, precondition, rule

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.jobs.models import Notification
from apps.judging.actions.differences import (
    SecondGradeRefused,
    answer_difference,
    look_at_difference,
    tell_of_differences,
)
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.differences import MOST_TURNS, Difference, DifferenceState, SecondAnswer
from apps.judging.core.resolution import PairState, Resolution, Resolved
from apps.judging.enums import DIFFERENCES, ROUND_CLOSED, DecidedBy
from apps.judging.models import Adjudication, Judgement, SecondGrade
from apps.judging.selectors.deciding import adjudicable, deciders_of_pair, left_to_judges
from apps.judging.selectors.differences import differences_of
from apps.judging.selectors.pairs import live_judgements, pair_of, resolved_grades
from apps.judging.selectors.rounds import alpha_over
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, entries_of, give, judge_all, judge_pairs, later, make_round, people_of
from tests.module_rows import rows_of_module
from tests.review.seating.moving import set_policy
from tests.walks import often

YOURS, THEIRS, RECONCILED, LEFT = DifferenceState
_keys = count(1)


def walked(first, *answers):
    return Difference(first, [SecondAnswer(judge, grade) for judge, grade in answers])


@pytest.mark.parametrize(
    ("answers", "state_of_1", "state_of_2"),
    [
        ([], YOURS, YOURS),
        ([(1, 3)], THEIRS, YOURS),
        ([(1, 2)], RECONCILED, RECONCILED),
        ([(2, 3)], RECONCILED, RECONCILED),
        ([(1, 3), (2, 2)], LEFT, LEFT),
        ([(1, 1), (2, 2)], LEFT, LEFT),
        ([(1, 1), (2, 0)], YOURS, THEIRS),
        ([(1, 1), (2, 0), (1, 0)], RECONCILED, RECONCILED),
        ([(1, 1), (2, 0), (1, 1)], LEFT, LEFT),
        ([(1, 1), (2, 0), (1, 2)], THEIRS, YOURS),
        ([(1, 1), (2, 0), (1, 2), (2, 0)], LEFT, LEFT),
        ([(1, 1), (1, 3)], THEIRS, YOURS),
        ([(1, None)], THEIRS, YOURS),
        ([(1, None), (2, None)], LEFT, LEFT),
    ],
)
def test_two_judges_answer_until_they_agree_or_nobody_has_more_to_say(answers, state_of_1, state_of_2):
    difference = walked({1: 3, 2: 2}, *answers)
    assert (difference.state_for(1), difference.state_for(2)) == (state_of_1, state_of_2)


def test_of_three_judges_all_come_to_one_grade_or_a_lead_decides():
    first = {1: 3, 2: 2, 3: 0}
    assert walked(first, (1, 2)).state_for(3) is YOURS
    assert walked(first, (1, 2), (3, 2)).reconciled == 2
    assert walked(first, (1, 2), (2, 2), (3, 0)).has_ended
    assert walked(first, (1, 3), (2, 2), (3, 2)).state_for(1) is YOURS


@given(st.lists(st.integers(0, 3), min_size=2, max_size=5), st.data())
def test_every_difference_ends_and_nobody_has_more_than_two_turns(grades, data):
    difference = Difference(dict(enumerate(grades)))
    turns, last = dict.fromkeys(difference.first, 0), None
    while not difference.has_ended:
        able = [judge for judge in difference.first if judge != last and difference.may_answer(judge)]
        assert able
        judge = data.draw(st.sampled_from(able))
        answer = SecondAnswer(judge, data.draw(st.sampled_from([*range(4), None])))
        difference = Difference(difference.first, [*difference.answers, answer])
        turns[judge] += 1
        last = judge
    assert max(turns.values()) <= MOST_TURNS
    assert not any(difference.may_answer(judge) for judge in difference.first)


@rows_of_module
def round_():
    """Three pairs, judged twice: apart by 3, apart by 1, and agreed."""
    round_ = make_round(queries=1, blocks=3, overlap=1.0, reconcile=True)
    judge_pairs(round_, (0, 1, 2), (3, 2, 2))
    return round_


def answer(round_, entry, judge, grade, why="", *, seen=None, key=None):
    look_at_difference(round_=round_, entry=entry, judge=judge, at=AT)
    given_so_far = SecondGrade.objects.filter(look__entry=entry, look__round=round_).count()
    return answer_difference(
        round_=round_, entry=entry, judge=judge, grade=grade, cant_judge="" if grade is not None else "unreadable",
        reason=why, seen=given_so_far if seen is None else seen, idempotency_key=key or f"second-{next(_keys)}", at=AT,
    )  # fmt: skip


def states(round_, judge):
    return [each.state for each in differences_of(judge, [round_])]


def refused(code, call, *args, **more):
    with pytest.raises(SecondGradeRefused) as refusal:
        call(*args, **more)
    assert refusal.value.code == code
    return refusal.value.sentence


@pytest.mark.django_db
class TestADifference:
    def test_is_settled_by_who_takes_the_others_grade_and_stays_on_record(self, round_):
        mara, jun = people_of(round_)
        far = entries_of(round_)[0]
        alpha = alpha_over(round_, [far.query_id])
        assert states(round_, mara) == [YOURS, YOURS]
        assert (adjudicable(round_, lead_of(round_.project)), left_to_judges(round_.project, [round_])[round_.pk]) == (
            [],
            2,
        )

        answer(round_, far, mara, 3, "It names the cipher.")

        assert states(round_, mara) == states(round_, jun) == [RECONCILED, YOURS]
        assert pair_of(round_, far).resolved == Resolved(PairState.RECONCILED, Resolution.RECONCILED, 3)
        assert {pair.entry_id: pair.resolution for pair in resolved_grades(round_)}[far.pk] is Resolution.RECONCILED
        decision = Adjudication.objects.get(entry=far)
        assert (decision.adjudicator, decision.reason) == (mara, "It names the cipher.")
        assert Event.objects.get(action="pair.reconciled").after == {"grade": 3, "reason": "It names the cipher."}
        first = live_judgements(round_).filter(entry=far).order_by("annotator").values_list("grade", flat=True)
        assert (list(first), alpha_over(round_, [far.query_id])) == ([0, 3], alpha)
        again = refused("second_grade_not_possible", answer, round_, far, jun, 0, "No.")
        assert again == "The other judge took your 3 a moment ago. It is settled at 3."
        with pytest.raises(Refusal, match="came to one grade"):
            decide(round_, far)

    def test_goes_to_a_lead_once_both_have_kept_their_grade(self, round_):
        mara, jun = people_of(round_)
        far, _, _ = entries_of(round_)
        answer(round_, far, mara, 0)
        assert (states(round_, mara)[0], states(round_, jun)[0]) == (THEIRS, YOURS)
        with pytest.raises(Refusal, match="can still settle it"):
            decide(round_, far)
        assert answer(round_, far, jun, 3).is_last
        assert states(round_, mara)[0] is LEFT
        assert "A lead decides" in refused("second_grade_not_possible", answer, round_, far, mara, 3, "Now?")
        assert decide(round_, far).decided_by == DecidedBy.LEAD

    def test_is_answered_by_who_has_seen_the_last_answer_only(self, round_):
        mara, jun = people_of(round_)
        far, _, _ = entries_of(round_)
        look_at_difference(round_=round_, entry=far, judge=jun, at=AT)
        answer(round_, far, mara, 1, "Less.")
        assert "has answered since" in refused("second_grade_not_possible", answer, round_, far, jun, 3, seen=0)
        assert "word why" in refused("second_grade_not_possible", answer, round_, far, jun, 2)
        answer(round_, far, jun, 2, "More.")
        answer(round_, far, mara, 2, "Yes.")
        assert states(round_, jun)[0] is RECONCILED

    def test_is_settled_by_who_returns_to_their_own_grade_without_a_word(self, round_):
        mara, jun = people_of(round_)
        far, _, _ = entries_of(round_)
        answer(round_, far, mara, 1, "Less.")
        answer(round_, far, jun, 0, "Nothing of it.")
        answer(round_, far, mara, 0)
        assert Adjudication.objects.values_list("grade", "reason").get() == (0, "Nothing of it.")

    def test_has_one_answer_for_one_key(self, round_):
        mara, _ = people_of(round_)
        far, _, _ = entries_of(round_)
        first = answer(round_, far, mara, 3, "Yes.", key="same")
        assert (
            answer_difference(
                round_=round_, entry=far, judge=mara, grade=3, reason="Yes.", seen=0, idempotency_key="same", at=AT
            )
            == first
        )
        assert SecondGrade.objects.count() == Adjudication.objects.count() == 1

    def test_of_an_agreed_pair_or_of_others_is_none(self, round_):
        mara, _ = people_of(round_)
        far, _, same = entries_of(round_)
        assert "do not differ" in refused(
            "no_difference", look_at_difference, round_=round_, entry=same, judge=mara, at=AT
        )
        with pytest.raises(Http404):
            look_at_difference(round_=round_, entry=far, judge=lead_of(round_.project), at=AT)
        assert "Look at the grades" in refused(
            "not_looked", answer_difference,
            round_=round_, entry=far, judge=mara, grade=0, seen=0, idempotency_key="k", at=AT,
        )  # fmt: skip

    def test_makes_a_first_grade_final_for_who_has_seen_the_others(self, round_):
        mara, jun = people_of(round_)
        far, near, _ = entries_of(round_)
        seats = {(seat.entry_id, seat.annotator_id): seat for seat in round_.seats.all()}
        look_at_difference(round_=round_, entry=far, judge=mara, at=AT)
        with pytest.raises(Refusal, match="final now"):
            give(seats[far.pk, mara.pk], mara, 3)
        give(seats[far.pk, jun.pk], jun, 0)  # jun has not looked: still blind
        assert (states(round_, mara), pair_of(round_, far).resolved.resolution) == ([YOURS], Resolution.UNANIMOUS)
        answer(round_, near, mara, 1)
        with pytest.raises(Refusal, match="final now"):
            give(seats[near.pk, jun.pk], jun, 1)

    def test_ends_with_the_round_and_with_a_judge_who_leaves(self, round_):
        mara, jun = people_of(round_)
        far, near, _ = entries_of(round_)
        lead = lead_of(round_.project)
        projects.set_roles(project=round_.project, user=jun, roles=[], actor=lead, at=AT)
        assert [pair.entry_id for pair in adjudicable(round_, lead)] == [far.pk, near.pk]
        assert "has left" in refused("second_grade_not_possible", answer, round_, far, mara, 3, "Yes.")
        projects.set_roles(project=round_.project, user=jun, roles=[Role.ANNOTATOR], actor=lead, at=AT)
        assert adjudicable(round_, lead) == []
        close_round(round_id=round_.pk, actor=lead, at=AT)
        round_.refresh_from_db()
        assert "closed" in refused("second_grade_not_possible", answer, round_, far, mara, 3, "Yes.")
        assert len(adjudicable(round_, lead)) == 2

    def test_is_never_changed_in_the_database(self, round_):
        mara, _ = people_of(round_)
        answer(round_, entries_of(round_)[0], mara, 0)
        for table in ("judging_secondlook", "judging_secondgrade"):
            for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id"):
                with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(statement)


@pytest.mark.django_db
def test_a_pair_that_comes_back_blindly_is_no_difference_before_it_has():
    round_ = make_round(queries=1, blocks=30, overlap=1.0, again=0.5, reconcile=True)
    mara, jun = people_of(round_)
    judge_all(round_, jun, lambda seat: 1)
    for seat in claim_seats(round_=round_, annotator=mara, n=10, at=AT):
        give(seat, mara, 2)
    waiting = set(round_.seats.filter(reserved_for=mara, pass_number=2, state="open").values_list("entry", flat=True))
    judged = set(live_judgements(round_).filter(annotator=mara, pass_number=1).values_list("entry", flat=True))
    assert waiting
    assert {each.entry_id for each in differences_of(mara, [round_])} == judged - waiting
    judge_all(round_, mara, lambda seat: 2)
    assert len(differences_of(mara, [round_])) == 30


@pytest.mark.django_db
def test_a_lead_decides_a_pair_they_judged_where_the_project_lets_them_and_it_is_marked():
    round_ = make_round(queries=1, blocks=3, overlap=1.0)
    judge_pairs(round_, (0, 1, 2), (3, 2, 2))
    mara, _ = people_of(round_)
    lead = lead_of(round_.project)
    projects.set_roles(project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=AT)
    projects.set_roles(project=round_.project, user=lead, roles=[], actor=mara, at=AT)
    far, near, _ = entries_of(round_)
    assert deciders_of_pair(round_, far.pk) == ([], 1)

    set_policy(round_.project, leads_decide_own=True)
    round_.refresh_from_db()
    assert adjudicable(round_, mara) == []  # the round is open: the other grade is still hidden from her
    with pytest.raises(Refusal, match="You judged this pair"):
        decide(round_, far, person=mara)
    close_round(round_id=round_.pk, actor=mara, at=AT)
    round_.refresh_from_db()
    assert deciders_of_pair(round_, far.pk) == ([mara.name], 0)
    assert decide(round_, far, 3, person=mara).decided_by == DecidedBy.LEAD_WHO_JUDGED
    assert pair_of(round_, far).resolved.resolution is Resolution.LEAD_WHO_JUDGED
    assert [pair.entry_id for pair in adjudicable(round_, mara)] == [near.pk]


@pytest.mark.django_db
def test_over_the_api_a_difference_is_listed_opened_and_answered(client, round_):
    mara, _ = people_of(round_)
    far, near, _ = entries_of(round_)
    client.force_login(mara)

    def call(name, *args, body=None):
        address = reverse(f"judging-api:{name}", args=[round_.project.slug, round_.pk, *args])
        if body is None and name == "differences":
            return client.get(address).json()
        return client.post(address, body or {}, content_type="application/json").json()

    listed = call("differences")["differences"]
    assert [(each["entry"], each["state"]) for each in listed] == [(far.pk, "yours"), (near.pk, "yours")]
    opened = call("open-difference", far.pk)
    assert [(each["is_you"], each["grade"], each["has_answered"]) for each in opened["judges"]] == [
        (True, 0, False),
        (False, 3, False),
    ]
    body = {"grade": 3, "seen": opened["seen"], "idempotency_key": "k"}
    assert call("answer-difference", far.pk, body=body)["detail"] == "A changed grade needs a word why."
    settled = call("answer-difference", far.pk, body={**body, "reason": "It names it."})
    assert (settled["state"], settled["settled_at"]) == ("reconciled", 3)


@pytest.mark.django_db
def test_a_lead_reads_whose_answers_a_round_waits_for_before_it_is_closed(client):
    """By name for a lead who does not judge; a lead who judges has no name for the other judge of a pair."""
    project = make_project()
    people = [make_member(project, Role.ANNOTATOR, name=name) for name in ("Mara", "Jun", "Sef")]
    sef = people[-1]
    projects.set_roles(project=project, user=sef, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(project), at=AT)
    round_ = make_round(project, queries=1, blocks=6, annotators=people, overlap=1.0, reconcile=True)
    shares = {person: list(round_.seats.filter(meant_for=person)) for person in people}
    for grade, person in enumerate(people):
        for seat in shares[person]:
            give(seat, person, grade)
    of_mara, of_jun, of_sef = ({seat.entry_id for seat in shares[person]} for person in people)

    def read(person):
        client.force_login(person)
        home = client.get(reverse("dashboard:home", args=[project.slug])).content.decode()
        return home, client.get(reverse("judging:round", args=[project.slug, round_.pk])).content.decode()

    home, page = read(lead_of(project))
    assert "Differences in Round 1: 6" in home
    assert "Close Round 1" not in home
    assert "all judged, 6 differences to settle" in page
    assert "ready to close" not in page
    assert f"missing: {len(of_jun)} from Jun, {len(of_mara)} from Mara and {len(of_sef)} from Sef." in page
    assert "from Sef. A lead decides what is left of these." in page  # before it is closed
    decisions = client.get(reverse("judging:adjudicate", args=[project.slug, round_.pk])).content.decode()
    assert "6 differences are not settled yet." in decisions
    home, page = read(sef)
    both = len(of_mara & of_jun)
    assert f"{both} from Jun, {both} from Mara, {len(of_sef)} from you and {len(of_sef)} from others." in page
    assert home.index("Differences to settle") < home.index("Differences in Round 1")

    for entry in entries_of(round_):
        for person in people[:2]:
            if any(seat.entry_id == entry.pk for seat in shares[person]):
                answer(round_, entry, person, 3 if entry.pk in of_sef else 2, "A word.")
    home, page = read(lead_of(project))
    assert f"missing: {len(of_sef)} from Sef." in page
    for entry in of_sef:
        answer(round_, round_.pool.entries.get(pk=entry), sef, 3, "A word.")
    home, page = read(lead_of(project))
    assert "Close Round 1" in home
    assert "ready to close" in page


@pytest.mark.django_db
def test_judges_are_notified_when_differences_begin_to_wait_and_when_the_round_ends(client):
    round_ = make_round(queries=1, blocks=5, overlap=1.0, reconcile=True)
    mara, jun = people_of(round_)
    judge_all(round_, jun, lambda seat: 0)
    client.force_login(mara)

    def grade(pairs, minute):
        for seat in claim_seats(round_=round_, annotator=mara, n=pairs, at=later(minute)):
            give(seat, mara, 3, at=later(minute))
        return [each.entry for each in live_judgements(round_).filter(annotator=mara).order_by("-pk")[:pairs]]

    def told(minute):
        tell_of_differences(later(minute))
        rows = Notification.objects.filter(project=round_.project, kind=DIFFERENCES).order_by("pk")
        return [(row.person, "unread" if row.read_at is None else "read") for row in rows]

    assert told(1) == []
    first = grade(2, minute=2)
    assert told(3) == told(8) == [(mara, "unread"), (jun, "unread")]  # one for both pairs
    listed = client.get(reverse("notifications:list", args=[round_.project.slug])).content.decode()
    assert "In Round 1 you and another judge differ." in listed

    answer(round_, first[0], mara, 0, "Yes.")
    assert told(9) == [(mara, "read"), (jun, "unread")]
    more = grade(1, minute=10)
    assert told(11) == [(mara, "read"), (jun, "unread")]  # the second of the first two still waits for her
    for entry in (first[1], *more):
        answer(round_, entry, mara, 0, "Yes.")
    last = grade(2, minute=12)
    assert told(13) == [(mara, "read"), (jun, "unread"), (mara, "unread")]

    answer(round_, last[0], mara, 3)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=later(14))
    closed = Notification.objects.filter(kind=ROUND_CLOSED).order_by("person").values_list("person", "sentence")
    by = f"{lead_of(round_.project)} closed Round 1."
    assert list(closed) == [
        (mara.pk, f"{by} 1 difference that waited for you goes to a lead."),
        (jun.pk, f"{by} 2 differences that waited for you go to a lead."),
    ]
    assert {state for _, state in told(15)} == {"read"}


CHANGING = re.compile(
    rb'name="(?:csrfmiddlewaretoken|key)" value="[^"]+"|"X-CSRFToken": "[^"]+"|data-csrf="[^"]+"|nonce-[^\']+'
)


@pytest.mark.django_db
def test_of_a_pair_that_only_another_has_graded_nothing_tells_what_they_gave(client):
    round_ = make_round(queries=1, blocks=3, overlap=1.0, reconcile=True)
    mara, jun = people_of(round_)
    entry, slug = entries_of(round_)[0], round_.project.slug
    client.force_login(jun)
    addresses = [
        reverse("dashboard:home", args=[slug]),
        reverse("judging:index", args=[slug]),
        reverse("judging:mine", args=[slug]),
        reverse("judging:differences", args=[slug, round_.pk]),
        reverse("judging:difference", args=[slug, round_.pk, entry.pk]),
        reverse("judging-api:differences", args=[slug, round_.pk]),
    ]

    def told(grade):
        with transaction.atomic():
            judge_all(round_, mara, lambda seat: grade)
            answers = [client.get(address, follow=True) for address in addresses]
            opening = reverse("judging-api:open-difference", args=[slug, round_.pk, entry.pk])
            answers.append(client.post(opening, headers={"X-CSRFToken": ""}))
            transaction.set_rollback(True)
        return [(answer.status_code, CHANGING.sub(b"", answer.content)) for answer in answers]

    assert told(0) == told(3)


class Team(RuleBasedStateMachine):
    """A round of two or three judges, some of them leads, with every way in which a pair can end."""

    @initialize(judges=st.integers(2, 3), leads=st.integers(0, 2), own=st.booleans(), data=st.data())
    def begin(self, judges, leads, own, data):
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.round = make_round(queries=1, blocks=3, overlap=1.0, judges=judges, annotators=judges, reconcile=True)
        self.people, self.lead = people_of(self.round), lead_of(self.round.project)
        set_policy(self.round.project, leads_decide_own=own)
        for person in self.people[:leads]:
            self._roles(person, [Role.LEAD, Role.ANNOTATOR])
        judge_pairs(self.round, *(data.draw(st.tuples(*[st.integers(0, 3)] * 3)) for _ in range(judges)))
        self.first = self._first_grades()

    def teardown(self):
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    def _roles(self, person, roles):
        projects.set_roles(project=self.round.project, user=person, roles=roles, actor=self.lead, at=AT)

    def _first_grades(self):
        return sorted(Judgement.objects.values_list("entry", "annotator", "grade"))

    @precondition(lambda self: hasattr(self, "round"))
    @rule(pair=st.integers(0, 2), judge=st.integers(0, 2), grade=st.integers(0, 3))
    def answer(self, pair, judge, grade):
        entry, person = entries_of(self.round)[pair], self.people[judge % len(self.people)]
        before = next((each for each in differences_of(person, [self.round], entry)), None)
        could = before is not None and before.decision is None and before.difference.may_answer(person.pk)
        could = could and before.state in (YOURS, THEIRS)
        try:
            answer(self.round, entry, person, grade, "A word.")
        except SecondGradeRefused:
            assert not could
        else:
            assert could

    @precondition(lambda self: hasattr(self, "round"))
    @rule(judge=st.integers(0, 2))
    def leave(self, judge):
        self._roles(self.people[judge % len(self.people)], [])

    @precondition(lambda self: hasattr(self, "round"))
    @rule(pair=st.integers(0, 2), who=st.integers(0, 3))
    def decide(self, pair, who):
        person = [self.lead, *self.people][who % (1 + len(self.people))]
        entry = entries_of(self.round)[pair]
        may = entry.pk in {each.entry_id for each in adjudicable(self.round, person)}
        try:
            decide(self.round, entry, 1, person=person)
        except Refusal:
            assert not may

    @precondition(lambda self: hasattr(self, "round") and self.round.state == "open")
    @rule()
    def close(self):
        close_round(round_id=self.round.pk, actor=self.lead, at=AT)
        self.round.refresh_from_db()

    @precondition(lambda self: hasattr(self, "round"))
    @invariant()
    def first_grades_never_move(self):
        assert self._first_grades() == self.first

    @precondition(lambda self: hasattr(self, "round"))
    @invariant()
    def every_pair_has_ended_or_somebody_may_end_it(self):
        for entry in entries_of(self.round):
            resolved = pair_of(self.round, entry).resolved
            if resolved.resolution is not Resolution.UNRESOLVED:
                continue
            asked = [p for p in self.people for each in differences_of(p, [self.round], entry) if each.state is YOURS]
            decides = entry.pk in {each.entry_id for each in adjudicable(self.round, self.lead)}
            assert bool(asked) != decides
            assert decides is False or self.lead.name in deciders_of_pair(self.round, entry.pk).names


@pytest.mark.django_db
def test_however_a_team_goes_about_it_each_pair_ends_or_is_somebodys_to_end():
    run = get_state_machine_test(
        Team,
        settings=settings(
            max_examples=often(5, 60),
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
    seed(1)(run)()
