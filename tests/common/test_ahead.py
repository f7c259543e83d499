import threading

import pytest

from apps.common.database.ahead import Ahead

pytestmark = pytest.mark.once


@pytest.mark.parametrize("in_a_thread", [True, False])
def test_the_parts_come_in_their_order(in_a_thread):
    parts, seen = Ahead(range(5), in_a_thread=in_a_thread), []
    for part in parts:
        seen.append(part)
        if part % 2:
            parts.begin_next()
            parts.begin_next()  # begun once
    assert seen == [0, 1, 2, 3, 4]


def test_a_part_is_made_while_the_one_before_is_stored_and_no_earlier():
    made, may_be_made = [], threading.Event()

    def make():
        yield 0
        may_be_made.wait(30)
        made.append(1)
        yield 1

    parts = Ahead(make())
    coming = iter(parts)
    next(coming)
    assert made == []
    parts.begin_next()
    may_be_made.set()
    parts._coming.result(30)  # by the thread alone
    assert made == [1]
    assert [*coming] == [1]


@pytest.mark.parametrize("in_a_thread", [True, False])
def test_what_making_a_part_raises_comes_in_its_place(in_a_thread):
    def make():
        yield 0
        raise ValueError("the second part is broken")

    parts = Ahead(make(), in_a_thread=in_a_thread)
    coming = iter(parts)
    assert next(coming) == 0
    parts.begin_next()

    with pytest.raises(ValueError, match="second part"):
        next(coming)


def test_nothing_is_made_of_parts_that_nobody_wants_any_more():
    made = []
    parts = Ahead(made.append(number) or number for number in range(100))
    for part in parts:
        if part == 2:
            parts.begin_next()
            break
    assert len(made) <= 4
