"""What limits a machine: figures that are fed, and one measurement."""

import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from apps.config import doctor, up
from apps.config.doctor import POSTGRESQL, REFERENCE_WORK_MS, SQLITE, Figures, limits, report, warning
from apps.jobs.execution.sweep import beat

SMALL = Figures(SQLITE, is_near=True, cores=2, work_ms=REFERENCE_WORK_MS, round_trip_ms=0.0, commit_ms=1.0)
SERVER = SMALL._replace(engine=POSTGRESQL, round_trip_ms=0.1, commit_ms=2.0)


@pytest.mark.parametrize(
    ("figures", "part", "grades"),
    [
        (SMALL, "the processor", 800),
        (SMALL._replace(cores=1, work_ms=2 * REFERENCE_WORK_MS), "the processor", 200),
        (SMALL._replace(commit_ms=100.0), "the disk of the database", 160),
        (SMALL._replace(cores=64), "the disk of the database", 16000),
        (SERVER, "the processor", 385),
        (SERVER._replace(is_near=False), "the processor", 800),
        (SERVER._replace(commit_ms=100.0), "the disk of the database", 160),
        (SERVER._replace(is_near=False, round_trip_ms=20.0), "the way to the database", 160),
        (SERVER._replace(round_trip_ms=0.0, commit_ms=0.0), "the processor", 385),
    ],
)
def test_the_narrowest_part_is_named_with_what_it_allows(figures, part, grades):
    narrowest = limits(figures)[0]

    assert (narrowest.part, round(narrowest.grades)) == (part, grades)
    assert f"What limits grading here is {part}: about " in report(figures)[2]
    moves_away = figures.engine == POSTGRESQL and figures.is_near and part == "the processor"
    assert ("or PostgreSQL on another machine" in report(figures)[2]) == moves_away


def test_the_report_says_what_was_measured_what_limits_and_what_to_change():
    assert report(SMALL._replace(commit_ms=25.0)) == [
        "Processor: 2 cores, 1.0 times the time of an ordinary core.",
        "Database: SQLite, 25.0 ms to make a commit safe.",
        "What limits grading here is the disk of the database: about 640 grades a second, enough for 6,400 people who "
        "take 10 seconds for each. A solid state disk of this machine for the data directory allows more, or "
        "PostgreSQL.",
        "The other parts allow more: the processor 800.",
    ]


@pytest.mark.parametrize(
    ("figures", "line"),
    [
        (SMALL, ""),
        (SERVER, ""),
        (SMALL._replace(commit_ms=doctor.SLOW_COMMIT_MS), ""),
        (SMALL._replace(commit_ms=40.0), "The disk of the database is slow: 40 ms for a commit. About 400 grades"),
        (SERVER._replace(round_trip_ms=12.0), "The database is far away: 12 ms for a round trip. About 270 grades"),
        (SMALL._replace(work_ms=5 * REFERENCE_WORK_MS), "The processor is slow: 5 times the time of an ordinary core."),
    ],
)
def test_one_line_warns_of_what_is_unusual(figures, line):
    assert warning(figures).startswith(line)
    assert bool(warning(figures)) is bool(line)


@pytest.mark.parametrize(
    ("number", "shown"), [(0.4, "0"), (7.2, "7"), (42.1, "42"), (456.0, "460"), (12_345.0, "12,000")]
)
def test_an_estimate_has_two_digits(number, shown):
    assert doctor.rounded(number) == shown


@pytest.mark.django_db(transaction=True)
def test_this_machine_is_measured_and_nothing_stays(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("apps.config.management.commands.doctor.SECONDS", 0.05)
    monkeypatch.setattr("apps.config.doctor.settings.DATA_DIR", tmp_path)
    beside = Path(connection.settings_dict["NAME"]).parent
    before = set(beside.glob(".doctor-*"))

    begun = time.perf_counter()
    figures = doctor.measure(seconds=0.05)
    took = time.perf_counter() - begun
    beat("one")
    call_command("doctor")

    assert figures.engine == {"sqlite": SQLITE, "postgresql": POSTGRESQL}[connection.vendor]
    assert figures.cores >= 1
    assert figures.work_ms > 0
    assert figures.commit_ms < took * 1000
    told = capsys.readouterr().out
    assert "What limits grading here is " in told
    assert "fine     Worker: 1 running; last seen " in told
    assert set(beside.glob(".doctor-*")) <= before
    assert [path.name for path in tmp_path.iterdir()] == ["host-id"], "of the worker"


@pytest.mark.django_db(transaction=True)
def test_what_is_broken_is_told_with_what_mends_it_and_ends_with_code_1(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "measure", lambda **_: SMALL)

    with pytest.raises(CommandError, match=r"^No worker is at work") as broken:
        call_command("doctor")

    assert broken.value.returncode == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("No worker is at work")
    place = told.index("broken   Worker: None has been seen yet. Jobs and mail wait.")
    assert told[place + 1].startswith("         To mend it: `karat up` runs one")
    assert told[-4:] == report(SMALL)


@pytest.mark.parametrize("fault", [None, DatabaseError("away"), OSError(28, "No space left on device")])
def test_the_start_tells_what_is_slow_and_goes_on_where_that_cannot_be_measured(fault, monkeypatch):
    slow = SMALL._replace(commit_ms=40.0)

    def measure(**_):
        if fault:
            raise fault
        return slow

    monkeypatch.setattr(doctor, "measure", measure)

    assert up.slow_parts() == ([] if fault else [warning(slow)])
