import time

import pytest

from apps.config.supervisor import TICK_SECONDS, Child, Supervisor


def test_a_failing_helper_does_not_stop_others_from_being_restarted(caplog) -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        supervisor.is_stopping = len(said) == 2

    def fail() -> None:
        raise RuntimeError("database is locked")

    supervisor = Supervisor(say=say)
    supervisor.start("worker", lambda: None, after_death=fail)

    supervisor.watch()

    supervisor.stop()
    assert said == ["The worker ended and is started again."] * 2
    assert {record.getMessage() for record in caplog.records} == {
        "The clean-up after the end of the worker failed. It is restarted all the same."
    }


def test_a_child_whose_pulse_stands_still_is_killed_and_started_again() -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        supervisor.is_stopping = len(said) == 2

    supervisor = Supervisor(say=say)
    stuck = supervisor.start("web server", lambda: time.sleep(600), pulse=lambda: 7, stuck_seconds=0.2)
    first = stuck.pid

    supervisor.watch()

    supervisor.stop()
    assert first is not None
    assert said == ["The web server no longer responds and is ended.", "The web server ended and is started again."]


@pytest.mark.parametrize(
    ("pulses", "is_stuck"),
    [([1, 1, 1, 1], True), ([1, 1, 1, 2], False), ([1, 1, 2, 2, 2], False), ([1, 2, 2, 2, 2], True)],
)
def test_a_child_is_stuck_after_so_many_looks_at_the_same_pulse(pulses, is_stuck) -> None:
    seen = iter(pulses)
    child = Child("web server", lambda: None, pulse=lambda: next(seen), stuck_seconds=3 * TICK_SECONDS)

    assert [child.is_stuck() for _ in pulses][-1] == is_stuck
