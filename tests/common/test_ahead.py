"""Parts that a thread makes while the one before is in use."""

import threading

import pytest

from apps.common.database.ahead import ahead


def test_parts_keep_their_order_and_each_is_made_while_the_one_before_is_in_use():
    second_is_being_made = threading.Event()

    def parts():
        yield 1
        second_is_being_made.set()
        yield 2

    made = ahead(parts())

    assert next(made) == 1
    assert second_is_being_made.wait(timeout=10)
    assert list(made) == [2]


def test_only_one_part_is_made_ahead():
    begun = []

    def parts():
        for number in range(5):
            begun.append(number)
            yield number

    made = ahead(parts())
    next(made)
    made.close()  # waits for the part that is being made

    assert begun == [0, 1]


def test_what_making_a_part_raises_is_raised_where_it_would_come():
    def parts():
        yield 1
        raise ValueError("the second part")

    made = ahead(parts())

    assert next(made) == 1
    with pytest.raises(ValueError, match="the second part"):
        next(made)


def test_no_parts_are_no_parts():
    assert list(ahead([])) == []
