"""Where in a JSON answer a value stands: `hits[*].doc.id`.

Names divided by points, `[3]` for one item of a list (from 0), `[*]` for every item, and `["a.b"]` for a name that
holds a point or a bracket. A path that begins with a bracket starts at the answer itself.
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
    """The answer does not have what a path names; the message is a sentence to show."""


def parse_path(text: str) -> Path:
    """The steps of a path that names one value or, with one `[*]`, a column of values. Raises BadParameters."""
    if len(text) > LONGEST:
        raise BadParameters(f"The path is longer than {LONGEST} characters.")
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if text[place] == "." and steps and place + 1 < len(text) and text[place + 1] not in ".[":
            place += 1
        elif steps and text[place] != "[":
            raise _stops_at(text, place)
        found = _STEP.match(text, place)
        if found is None:
            raise _stops_at(text, place)
        steps.append(_step(text, found))
        place = found.end()
    if not steps:
        raise BadParameters("The path is empty. Give the place of the ids, such as hits[*].id.")
    if steps.count(Every.ITEM) > 1:
        raise BadParameters(f"“{text}” has [*] more than once; a ranking is one list.")
    return tuple(steps)


def _step(text: str, found: re.Match[str]) -> Step:
    if found["every"]:
        return Every.ITEM
    if found["index"]:
        return int(found["index"])
    if found["name"]:
        return found["name"]
    try:
        return str(json.loads(found["quoted"]))
    except ValueError:
        raise _stops_at(text, found.start()) from None


def _stops_at(text: str, place: int) -> BadParameters:
    return BadParameters(
        f"“{text}” cannot be read from character {place + 1} on. Write names separated by dots, and [*] for every "
        "item of a list, such as hits[*].doc.id."
    )


def column(path: Path, answer: Any) -> list[Any]:
    """The values a path with `[*]` names, one an item, in order. Raises NoSuchPlace, also for an item without one."""
    turn = path.index(Every.ITEM)
    items = _walk(path[:turn], answer, "The answer")
    if not isinstance(items, list):
        raise NoSuchPlace(f"The answer has no list at {worded(path[:turn]) or 'its top'}.")
    return [_walk(path[turn + 1 :], item, f"Item {number} of the answer") for number, item in enumerate(items, 1)]


def _walk(steps: Path, value: Any, whose: str) -> Any:
    for number, step in enumerate(steps, 1):
        if isinstance(step, str):
            is_there = isinstance(value, dict) and step in value
        else:
            is_there = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not is_there:
            raise NoSuchPlace(f"{whose} has nothing at {worded(steps[:number])}.")
        value = value[step]
    return value


def worded(path: Path) -> str:
    """The path as people write it."""
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
