"""What `karat score` says of a file that is something else altogether."""

import io
import sys
from types import SimpleNamespace

import pytest

from apps.metrics.files.reading import AS_RUN_TABLE, AS_TABLE
from tests.cli.score.test_command import QRELS, RUN, score

OF_RUNS = "A run has lines of query Q0 block rank score tag, divided by blanks."
OF_QRELS = "Judgements have lines of query 0 block grade, divided by blanks"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run", QRELS, f"looks like judgements. {OF_RUNS} Were two files swapped?"),
        ("run", RUN.replace(" ", ","), f"is divided by commas. {OF_RUNS} {AS_RUN_TABLE}"),
        ("run", '{"Q1": ["a", 2.0]}\n', f"is JSON, not TREC's form. {OF_RUNS}"),
        ("qrels", RUN, "looks like a run. Are --qrels and --run swapped?"),
        ("qrels", "# of May\n" + RUN.replace(" ", "\t"), "looks like a run. Are --qrels and --run swapped?"),
        ("qrels", QRELS.replace(" ", ";"), f"is divided by semicolons. {OF_QRELS}. {AS_TABLE}"),
        ("qrels", "Q1 a 1\nQ2 a 0\n", f"has three columns. {OF_QRELS}: put a 0 in second place. {AS_TABLE}"),
        ("qrels", '[\n  {"query": "Q1",\n   "grade": 2}\n]\n', f"is JSON, not TREC's form. {OF_QRELS}."),
    ],
)
def test_a_file_that_is_something_else_is_named_once_with_its_cure(files, capsys, name, text, said):
    (files / name).write_text(text)

    assert score("--qrels", "qrels", "--run", "run") == 2

    assert capsys.readouterr().err == f"karat score: {name}: {said}\n"


def test_standard_input_is_guessed_at_too(files, capsys, monkeypatch):
    text = RUN.replace(" ", "\t").encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    assert score("--qrels", "-", "--run", "run") == 2

    assert capsys.readouterr().err == (
        "karat score: standard input: looks like a run. Are --qrels and --run swapped?\n"
    )


def test_a_mistake_that_all_lines_share_is_reported_once(files, capsys):
    (files / "run").write_text("Q1 a\nQ1 b\nQ2 c\n")

    assert score("--qrels", "qrels", "--run", "run") == 2

    assert capsys.readouterr().err == (
        "karat score: run, line 1, line: 'Q1 a': 2 fields where there must be six: query, Q0, block, rank, score, tag. "
        "All 3 lines have this error.\n"
    )


def test_a_table_with_bad_grades_is_not_guessed_at(files, capsys):
    (files / "qrels").write_text("query,block,grade\nQ1,a,good\nQ1,b,bad\n")

    assert score("--qrels", "qrels", "--run", "run") == 2

    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("karat score: qrels, line 2, grade: 'good' is not a whole number")
    assert second.startswith("karat score: qrels, line 3, grade: 'bad'")
