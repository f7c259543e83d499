"""An edition is taken at the moment of another act, on real connections: nothing is doubled, lost or half done."""

from dataclasses import dataclass

import pytest

from apps.audit.models import Event
from apps.corpus.models import Snapshot
from apps.editions.actions.apply import take_imported
from apps.editions.execution.apply import TakeOrder
from apps.goldsets.actions.versions import draft_version, freeze_version
from apps.goldsets.models import Version
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Adjudication, Round, Seat
from apps.judging.selectors.pairs import live_judgements, resolved_grades
from tests.editions.stories import LATER, QUERIES, SPRING, Story, make_first_edition, make_story
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_gold_set
from tests.judging.editions import grade_of
from tests.judging.factories import give, judge_all, people_of
from tests.races import overlapping, refusals

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def assert_taken_once() -> None:
    assert Event.objects.filter(action="edition.taken").count() == 1
    assert Round.objects.filter(kind=RoundKind.JUDGING).count() == 2
    assert Round.objects.filter(kind=RoundKind.PROPAGATED).count() == 1


def test_the_edition_of_a_snapshot_is_taken_once():
    story = make_story()
    snapshot = story.freeze_autumn()

    results = overlapping(lambda: story.take_frozen(snapshot), lambda: story.take_frozen(snapshot))

    assert refusals(results) == ["This edition has been taken already. Its page shows the round and what came along."]
    assert_taken_once()


def test_the_edition_of_an_import_is_taken_once():
    story = make_story()
    item = story.begin_import()

    def take():
        return take_imported(import_id=item.pk, order=TakeOrder({}), actor=lead_of(story.project), at=LATER)

    results = overlapping(take, take)

    assert len(refusals(results)) == 1
    assert Snapshot.objects.count() == 2
    assert_taken_once()


DIFFERING, MISSING = ("Q01", "b15"), ("Q02", "b16")


@dataclass
class OpenRound:
    """A round that two judge: they differ on one pair, and of another the second has not answered. A draft takes it."""

    story: Story
    differing: Seat
    missing: Seat
    draft: Version

    @classmethod
    def made(cls) -> "OpenRound":
        story = make_first_edition(SPRING, QUERIES, annotators=2, overlap=1.0, judges=2)
        first, second = people_of(story.first)
        judge_all(story.first, first, grade_of)
        special: dict[tuple[str, str], Seat] = {}
        while seats := [
            seat
            for seat in claim_seats(round_=story.first, annotator=second, n=10, at=AT)
            if seat.pk not in {each.pk for each in special.values()}
        ]:
            for seat in seats:
                pair = (seat.query.outside_id, seat.entry.version.block.outside_id)
                if pair in {DIFFERING, MISSING}:
                    special[pair] = seat
                if pair != MISSING:
                    give(seat, second, (grade_of(seat) + (pair == DIFFERING)) % 4)
        draft = draft_version(
            gold_set_id=make_gold_set(story.project).pk, snapshot=story.spring, rounds=[story.first],
            actor=lead_of(story.project), at=AT,
        )  # fmt: skip
        return cls(story, special[DIFFERING], special[MISSING], draft)

    def grade(self) -> object:
        return give(self.missing, self.missing.annotator, grade_of(self.missing))

    def think_again(self) -> object:
        return give(self.differing, self.differing.annotator, grade_of(self.differing), is_again=True)

    def decide(self) -> object:
        return adjudicate(
            round_=self.story.first, entry=self.differing.entry, adjudicator=lead_of(self.story.project), grade=1,
            reason="Read it.", error_type="slip", at=AT,
        )  # fmt: skip

    def close(self) -> object:
        return close_round(round_id=self.story.first.pk, actor=lead_of(self.story.project), at=AT)


@pytest.mark.parametrize("is_taken_first", [True, False])
@pytest.mark.slow
@pytest.mark.parametrize("act", ["grade", "think_again", "decide", "close"])
def test_who_judges_decides_or_closes_goes_on_while_an_edition_is_taken(act, is_taken_first):
    """What an edition did not see yet stays on the texts before, as if it had come a moment later."""
    there = OpenRound.made()
    snapshot = there.story.freeze_autumn()
    acts = [lambda: there.story.take_frozen(snapshot), getattr(there, act)]

    results = overlapping(*(acts if is_taken_first else reversed(acts)))

    assert refusals(results) == []
    taken = results[0 if is_taken_first else 1]
    after = Event.objects.get(action="edition.taken").after
    assert (after["carried"], after["again"]) == (3, 7)  # of nine pairs on changed texts, two had no result yet
    there.draft.refresh_from_db()
    assert there.draft.snapshot == snapshot
    assert set(there.draft.rounds.all()) == {there.story.first, taken.carried, taken.round}
    assert_acted(act, there)


def assert_acted(act: str, there: OpenRound) -> None:
    first = there.story.first
    first.refresh_from_db()
    assert (first.state == RoundState.CLOSED) is (act == "close")
    assert live_judgements(first).count() == (120 if act == "grade" else 119)
    assert Adjudication.objects.count() == (act == "decide")
    agreed = {pair.entry_id: pair.grade for pair in resolved_grades(there.story.spring)}
    decided = {"think_again": grade_of(there.differing), "decide": 1}.get(act)
    assert agreed.get(there.differing.entry_id) == decided


@pytest.mark.parametrize("is_taken_first", [True, False])
def test_an_edition_leaves_a_draft_that_is_being_frozen_where_it_is(is_taken_first):
    there = OpenRound.made()
    there.grade()
    there.think_again()
    snapshot = there.story.freeze_autumn()

    def freeze() -> Version:
        return freeze_version(version_id=there.draft.pk, actor=lead_of(there.story.project), at=AT)

    acts = [lambda: there.story.take_frozen(snapshot), freeze]

    taken, frozen = overlapping(*acts) if is_taken_first else reversed(overlapping(*reversed(acts)))

    assert (taken.drafts, frozen.snapshot) == (
        ([there.draft], snapshot) if is_taken_first else ([], there.story.spring)
    )
