"""The plan of an import: counts of changes, a few samples, and the mistakes that stop it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_row

T = TypeVar("T")
SAMPLES = 5
SAMPLE_LENGTH = 240
UNTOUCHED = "unchanged"


class Fix(NamedTuple):
    """Other options with which the same file can be read, offered as a button: "This is CSV." "Import as CSV".

    `name` distinguishes the fixes of one plan; `options` are those that change.
    """

    name: str
    words: str
    button: str
    options: dict[str, Any]


class ImportPlan:
    """Counts by kind of change ("new", "changed", "unchanged", "gone"), in display order."""

    def __init__(self, words: list[str]) -> None:
        self.counts: dict[str, int] = dict.fromkeys(words, 0)
        self.samples: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.fixes: list[Fix] = []
        self.rows = 0
        self.errors = ErrorList()
        self.extra: dict[str, Any] = {}
        """Further values of the plan's JSON, of kinds that show more; they go before those of the same name."""
        self._sampled = dict.fromkeys(words, 0)

    def add(self, word: str, outside_id: str, title: str, text: str) -> None:
        """Count one row, and store it as a sample when it is among the first of its kind."""
        self.rows += 1
        self.counts[word] += 1
        if word != UNTOUCHED and self._sampled[word] < SAMPLES:
            self._sampled[word] += 1
            shown = text if len(text) <= SAMPLE_LENGTH else f"{text[:SAMPLE_LENGTH].rstrip()}…"
            self.samples.append({"change": word, "id": outside_id, "title": title, "text": shown})

    def take_errors(self, errors: ErrorList) -> None:
        """Use this list as the plan's mistakes, and sort it by line."""
        errors.sort()
        self.errors = errors

    @property
    def changes_nothing(self) -> bool:
        return not any(number for word, number in self.counts.items() if word != UNTOUCHED)

    def as_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts,
            "rows": self.rows,
            "samples": self.samples,
            "notes": self.notes,
            "errors": [as_row(error) for error in self.errors],
            "errors_total": self.errors.total,
            "error_groups": self.errors.groups.as_json(),
            "warnings": [as_row(warning) for warning in self.errors.warnings],
            "warnings_total": self.errors.warnings_total,
            "warning_groups": self.errors.warning_groups.as_json(),
            "fixes": [fix._asdict() for fix in self.fixes],
            "changes_nothing": self.changes_nothing,
            **self.extra,
        }

    def sentence(self, one: str, many: str) -> str:
        """The figures in words: "80 blocks: 3 new, 1 changed, 76 unchanged, 0 gone." """
        if self.changes_nothing:
            return f"{self.rows:,} {one if self.rows == 1 else many}: nothing changed."
        figures = ", ".join(
            f"{number:,} {_of_one(word) if number == 1 else word}" for word, number in self.counts.items()
        )
        return f"{self.rows:,} {one if self.rows == 1 else many}: {figures}."


def _of_one(word: str) -> str:
    """The name of a figure that is 1: "new query" of "new queries"."""
    return word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")


def until_broken(rows: Iterable[T], errors: ErrorList) -> Iterator[T]:
    """The rows up to a mistake after which the file cannot be read further; the mistake is added to the list."""
    try:
        yield from rows
    except InputError as error:
        errors.add(error)
