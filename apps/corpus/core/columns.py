"""What each column of a table is: proposed from its heading and values, then chosen by a person."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

LEAVE_OUT = ""
SKIP = "skip"
"""What a grade of the file becomes that is left out."""
SAMPLED_ROWS = 200
EXACT, WITHIN = 3.0, 2.0
MOST_WORDS = 3
"""Of a heading. A query that has the word "question" in it is longer."""


class ColumnRole(NamedTuple):
    """What a column can be. `headings` are the usual ones, in small letters without marks.

    `fits(values)` is a weight from 0 to 1 for how well filled values of a column fit, 0 to exclude them; a role with
    `by_values` is also proposed where no heading suggests it. `is_many`: several columns may be this.
    """

    name: str
    title: str
    headings: tuple[str, ...] = ()
    fits: Callable[[Sequence[str]], float] = lambda values: 0.5
    by_values: bool = False
    is_many: bool = False


@dataclass(frozen=True)
class TableChoice:
    """A person's choices for one table. `columns` maps each heading to a role, or to "" for left out.

    `grades` maps a grade of the file to one of ours, or to "skip". `answers` are the names of the messages whose
    proposal was taken.
    """

    sheet: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    grades: Mapping[str, str] = field(default_factory=dict)
    person: str = ""
    answers: tuple[str, ...] = ()
    remember: bool = True

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableChoice":
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        return cls(**known | {"answers": tuple(known.get("answers", ()))})

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"answers": list(self.answers)}

    def answered(self, name: str) -> "TableChoice":
        return replace(self, answers=(*self.answers, name))

    def unanswered(self, name: str) -> "TableChoice":
        return replace(self, answers=tuple(one for one in self.answers if one != name))

    def headings_of(self, role: str) -> list[str]:
        return [heading for heading, chosen in self.columns.items() if chosen == role]

    def heading_of(self, role: str) -> str | None:
        return next(iter(self.headings_of(role)), None)


def plain_heading(heading: str) -> str:
    """The heading in small letters, its words divided by single blanks: "Doc_ID" is "doc id"."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading)
    return " ".join(re.findall(r"\w+", parted.replace("_", " ").casefold()))


def has_known_heading(roles: Iterable[ColumnRole], headings: Sequence[str]) -> bool:
    """Whether a row is one of headings: one of its cells is a usual one, or a few words around one."""
    usual = [heading for role in roles for heading in role.headings]
    plain = [plain_heading(heading) for heading in headings]
    short = [f" {words} " for words in plain if words.count(" ") < MOST_WORDS]
    return bool(set(usual) & set(plain)) or any(f" {heading} " in words for heading in usual for words in short)


def propose_columns(
    roles: Iterable[ColumnRole], headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> dict[str, str]:
    """A role for each heading, in the order of the headings; each role goes to the column that fits it best."""
    roles = list(roles)
    values = [
        [cell.strip() for row in rows[:SAMPLED_ROWS] if (cell := row[place]).strip()] for place in range(len(headings))
    ]
    weights = [
        (weight, -order, -place, role, heading)
        for order, role in enumerate(roles)
        for place, heading in enumerate(headings)
        if (weight := _by_heading(role, heading) * _fit(role, values[place])) > 0
    ]
    chosen = _assigned(weights)
    for role in roles:
        if role.by_values and role.name not in chosen.values():
            left = [
                (weight, -place, heading)
                for place, heading in enumerate(headings)
                if heading not in chosen and values[place] and (weight := role.fits(values[place])) > 0.5
            ]
            if left:
                chosen[max(left)[2]] = role.name
    return {heading: chosen.get(heading, LEAVE_OUT) for heading in headings}


def _assigned(weights: list[tuple[float, int, int, ColumnRole, str]]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for _, _, _, role, heading in sorted(weights, key=lambda one: one[:3], reverse=True):
        if heading not in chosen and (role.is_many or role.name not in chosen.values()):
            chosen[heading] = role.name
    return chosen


def _by_heading(role: ColumnRole, heading: str) -> float:
    plain = plain_heading(heading)
    if plain in role.headings:
        return EXACT
    words = f" {plain} "
    return WITHIN if any(f" {usual} " in words for usual in role.headings) else 0.0


def _fit(role: ColumnRole, values: Sequence[str]) -> float:
    return role.fits(values) if values else 0.5


def share(values: Sequence[str], has: Callable[[str], bool]) -> float:
    """The share of the values with a property; 0 for none."""
    return sum(map(has, values)) / len(values) if values else 0.0
