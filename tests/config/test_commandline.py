"""The front door of the command line: what is answered without Django, and what is refused."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import BaseCommand
from django.db import OperationalError
from psycopg.errors import DiskFull

from apps.config import commandline
from apps.config.commandline import CLOSED, FAULT, MANAGED, OK, PURE, STOPPED, main
from tests.backups.running import command, environment, karat
from tests.conftest import REPO

pytestmark = pytest.mark.once

FULL = Path("/dev/full")


def test_the_version_is_printed_and_is_that_of_the_settings(capsys):
    assert main(["--version"]) == OK
    assert capsys.readouterr().out == f"karat {settings.VERSION}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["frobnicate"], "There is no command `karat frobnicate`; `karat --help` lists all.\n"),
        (["import"], "add one of corpus, queries, triples, judgements, run"),
        ([], "karat COMMAND --help"),
    ],
)
def test_words_that_are_no_command_are_rejected_with_the_way_to_the_list(capsys, words, said):
    assert main(words) == FAULT
    assert said in "".join(capsys.readouterr())


@pytest.mark.django_db
def test_a_refusal_is_its_sentence_and_nothing_else(capsys):
    words = ["import", "corpus", "blocks.csv", "--project", "nowhere", "--corpus", "c", "--format", "csv"]

    assert main(words) == FAULT
    assert capsys.readouterr().err == "There is no project nowhere. There are: none yet.\n"


def sqlite_is_full() -> Exception:
    fault = sqlite3.OperationalError("database or disk is full")
    fault.sqlite_errorcode = sqlite3.SQLITE_FULL
    return fault


@pytest.mark.parametrize("cause", [OSError(errno.ENOSPC, "No space left on device"), sqlite_is_full(), DiskFull()])
def test_a_full_disk_is_reported_in_a_sentence(monkeypatch, capsys, cause):
    def execute(*_, **__):
        if isinstance(cause, OSError):
            raise cause
        raise OperationalError(str(cause)) from cause

    monkeypatch.setattr(BaseCommand, "execute", execute)

    assert main(["import", "corpus", "blocks.csv", "--project", "p", "--corpus", "c"]) == FAULT
    said = "karat import corpus: the disk is full, so it stopped. Make room, then run the command again.\n"
    assert capsys.readouterr().err == said


def test_help_speaks_of_the_words_people_type_and_of_karat_s_options_only(capsys):
    with pytest.raises(SystemExit) as end:
        main(["import", "corpus", "--help"])

    said = capsys.readouterr().out
    assert end.value.code == OK
    assert said.startswith("usage: karat import corpus ")
    assert "--settings" not in said


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"KARAT_PRODUCTION": "maybe"}, "KARAT_PRODUCTION='maybe' is neither yes nor no. Set it to 1 or 0.\n"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is short or well known."),
        ({"KARAT_LOG_FORMAT": "xml"}, "KARAT_LOG_FORMAT='xml' is no format of the log. Set it to lines or json.\n"),
        ({}, "The database is empty. `karat up` or `karat upgrade` creates it. If Karat runs with --data-dir, set"),
    ],
)
def test_a_wrong_setting_and_an_empty_data_directory_are_reported_in_a_sentence(tmp_path, variables, said):
    done = karat("user", "list", env=environment(tmp_path, **variables))

    assert done.returncode == FAULT
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_database_of_an_earlier_version_has_a_message_of_its_own(tmp_path):
    karat("migrate", "sessions", "--verbosity", "0", env=environment(tmp_path))

    done = karat("freeze", "--project", "hut", "--corpus", "handbook", env=environment(tmp_path))

    assert done.returncode == FAULT
    assert done.stderr.startswith("The database is of an earlier version. Start Karat again")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_output_that_cannot_be_written_ends_in_a_sentence():
    with FULL.open("w") as full:
        ended = subprocess.run(command("score", "--list-measures"), cwd=REPO, stdout=full, stderr=-1, text=True)

    assert ended.returncode == FAULT
    assert ended.stderr == "karat score: the output cannot be written: No space left on device.\n"


# Whatever the terminal takes


def in_letters_of(folder, encoding: dict[str, str], *words: str) -> subprocess.CompletedProcess:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    env |= {"PYTHONPATH": str(REPO), **encoding}
    return subprocess.run(command(*words), cwd=folder, env=env, capture_output=True)


@pytest.fixture
def odd_files(tmp_path):
    """Files whose ids and tags no Latin-1 terminal has the letters for."""
    (tmp_path / "qrels").write_text("Q1 0 α 2\nQ1 0 b 0\nΩ2 0 α 1\n")
    (tmp_path / "run").write_text("Q1 Q0 b 1 2 лес\nQ1 Q0 α 2 1 лес\nΩ2 Q0 α 1 1 лес\n")
    (tmp_path / "run-2").write_text("Q1 Q0 b 1 2 b\nQ1 Q0 α 2 1 b\nΩ2 Q0 α 1 1 b\n")
    (tmp_path / "labels.csv").write_text("item,Аня,b,c\n1,1,1,2\n2,2,2,2\n3,1,2,1\n4,2,2,2\n")
    return tmp_path


LATIN = {"PYTHONIOENCODING": "latin-1"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NOWHERE = ("--server", "http://127.0.0.1:9", "--project", "λ", "--token-from", "λ")
WORDS = {
    "agree": ("agree", "labels.csv"),
    "score": ("score", "--qrels", "qrels", "--run", "run", "--compare", "run", "--run", "run-2", "--per-query"),
    "eval": ("eval", "nowhere-λ", "--run", "run"),
    "verify": ("verify", "nowhere-λ"),
    "hash-texts": ("hash-texts", "qrels"),
    "pull": ("pull", "λ/v1", "--out", "gold.zip", *NOWHERE),
    "push": ("push", "run", "--snapshot", "λ", "--system", "лес", "--tag", "лес", *NOWHERE),
}
CODES = {"agree": OK, "score": OK, "hash-texts": OK, "pull": 2, "push": 2}


@pytest.mark.parametrize("encoding", [LATIN, ASCII, {"LC_ALL": "C"}], ids=["latin-1", "ascii", "C"])
@pytest.mark.parametrize("name", PURE)
@pytest.mark.slow
def test_a_terminal_without_the_letters_gets_them_spelt(odd_files, name, encoding):
    done = in_letters_of(odd_files, encoding, *WORDS[name])

    assert b"Traceback" not in done.stderr
    assert done.returncode == CODES.get(name, 3)
    assert done.stdout or done.stderr
    if name == "score" and encoding is LATIN:
        assert "\\u03a92" in done.stdout.decode("latin-1")


@pytest.mark.parametrize("format", ["json", "csv", "tsv"])
@pytest.mark.parametrize("name", ["agree", "score"])
@pytest.mark.slow
def test_data_is_utf_8_on_any_terminal(odd_files, name, format):
    words = ["score", "--qrels", "qrels", "--run", "run", "--per-query"] if name == "score" else WORDS[name]

    latin, usual = (in_letters_of(odd_files, one, *words, "--format", format) for one in (LATIN, {"LC_ALL": "C.UTF-8"}))

    assert latin.returncode == OK
    assert latin.stdout == usual.stdout
    assert ("лес" if name == "score" else "Аня") in latin.stdout.decode()
    if format == "json":
        json.loads(latin.stdout)


@pytest.mark.slow
def test_the_help_is_printed_on_any_terminal(odd_files):
    for words in (["score", "--help"], ["score", "--list-measures"], ["agree", "--help"], ["--help"]):
        assert in_letters_of(odd_files, ASCII, *words).returncode == OK


# Stopped by hand


def hear_interrupts():
    """A suite that a shell runs in the background is deaf to them, and so would its children be."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_command_that_is_stopped_says_so_in_one_line(tmp_path):
    os.mkfifo(tmp_path / "qrels")
    (tmp_path / "run").write_text("Q1 Q0 b 1 2 t\n")
    words, env = command("score", "--qrels", "qrels", "--run", "run"), {**os.environ, "PYTHONPATH": str(REPO)}

    process = subprocess.Popen(
        words, cwd=tmp_path, env=env, stdout=-1, stderr=-1, text=True, preexec_fn=hear_interrupts
    )
    with process, (tmp_path / "qrels").open("wb"):  # it opens as soon as the other side reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert process.returncode == STOPPED
    assert (out, err) == ("", "karat score: stopped.\n")


@pytest.mark.parametrize("words", [[name] for name in PURE] + [["up"], ["import", "corpus"], ["migrate"], ["worker"]])
def test_every_command_ends_alike_when_it_is_stopped(monkeypatch, capsys, words):
    def stop(*_):
        raise KeyboardInterrupt

    for runner in ("run_pure", "run_up", "run_managed"):
        monkeypatch.setattr(commandline, runner, stop)

    assert main(words) == STOPPED
    assert capsys.readouterr().err == f"karat {words[0]}: stopped.\n"


@pytest.mark.parametrize("words", [("score", "--list-measures"), ("upgrade", "--plan")])
@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path, words):
    """As `karat --help | head -1` does, with a command that needs no Django and with one of Django's."""
    reading, writing = os.pipe()
    os.close(reading)

    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command(*words), cwd=REPO, env=environment(tmp_path), stdout=closed, stderr=-1)

    assert (done.returncode, done.stderr) == (CLOSED, b"")


@pytest.mark.parametrize("words", sorted(MANAGED))
def test_a_wrong_option_is_answered_with_the_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*words, "--nonsense"])

    assert ended.value.code == FAULT
    assert capsys.readouterr().err.startswith(f"usage: karat {' '.join(words)} ")
