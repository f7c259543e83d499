"""Paths of values in a JSON answer, such as `hits[*].doc.id`.

Names are separated by dots. `[3]` is one item of a list (from 0), `[*]` every item, and `["a.b"]` a name with a dot or
a bracket. A path may begin with a bracket when the answer itself is a list.
"""

import json
import re
from enum import Enum
from typing import Any

from apps.retrieval.core.engines.base import BadParameters

_STEP = re.compile(
    r"""(?P<name>[^.\[\]"\s]+) | \[(?P<every>\*)\] | \[(?P<index>\d{1,6})\] | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]""",
    re.VERBOSE,
)
LONGEST = 300


class Every(Enum):
    ITEM = "[*]"


Step = str | int | Every
Path = tuple[Step, ...]


class NoSuchPlace(ValueError):
    """The answer has no value at a path; the message is a sentence for the user."""


def parse_path(text: str) -> Path:
    """The steps of a path to one value or, with one `[*]`, to a column of values. Raises BadParameters."""
    if len(text) > LONGEST:
        raise BadParameters(f"The path is longer than {LONGEST} characters.")
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if text[place] == "." and steps and place + 1 < len(text) and text[place + 1] not in ".[":
            place += 1
        elif steps and text[place] != "[":
            raise _unreadable(text, place)
        match = _STEP.match(text, place)
        if match is None:
            raise _unreadable(text, place)
        steps.append(_step(text, match))
        place = match.end()
    if not steps:
        raise BadParameters("The path is empty. Enter the path to the ids, such as hits[*].id.")
    if steps.count(Every.ITEM) > 1:
        raise BadParameters(f"“{text}” has [*] more than once; a ranking is one list.")
    return tuple(steps)


def _step(text: str, match: re.Match[str]) -> Step:
    if match["every"]:
        return Every.ITEM
    if match["index"]:
        return int(match["index"])
    if match["name"]:
        return match["name"]
    try:
        return str(json.loads(match["quoted"]))
    except ValueError:
        raise _unreadable(text, match.start()) from None


def _unreadable(text: str, place: int) -> BadParameters:
    return BadParameters(
        f"“{text}” cannot be read from character {place + 1} on. Write names separated by dots, and [*] for every "
        "item of a list, such as hits[*].doc.id."
    )


def column(path: Path, answer: Any, *, is_optional: bool = False) -> list[Any]:
    """The values at a path with `[*]`, one per item, in order. Raises NoSuchPlace, also when one item has no value.

    Where it is optional, an item without a value has None.
    """
    star = path.index(Every.ITEM)
    items = _walk(path[:star], answer, "The answer")
    if not isinstance(items, list):
        raise NoSuchPlace(f"The answer has no list at {written(path[:star]) or 'its top'}.")
    values = []
    for number, item in enumerate(items, 1):
        try:
            values.append(_walk(path[star + 1 :], item, f"Item {number} of the answer"))
        except NoSuchPlace:
            if not is_optional:
                raise
            values.append(None)
    return values


def _walk(steps: Path, value: Any, owner: str) -> Any:
    for number, step in enumerate(steps, 1):
        if isinstance(step, str):
            is_there = isinstance(value, dict) and step in value
        else:
            is_there = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not is_there:
            raise NoSuchPlace(f"{owner} has nothing at {written(steps[:number])}.")
        value = value[step]
    return value


def written(path: Path) -> str:
    """The path as text, such as `parse_path` reads."""
    text = ""
    for step in path:
        if isinstance(step, Every):
            text += step.value
        elif isinstance(step, int):
            text += f"[{step}]"
        elif _STEP.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step)}]"
    return text
