"""Whatever editions follow each other, the grades that came along are those of a simulation on plain dictionaries."""

from collections import Counter
from itertools import count

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.corpus.selectors.integrity import fault_of
from tests.editions.stories import QUERIES, make_story
from tests.judging.editions import graded
from tests.judging.factories import judge_all

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NAMES = ["b01", "b02", "b03", "c04", "c05"]
TEXTS = ["archives kept", "keys rotated", "visitors wait", "nothing of it"]
editions = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), min_size=1)
steps = st.lists(st.tuples(editions, st.sets(st.sampled_from(NAMES)), st.booleans()), min_size=1, max_size=3)


class Simulation:
    """The grades of the newest edition, and of every text ever judged."""

    def __init__(self, texts: dict[str, str], grades: dict[tuple[str, str], int]) -> None:
        self.texts = texts
        self.ever = {(query, name, texts[name]): grade for (query, name), grade in grades.items()}

    @property
    def grades(self) -> dict[tuple[str, str], int]:
        return {(q, name): grade for (q, name, text), grade in self.ever.items() if self.texts.get(name) == text}

    def take(self, new: dict[str, str], carried: set[str]) -> None:
        origins = self.origins(new, carried)
        before = self.grades
        self.texts = new
        for name, origin in origins.items():
            for query in QUERIES:
                if (query, origin) in before:
                    self.ever.setdefault((query, name, new[name]), before[query, origin])

    def origins(self, new: dict[str, str], carried: set[str]) -> dict[str, str]:
        """Of each passage that gets the grades of another text, the passage that had them."""
        old = self.texts
        gone = {name: text for name, text in old.items() if name not in new}
        added = {name: text for name, text in new.items() if name not in old}
        once = {text for text, times in Counter(gone.values()).items() if times == 1}
        once &= {text for text, times in Counter(added.values()).items() if times == 1}
        renamed = {name: next(n for n in gone if gone[n] == text) for name, text in added.items() if text in once}
        return renamed | {name: name for name in carried if name in old and name in new}

    def judge(self, pairs: dict[tuple[str, str], int]) -> None:
        for (query, name), grade in pairs.items():
            self.ever[query, name, self.texts[name]] = grade


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=editions, then=steps)
def test_the_grades_of_every_edition_are_those_of_the_simulation(first, then):
    with transaction.atomic():
        check(first, then)
        transaction.set_rollback(True)


def check(first: dict[str, str], then: list[tuple[dict[str, str], set[str], bool]]) -> None:
    story = make_story(spring=first)
    simulation = Simulation(first, graded(story.spring))
    snapshots, numbers = [story.spring], count()
    for texts, carried, is_judged in then:
        if is_known(story, texts):
            continue
        choices = {name: "carry" if name in carried else "again" for name in simulation.texts}
        taken = story.take(texts, decided=story.decide(**choices))
        simulation.take(texts, carried)
        if taken.round is not None and is_judged:
            given_here: dict[tuple[str, str], int] = {}
            judge_all(taken.round, story.judge, lambda seat, into=given_here: answer(seat, into, next(numbers)))
            simulation.judge(given_here)
        snapshots.append(taken.snapshot)

        assert graded(taken.snapshot) == simulation.grades
        assert [fault_of(snapshot) for snapshot in snapshots] == [None] * len(snapshots)


def is_known(story, texts: dict[str, str]) -> bool:
    """Whether a snapshot has exactly these texts: it is not frozen again."""
    rows = [dict(s.entries.values_list("block__outside_id", "version__text")) for s in story.corpus.snapshots.all()]
    return texts in rows


def answer(seat, into: dict[tuple[str, str], int], number: int) -> int:
    into[seat.query.outside_id, seat.entry.version.block.outside_id] = number % 4
    return number % 4
