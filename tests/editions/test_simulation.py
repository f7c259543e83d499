"""Whatever editions follow each other, the grades that came along are those of a simulation on plain dictionaries.

Two people judge every pair, and sometimes disagree. It was seen to fail when a changed text carried its grade without a
decision, a renamed one lost it or took that of either of two, one annotator's grades were left out, a pair to judge
again was forgotten, and a grade that came along replaced an earlier one.
"""

from collections import Counter

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apps.corpus.selectors.snapshots import fault_of
from apps.judging.actions.rounds import close_round
from apps.judging.models import Round, Seat
from apps.retrieval.models import Pool
from tests.editions.stories import Story, make_first_edition
from tests.factories import AT, lead_of
from tests.judging.editions import asked, graded
from tests.judging.factories import judge_all, people_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

QUERIES = {"Q01": "how long are archives kept", "Q02": "where do visitors wait"}
FIRST = {"b01": "archives kept", "b02": "keys rotated", "b03": "archives kept", "b04": "visitors wait"}
NAMES = [*FIRST, "c05", "c06"]
TEXTS = [*dict.fromkeys(FIRST.values()), "nothing of it"]
Grades = dict[tuple[str, str], int | None]
"""By query and passage; None where the two disagree and nobody decided."""

passages = st.tuples(*(st.sampled_from([None, *TEXTS]) for _ in NAMES))
editions = passages.map(lambda texts: {name: text for name, text in zip(NAMES, texts, strict=True) if text})
steps = st.lists(
    st.tuples(editions.filter(bool), st.sets(st.sampled_from(NAMES)), st.booleans()), min_size=2, max_size=3
)
TWO_COULD_BE_MEANT = [
    ({"b02": "keys rotated", "b04": "nothing of it", "c05": "archives kept"}, set(), False),
    ({"b01": "keys rotated", "b03": "keys rotated", "c05": "archives kept"}, set(), False),
]
THERE_AND_BACK = [
    ({"b02": "nothing of it", "c06": "visitors wait"}, {"b02"}, False),
    ({"b02": "visitors wait"}, set(), True),
    ({"b01": "keys rotated", "b02": "nothing of it"}, {"b02"}, True),
]


class Simulation:
    """The grades of the newest edition, and of every text ever judged."""

    def __init__(self, texts: dict[str, str], grades: Grades) -> None:
        self.texts = texts
        self.ever = {(query, name, texts[name]): grade for (query, name), grade in grades.items()}

    @property
    def grades(self) -> Grades:
        return {(q, name): grade for (q, name, text), grade in self.ever.items() if self.texts.get(name) == text}

    def to_judge_again(self, new: dict[str, str], carried: set[str]) -> set[tuple[str, str]]:
        """The pairs of changed passages that have a grade and do not keep it."""
        changed = {name for name, text in new.items() if self.texts.get(name, text) != text} - carried
        graded = {pair for pair, grade in self.grades.items() if grade is not None and pair[1] in changed}
        return {(query, name) for query, name in graded if (query, name, new[name]) not in self.ever}

    def take(self, new: dict[str, str], carried: set[str]) -> None:
        origins = self.origins(new, carried)
        before = self.grades
        self.texts = new
        for name, origin in origins.items():
            for query in QUERIES:
                if (grade := before.get((query, origin))) is not None:
                    self.ever.setdefault((query, name, new[name]), grade)

    def origins(self, new: dict[str, str], carried: set[str]) -> dict[str, str]:
        """Of each passage that gets the grades of another text, the passage that had them."""
        old = self.texts
        gone = {name: text for name, text in old.items() if name not in new}
        added = {name: text for name, text in new.items() if name not in old}
        once = {text for text, times in Counter(gone.values()).items() if times == 1}
        once &= {text for text, times in Counter(added.values()).items() if times == 1}
        renamed = {name: next(n for n in gone if gone[n] == text) for name, text in added.items() if text in once}
        return renamed | {name: name for name in carried if name in old and name in new}

    def judge(self, pairs: Grades) -> None:
        for (query, name), grade in pairs.items():
            self.ever[query, name, self.texts[name]] = grade


@pytest.fixture
def story(db) -> Story:
    """The first edition, judged: every example goes on from here."""
    story = make_first_edition(FIRST, QUERIES, annotators=2, overlap=1.0)
    judge(story.first, edition=0)
    close_round(round_id=story.first.pk, actor=lead_of(story.project), at=AT)
    return story


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(then=steps)
@example(then=TWO_COULD_BE_MEANT)
@example(then=THERE_AND_BACK)
def test_the_grades_of_every_edition_are_those_of_the_simulation(story, then):
    with transaction.atomic():
        check(story, then)
        transaction.set_rollback(True)


def check(story: Story, then: list[tuple[dict[str, str], set[str], bool]]) -> None:
    simulation = Simulation(FIRST, {(query, name): agreed(query, name, 0) for query in QUERIES for name in FIRST})
    editions, snapshots = [FIRST], [story.spring]
    for texts, carried, is_judged in then:
        if texts in editions:  # a snapshot with exactly these texts is not frozen again
            continue
        choices = {name: "carry" if name in carried else "again" for name in simulation.texts}
        taken = story.take(texts, decided=story.decide(**choices))
        again = simulation.to_judge_again(texts, carried)
        assert {pair for pair in pairs_in(taken.pool) if pair[1] in simulation.texts} == again
        simulation.take(texts, carried)
        if taken.round is not None and is_judged:
            judge(taken.round, edition=len(editions))
            simulation.judge({pair: agreed(*pair, len(editions)) for pair in asked(taken.round)})
        editions.append(texts)
        snapshots.append(taken.snapshot)

        assert graded(taken.snapshot) == simulation.grades
    assert [fault_of(snapshot) for snapshot in snapshots] == [None] * len(snapshots)


def pairs_in(pool: Pool | None) -> set[tuple[str, str]]:
    return set(pool.entries.values_list("query__outside_id", "version__block__outside_id")) if pool else set()


def judge(round_: Round, *, edition: int) -> None:
    """Both judge everything."""
    for place, person in enumerate(people_of(round_)):
        judge_all(round_, person, lambda seat, at=place: answers(*names_of(seat), edition)[at])


def names_of(seat: Seat) -> tuple[str, str]:
    return seat.query.outside_id, seat.entry.version.block.outside_id


def answers(query: str, name: str, edition: int) -> tuple[int, int]:
    """What the two say: numbers that tell the pair and the edition. Of one pair in four they disagree."""
    number = int(query[1:]) * 2 + int(name[1:]) + edition
    return number % 4, (number + (number % 4 == 3)) % 4


def agreed(query: str, name: str, edition: int) -> int | None:
    first, second = answers(query, name, edition)
    return first if first == second else None
