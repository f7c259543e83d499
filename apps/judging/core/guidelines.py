"""Validation of a guideline's grades, and the differences of two versions. No database."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, TypedDict

from apps.common.text.worddiff import Piece, word_diff

FEW_EXAMPLES = 5
MANY_EXAMPLES = 10


class GuidelineExample(TypedDict):
    """A pair that got the grade: question, block, and why that is the grade. A text alone is enough."""

    query: str
    text: str
    why: str


class GradeText(TypedDict):
    """The guideline's definition of one grade. An example that is a text alone is stored as that text."""

    grade: int
    name: str
    definition: str
    examples: list[str | GuidelineExample]


class GradeChange(NamedTuple):
    """The differences of two versions on one grade; `examples` are those changed, added or removed."""

    grade: int
    name: list[Piece]
    definition: list[Piece]
    examples: list[list[Piece]]
    is_touched: bool


def fault(grades: Any, scale: Sequence[int]) -> str | None:
    """What is missing in a guideline's grades, or None when each grade of the scale is defined."""
    if not isinstance(grades, list) or [entry.get("grade") for entry in grades] != sorted(scale):
        return f"A guideline defines each grade of the scale once: {', '.join(map(str, sorted(scale)))}."
    for entry in grades:
        if not str(entry.get("name", "")).strip():
            return f"Grade {entry['grade']} has no name."
        if not str(entry.get("definition", "")).strip():
            return f"Grade {entry['grade']} has no definition. Write when it is given."
        if not all(_is_example(example) for example in entry.get("examples", [])):
            return f"An example of grade {entry['grade']} is empty."
    return None


def _is_example(example: Any) -> bool:
    if isinstance(example, dict):
        parts = [example.get(part, "") for part in ("query", "text", "why")]
        return set(example) <= {"query", "text", "why"} and all(isinstance(p, str) for p in parts) and bool(parts[1])
    return isinstance(example, str) and bool(example.strip())


def as_example(example: str | GuidelineExample) -> GuidelineExample:
    """Any example with its three parts, missing ones empty."""
    if isinstance(example, str):
        return GuidelineExample(query="", text=example, why="")
    return GuidelineExample(query=example.get("query", ""), text=example["text"], why=example.get("why", ""))


def as_stored(example: GuidelineExample) -> str | GuidelineExample:
    """An example as a guideline stores it."""
    return example if example["query"] or example["why"] else example["text"]


def in_words(example: str | GuidelineExample) -> str:
    """An example as one text, for people to compare."""
    parts = as_example(example)
    query = f"{parts['query']} " if parts["query"] else ""
    because = f" ({parts['why']})" if parts["why"] else ""
    return f"{query}“{parts['text']}”{because}"


def few_examples(grades: Sequence[GradeText]) -> list[int]:
    """The grades with fewer examples than judges need to distinguish them (five)."""
    return [entry["grade"] for entry in grades if len(entry["examples"]) < FEW_EXAMPLES]


def highest_first(grades: Sequence[GradeText]) -> list[GradeText]:
    """The entries of a guideline's grades, highest grade first."""
    return sorted(grades, key=lambda entry: entry["grade"], reverse=True)


def changes(before: Sequence[GradeText], after: Sequence[GradeText]) -> list[GradeChange]:
    """The differences on each grade of the newer version, highest first. A new grade is all insertion."""
    old = {entry["grade"]: entry for entry in before}
    return [_change(old.get(entry["grade"]), entry) for entry in highest_first(after)]


def _change(old: GradeText | None, new: GradeText) -> GradeChange:
    was: GradeText = old or {"grade": new["grade"], "name": "", "definition": "", "examples": []}
    name = word_diff(was["name"], new["name"])
    definition = word_diff(was["definition"], new["definition"])
    examples = _examples_changed(was["examples"], new["examples"])
    is_touched = bool(examples) or any(piece.kind != "same" for piece in (*name, *definition))
    return GradeChange(new["grade"], name, definition, examples, is_touched)


def _examples_changed(
    old: Sequence[str | GuidelineExample], new: Sequence[str | GuidelineExample]
) -> list[list[Piece]]:
    """Word differences of the examples that are not in both, compared in order; a change of order alone is none."""
    removed = [in_words(example) for example in old if example not in new]
    added = [in_words(example) for example in new if example not in old]
    return [pieces for was, now in zip_longest(removed, added, fillvalue="") for pieces in _side_by_side(was, now)]


def _side_by_side(was: str, now: str) -> list[list[Piece]]:
    """One difference where the words are mostly the same, or else one removed and one added."""
    pieces = word_diff(was, now)
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    if 2 * same >= max(len(was), len(now)):
        return [pieces]
    return [word_diff(*pair) for pair in ((was, ""), ("", now)) if any(pair)]
