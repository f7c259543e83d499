"""The front door of the command line: what is answered without Django, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from apps.config.cli import CLOSED, FAULT, OK, main
from tests.conftest import REPO

FULL = Path("/dev/full")


def test_the_version_is_told_and_is_that_of_the_settings(capsys):
    assert main(["--version"]) == OK
    assert capsys.readouterr().out == f"karat {settings.VERSION}\n"


def test_a_word_that_is_no_command_is_refused_with_the_way_to_the_list(capsys):
    assert main(["frobnicate"]) == FAULT
    assert capsys.readouterr().err == "There is no command `karat frobnicate`; `karat --help` lists all.\n"


def test_import_alone_says_what_can_be_imported(capsys):
    assert main(["import"]) == FAULT
    assert "add one of corpus, queries, triples, judgements, run" in capsys.readouterr().err


def test_no_words_at_all_give_the_overview_and_the_code_of_a_mistake(capsys):
    assert main([]) == FAULT
    assert "karat COMMAND --help" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_refusal_is_its_sentence_and_nothing_else(capsys):
    words = ["import", "corpus", "blocks.csv", "--project", "nowhere", "--corpus", "c", "--format", "csv"]

    assert main(words) == FAULT
    assert capsys.readouterr().err == "There is no project nowhere. There are: none yet.\n"


def test_help_speaks_of_the_words_people_type_and_of_karat_s_options_only(capsys):
    with pytest.raises(SystemExit) as end:
        main(["import", "corpus", "--help"])

    said = capsys.readouterr().out
    assert end.value.code == OK
    assert said.startswith("usage: karat import corpus ")
    assert "--settings" not in said


def in_a_process(data_dir, *words, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"KARAT_DATA_DIR": str(data_dir), **variables}
    command = [sys.executable, "-m", "apps.config.cli", *words]
    return subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("KARAT_PRODUCTION", "maybe", "KARAT_PRODUCTION='maybe' is neither yes nor no. Set it to 1 or 0.\n"),
        ("SECRET_KEY", "short", "SECRET_KEY is short or well known."),
    ],
)
def test_a_setting_that_is_wrong_is_told_in_a_sentence(tmp_path, name, value, said):
    done = in_a_process(tmp_path, "user", "list", **{name: value})

    assert done.returncode == FAULT
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr


def test_an_empty_data_directory_is_told_from_a_broken_one(tmp_path):
    done = in_a_process(tmp_path, "user", "list")

    assert done.returncode == FAULT
    assert "set KARAT_DATA_DIR to the same folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_output_that_cannot_be_written_ends_in_a_sentence():
    with FULL.open("w") as full:
        ended = subprocess.run(line_of("score", "--list-measures"), stdout=full, stderr=subprocess.PIPE, text=True)

    assert ended.returncode == FAULT
    assert ended.stderr == "karat score: the output cannot be written: No space left on device.\n"


def test_a_reader_that_goes_away_ends_the_command_without_a_word():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        ended = subprocess.run(line_of("score", "--list-measures"), stdout=closed, stderr=subprocess.PIPE, text=True)

    assert (ended.returncode, ended.stderr) == (CLOSED, "")


def line_of(*words):
    return [sys.executable, "-c", "import sys; from apps.config.cli import main; sys.exit(main(sys.argv[1:]))", *words]
