"""Any HTTP endpoint that returns JSON, whose results are found by paths such as `hits[*].doc.id`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from apps.retrieval.core.engines.base import BadParameters, Parameters
from apps.retrieval.core.engines.remote import templates
from apps.retrieval.core.engines.remote.base import (
    Auth,
    RemoteAnswer,
    RemoteError,
    RemoteHit,
    RemoteQuery,
    Reply,
    Request,
    check_status,
    checked_headers,
    checked_id,
    checked_score,
    parsed,
)
from apps.retrieval.core.engines.remote.own_passages import MayCutPassages

_STEP = re.compile(
    r"""(?P<name>[^.\[\]"\s]+) | \[(?P<every>\*)\] | \[(?P<index>\d{1,6})\] | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]""",
    re.VERBOSE,
)
LONGEST = 300
METHODS = ("POST", "GET")
LONGEST_AFFIX = 200


class Every(Enum):
    ITEM = "[*]"


Step = str | int | Every
Path = tuple[Step, ...]


class NoSuchPlace(ValueError):
    """The answer has no value at a path; the message is a sentence for the user."""


def parse_path(text: str) -> Path:
    """The steps of a path to one value or, with one `[*]`, to a column of values. Raises BadParameters.

    Names are separated by dots. `[3]` is one item of a list (from 0), `[*]` every item, and `["a.b"]` a name with a dot
    or a bracket. A path may begin with a bracket when the answer itself is a list.
    """
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


@dataclass(frozen=True)
class HttpJson(MayCutPassages):
    """`url` and `body` are templates with `{{query}}`; `ids` and `scores` are the paths of the ranking in the answer.

    Without `scores` the order of the answer counts. The prefix `strip` is removed from an id that has it, then
    `prepend` is put in front. `version` names the deployed version; another version is another system.

    With any of `documents`, `texts` and `first_pages` (and `last_pages`), paths like the others, its hits are passages
    of its own.
    """

    url: str
    method: str = "POST"
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    ids: str = ""
    scores: str = ""
    lower_is_better: bool = False
    strip: str = ""
    prepend: str = ""
    version: str = ""
    documents: str = ""
    texts: str = ""
    first_pages: str = ""
    last_pages: str = ""
    auth: Auth = field(default_factory=Auth)

    name: ClassVar[str] = "http"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Raises BadParameters."""
        if self.method not in METHODS:
            raise BadParameters(f"{self.method!r} is not a supported method; choose one of {', '.join(METHODS)}.")
        if self.method == "GET" and self.body.strip():
            raise BadParameters("A GET request has no body. Put {{query}} into the address, or use POST.")
        _, rest = templates.split_address(self.url)
        template = templates.parse_body(self.body) if self.body.strip() else None
        if "query" not in templates.places_in(rest) | templates.places_in(template):
            raise BadParameters("{{query}} is missing, so every query would get the same answer.")
        self.own.check(self.ids)
        for label, path in self._paths.items():
            if Every.ITEM not in parse_path(path):
                raise BadParameters(f"The path to the {label.replace('_', ' ')} needs [*], for every item of the list.")
        if max(len(self.strip), len(self.prepend)) > LONGEST_AFFIX:
            raise BadParameters(f"A prefix of ids is at most {LONGEST_AFFIX} characters long.")
        checked_headers(self.headers)

    @property
    def _paths(self) -> dict[str, str]:
        """The paths that the answer is read at, by what is there. Only passages of its own may have no ids."""
        given = {"ids": self.ids, "scores": self.scores, **self.own._asdict()}
        return {label: path for label, path in given.items() if path or (label == "ids" and not self.returns_passages)}

    @property
    def address(self) -> str:
        """Scheme and host, without the path."""
        return templates.split_address(self.url)[0]

    def identity(self) -> Parameters:
        return {
            "engine": self.name,
            "revision": self.revision,
            "url": self.url.strip(),
            "method": self.method,
            "body": self.body,
            "headers": checked_headers(self.headers),
            "ids": self.ids,
            "scores": self.scores,
            "lower_is_better": self.lower_is_better,
            "strip": self.strip,
            "prepend": self.prepend,
            "version": self.version,
            **{name: path for name, path in self.own._asdict().items() if path},
            "auth": self.auth.values(),
        }

    def request(self, query: RemoteQuery, k: int) -> Request:
        values: dict[str, str | int] = {"query": query.text, "k": k, "query_id": query.query_id}
        path = templates.filled_address(templates.split_address(self.url)[1], values)
        if not path.startswith("/"):
            path = f"/{path}"
        headers = {"Accept": "application/json", **self.headers}
        if not self.body.strip():
            return Request(self.method, path, headers, None)
        body = json.dumps(templates.filled(templates.parse_body(self.body), values), ensure_ascii=False)
        return Request(self.method, path, {**headers, "Content-Type": "application/json"}, body.encode())

    def read(self, reply: Reply) -> RemoteAnswer:
        check_status(reply)
        answer = parsed(reply)
        try:
            columns = {label: column(parse_path(path), answer) for label, path in self._paths.items()}
        except NoSuchPlace as missing:
            raise RemoteError(str(missing)) from None
        (first, items), *others = columns.items()
        for label, values in others:
            if len(values) != len(items):
                words = f"{len(items):,} {first.replace('_', ' ')} and {len(values):,} {label.replace('_', ' ')}"
                raise RemoteError(f"The answer has {words}.")
        rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
        return RemoteAnswer([self._hit(row, number) for number, row in enumerate(rows, 1)])

    def _hit(self, row: dict[str, Any], number: int) -> RemoteHit:
        score = checked_score(row["scores"], number) if "scores" in row else None
        return self.hit(row, -score if self.lower_is_better and score is not None else score, number)

    def mapped(self, value: Any, number: int) -> str:
        return self.prepend + checked_id(value, number).removeprefix(self.strip)
