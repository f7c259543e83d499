"""Telling of long waits: in the thread that asked for it, before and after, also when the wait fails."""

import threading

import pytest

from apps.common.database.long_waits import long_wait, tell_of_long_waits


def in_a_thread(do):
    """What `do` does must not be told in the thread of the tests."""
    thread = threading.Thread(target=do)
    thread.start()
    thread.join()


def test_whoever_listens_is_told_before_and_after():
    told = []

    def work():
        tell_of_long_waits(lambda: told.append("begin"), lambda: told.append("end"))
        with long_wait():
            told.append("waits")

    in_a_thread(work)

    assert told == ["begin", "waits", "end"]


def test_the_end_is_told_when_the_wait_fails():
    told = []

    def work():
        tell_of_long_waits(lambda: None, lambda: told.append("end"))
        with pytest.raises(OSError, match="no disk"), long_wait():
            raise OSError("no disk")

    in_a_thread(work)

    assert told == ["end"]


def test_nobody_is_told_of_the_waits_of_another_thread():
    told = []
    in_a_thread(lambda: tell_of_long_waits(lambda: told.append("begin"), lambda: told.append("end")))

    with long_wait():
        pass

    assert told == []
