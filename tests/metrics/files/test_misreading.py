"""A file is scored as it was meant, or refused with its line: never scored wrong in silence."""

import argparse
import contextlib
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.cli.score import command
from tests.walks import often

QRELS = [["Q1", "0", "a", "2"], ["Q1", "0", "b", "0"], ["Q2", "0", "a", "1"], ["Q2", "0", "c", "1"]]
RUN = [
    ["Q1", "Q0", "b", "1", "2.5", "t"],
    ["Q1", "Q0", "a", "2", "1.5", "t"],
    ["Q2", "Q0", "c", "1", "9.5", "t"],
    ["Q2", "Q0", "a", "2", "9.0", "t"],
]
ENDS = ["\n", "\r\n", "\r", "\r\r\n", "\n\r", "\n\n", " \n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"]


def lines_of(rows: list[list[str]], ends: list[str], blank: str) -> str:
    return "".join(blank.join(row) + ends[at % len(ends)] for at, row in enumerate(rows))


def scored(folder, qrels: str, run: str) -> tuple[dict | None, str]:
    """The figures of `karat score`, None where it refuses, and what it says."""
    (folder / "qrels").write_bytes(qrels.encode())
    (folder / "run").write_bytes(run.encode())
    parser = argparse.ArgumentParser(prog="karat")
    command.add_parser(parser.add_subparsers(required=True))
    files = ["--qrels", str(folder / "qrels"), "--run", str(folder / "run")]
    args = parser.parse_args(["score", *files, "--no-ci", "--format", "json", "--per-query"])
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = args.run(args)
    return (json.loads(out.getvalue()), err.getvalue()) if code == 0 else (None, err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("misreading")


@pytest.fixture(scope="module")
def meant(folder):
    found, _ = scored(folder, lines_of(QRELS, ["\n"], " "), lines_of(RUN, ["\n"], " "))
    return found


def test_a_run_whose_lines_end_in_cr_alone_is_refused_by_line(folder):
    found, said = scored(folder, lines_of(QRELS, ["\n"], " "), lines_of(RUN, ["\r"], " "))

    assert found is None
    assert "run, line 1, line end: " in said
    assert "the line contains a carriage return (CR)" in said


def test_judgements_whose_lines_end_in_cr_alone_are_not_taken_for_a_run(folder):
    found, said = scored(folder, lines_of(QRELS, ["\r"], " "), lines_of(RUN, ["\n"], " "))

    assert found is None
    assert "qrels, line 1, line end: " in said
    assert "swapped" not in said


def test_a_line_of_seven_fields_is_refused_by_line(folder):
    run = [*RUN, ["Q1", "Q0", "c", "2", "1", "8.5", "t"]]

    found, said = scored(folder, lines_of(QRELS, ["\n"], " "), lines_of(run, ["\n"], " "))

    assert found is None
    assert "run, line 5, line: " in said
    assert "7 fields where there must be six" in said


@given(
    ends=st.lists(st.sampled_from(ENDS), min_size=1, max_size=4),
    blank=st.sampled_from([" ", "\t", "  ", " \t"]),
    of=st.sampled_from(["qrels", "run"]),
)
@settings(max_examples=often(25, 150), deadline=None)
def test_any_line_ends_are_read_as_meant_or_refused(folder, meant, ends, blank, of):
    rows = {"qrels": lines_of(QRELS, ["\n"], " "), "run": lines_of(RUN, ["\n"], " ")}
    rows[of] = lines_of(QRELS if of == "qrels" else RUN, ends, blank)

    found, said = scored(folder, **rows)

    assert found == meant or (found is None and ", line " in said)


@given(
    at=st.integers(0, 3),
    place=st.integers(0, 6),
    more=st.lists(st.sampled_from(["x", "1", "8.5", "Q1", "0"]), min_size=1, max_size=7),
    of=st.sampled_from(["qrels", "run"]),
)
@settings(max_examples=often(25, 150), deadline=None)
def test_fields_too_many_anywhere_are_refused(folder, at, place, more, of):
    wanted = QRELS if of == "qrels" else RUN
    rows = {"qrels": lines_of(QRELS, ["\n"], " "), "run": lines_of(RUN, ["\n"], " ")}
    changed = [[*row[:place], *more, *row[place:]] if number == at else row for number, row in enumerate(wanted)]
    rows[of] = lines_of(changed, ["\n"], " ")

    found, said = scored(folder, **rows)

    assert found is None
    assert f"line {at + 1}" in said
