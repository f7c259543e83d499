"""Rows on disk while a file is read, and the keys that it names twice."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

from apps.common.database.scratch import FirstLines, FirstValues, Scratch


def test_what_is_written_is_read_back_and_counted():
    scratch = Scratch("CREATE TABLE grade (query TEXT, value INTEGER);")

    written = scratch.write("INSERT INTO grade VALUES (?, ?)", [("b", 1), ("a", 2), ("ä", 3)])

    assert written == 3
    assert list(scratch.read("SELECT query FROM grade ORDER BY query")) == [("a",), ("b",), ("ä",)]
    assert scratch.value("SELECT value FROM grade WHERE query = ?", ["ä"]) == 3


def test_two_have_tables_of_their_own():
    one, two = Scratch("CREATE TABLE grade (value INTEGER);"), Scratch("CREATE TABLE grade (value INTEGER);")

    one.write("INSERT INTO grade VALUES (?)", [(1,)])

    assert list(two.read("SELECT value FROM grade")) == []


def test_a_key_that_was_named_before_has_the_line_of_the_first():
    lines = FirstLines()

    assert lines.take([("a", 1), ("b", 2)]) == {}
    assert lines.take([("c", 3), ("b", 4), ("c", 5), ("d", 6)]) == {1: 2, 2: 3}
    assert lines.take([("d", 7)]) == {0: 6}


def test_items_come_with_the_first_line_of_their_key():
    items = [("a", 1), ("b", 2), ("a", 3)]

    assert list(FirstLines().beside(items, lambda item: item)) == [(("a", 1), None), (("b", 2), None), (("a", 3), 1)]


def test_keys_without_a_line_are_noticed_too():
    assert FirstLines().take([("a", 0), ("a", 0)]) == {1: 0}


def test_keys_take_the_same_memory_however_many_they_are():
    def peak(count: int) -> int:
        lines = FirstLines()
        tracemalloc.start()
        for start in range(0, count, 1_000):
            lines.take([(f"doc-{n}", n) for n in range(start, start + 1_000)])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak(1_000)
    assert peak(20_000) < 1.2 * peak(5_000)


def test_what_one_thread_has_written_another_reads():
    scratch = Scratch("CREATE TABLE word (text TEXT);")
    scratch.write("INSERT INTO word VALUES (?)", [("one",)])

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(scratch.value, "SELECT text FROM word").result() == "one"


def test_the_first_value_of_a_key_stays_even_when_it_is_none():
    first = FirstValues()

    assert [first.setdefault("a", None), first.setdefault("a", 1)] == [None, None]
    assert [first.setdefault("b", 2), first.setdefault("b", 3)] == [2, 2]
