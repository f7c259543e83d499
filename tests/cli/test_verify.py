import argparse
import json

import pytest

from apps.cli import verify as command
from apps.goldsets.formats.folder import write_folder
from tests.goldsets.content import FACTS, SMALL


@pytest.fixture
def export(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    write_folder(SMALL, folder, formats=["all"], facts=FACTS)
    return folder


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["verify", *words])
    return arguments.run(arguments)


def test_exit_codes_and_output(export, capsys):
    assert _run(str(export)) == 0
    assert capsys.readouterr().out.startswith("Intact: 33 files, ")

    (export / "beir/queries.jsonl").write_text("")
    assert _run(str(export), "--format", "json") == 1
    assert json.loads(capsys.readouterr().out) == {
        "intact": False,
        "files": 33,
        "faults": ["beir/queries.jsonl differs from the manifest."],
        "signed_by": None,
    }

    assert _run(str(export / "nowhere")) == 3
    assert "neither a folder nor a file" in capsys.readouterr().err
