"""Rows that are read once and come from disk after that."""

from apps.common.files.replayable_rows import ROWS_AT_ONCE, ReplayableRows


def counting(rows):
    calls = []

    def read():
        calls.append(len(calls))
        yield from rows

    return ReplayableRows(read), calls


def test_rows_are_read_once_however_often_they_are_asked_for():
    rows = [(number, f"text {number}", ("a", None)) for number in range(2 * ROWS_AT_ONCE + 1)]
    spool, calls = counting(rows)

    assert [list(spool), list(spool)] == [rows, rows]
    assert calls == [0]


def test_readers_do_not_disturb_each_other_nor_one_that_stops():
    spool, calls = counting(range(3 * ROWS_AT_ONCE))
    assert next(iter(spool)) == 0

    assert all(one == other for one, other in zip(spool, spool, strict=True))
    assert calls == [0]


def test_nothing_is_read_once_too():
    spool, calls = counting([])

    assert [list(spool), list(spool), calls] == [[], [], [0]]


def test_what_has_passed_is_not_read():
    spool, calls = counting([])

    assert list(spool.passing(["a", "bb"], len)) == ["a", "bb"]
    assert [list(spool), calls] == [[1, 2], []]


def test_what_has_passed_in_part_is_read_whole():
    spool, calls = counting([7])
    next(spool.passing(["a", "bb"], len))

    assert [list(spool), calls] == [[7], [0]]


def test_a_reading_that_failed_is_begun_anew():
    attempts = iter([ZeroDivisionError, None])

    def read():
        yield 1
        if fault := next(attempts):
            raise fault
        yield 2

    spool = ReplayableRows(read)
    try:
        list(spool)
    except ZeroDivisionError:
        assert list(spool) == [1, 2]
