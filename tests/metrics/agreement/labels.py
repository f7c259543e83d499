"""Small files of labels, and `karat agree` as a test calls it."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from apps.cli.agree import command

LONG = """\
item,annotator,label
a,ann,1
a,bob,1
b,ann,0
b,bob,2
c,ann,2
c,bob,2
d,ann,0
d,bob,0
"""
WIDE = """\
item,ann,bob
a,1,1
b,0,2
c,2,2
d,0,0
"""
KRIPPENDORFF = """\
unit,A,B,C,D
1,1,1,*,1
2,2,2,3,2
3,3,3,3,3
4,3,3,3,3
5,2,2,2,2
6,1,2,3,4
7,4,4,4,4
8,1,1,2,1
9,2,2,2,2
10,*,5,5,5
11,*,*,1,1
12,*,3,*,*
"""


def writer(folder: Path) -> Callable[..., str]:
    """Writes a file of labels into the folder, and returns its name."""

    def write(text: str, name: str = "labels.csv") -> str:
        (folder / name).write_text(text)
        return name

    return write


def agree(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="karat")
    command.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["agree", "--resamples", "200", *arguments])
    return args.run(args)


def agree_json(capsys, *arguments: str) -> dict:
    assert agree("--format", "json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert agree(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.replace("karat agree: ", "").strip()
