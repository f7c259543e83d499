"""What the columns of a table can be, and the plan of an import: changes, samples, and the mistakes that stop it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_row
from apps.common.text.wording import plural

LEAVE_OUT = ""
SKIP = "skip"
"""What a grade of the file becomes that is left out."""
SAMPLED_ROWS = 200
EXACT, WITHIN = 3.0, 2.0
OF_NO_TEXT = frozenset(
    {"at", "by", "date", "id", "ids", "index", "key", "lang", "language", "model", "time", "uid", "uuid"}
)
"""Last words of headings whose columns are not taken for something by their values."""
MOST_WORDS = 3
"""Of a heading. A query that has the word "question" in it is longer."""


class ColumnRole(NamedTuple):
    """What a column can be. `headings` are the usual ones, in small letters without marks.

    `fits(values)` is a weight from 0 to 1 for how well filled values of a column fit, 0 to exclude them; a role with
    `by_values` is also proposed where no heading suggests it, one with `by_place` for the first column where there are
    no headings. `is_many`: several columns may be this. A heading with a word in `foreign` is another thing's: "Doc ID"
    is no id of a query. `of` is the role that it says something of: it has one value for each value of that, unless
    the heading is in `sure`. By its values it is not proposed beside the role `not_with`. `knows(values)` is the share
    of values that are here by this role, as ids.
    """

    name: str
    title: str
    headings: tuple[str, ...] = ()
    fits: Callable[[Sequence[str]], float] = lambda values: 0.5
    by_values: bool = False
    is_many: bool = False
    by_place: bool = False
    foreign: frozenset[str] = frozenset()
    of: str = ""
    sure: tuple[str, ...] = ()
    not_with: str = ""
    knows: Callable[[Sequence[str]], float] | None = None


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


_OF_CROWDS = re.compile(r"\A(?:(?:Input|Answer)\.|(?:INPUT|OUTPUT):)")
"""What Mechanical Turk and Toloka write before the names of fields."""


def plain_heading(heading: str) -> str:
    """The heading in small letters, its words divided by single blanks: "Doc_ID" is "doc id"."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", _OF_CROWDS.sub("", heading))
    return " ".join(re.findall(r"\w+", parted.replace("_", " ").casefold()))


def has_known_heading(roles: Iterable[ColumnRole], headings: Sequence[str]) -> bool:
    """Whether one of the cells of a row is a usual heading: "Key rotation" is none, though "key" is."""
    return bool(usual_headings(roles, headings))


def usual_headings(roles: Iterable[ColumnRole], headings: Sequence[str], *, most_words: int = 0) -> list[str]:
    """The cells that are usual headings, or a few words around one."""
    usual = {heading for role in roles for heading in role.headings}
    longer = [heading for heading in usual if len(heading) > 1]  # "Q 11" is an id

    def has_usual(words: str) -> bool:
        return words.count(" ") < most_words and any(f" {heading} " in f" {words} " for heading in longer)

    return [cell for cell in headings if (words := plain_heading(cell)) in usual or has_usual(words)]


class FirstRow(NamedTuple):
    """What the first row of a table is, its headings or a row like the others, and whether that is sure.

    `reason` is a sentence for this reading, `doubt` one for the other; "" for none.
    """

    are_headings: bool
    is_sure: bool
    reason: str
    doubt: str = ""


_NUMBERS = "numbers"
_SHAPES = (
    (_NUMBERS, re.compile(r"[+-]?[0-9][0-9.,]*\Z")),
    ("addresses", re.compile(r"(?:https?:/)?/\S+\Z")),
    ("ids", re.compile(r"(?=\S*[0-9])\S+\Z")),
    ("sentences", re.compile(r"\S+(?:\s+\S+){3,}\Z|.*[?!]\Z", re.DOTALL)),
)
"""What cells of data look like and short headings do not."""
WORDS = "words"
NO_HEADING = "None of its cells is a heading known here."


def first_row_of(roles: Sequence[ColumnRole], first: Sequence[str], rest: Sequence[Sequence[str]]) -> FirstRow:
    """Whether the first row has the headings, by the names that are usual and by what the rows below look like."""
    exact = usual_headings(roles, first)
    if len(exact) > 1 or (exact and len(first) == 1):
        return FirstRow(True, True, f"“{exact[0]}” is a usual heading.")
    alike, unlike = _beside_rest(first, rest)
    if near := exact or usual_headings(roles, first, most_words=MOST_WORDS):
        usual = f"“{near[0]}” is a usual heading."
        return FirstRow(True, not alike, usual, alike) if exact or not alike else FirstRow(False, False, alike, usual)
    if alike or not unlike:
        return FirstRow(False, bool(alike and not unlike), alike or NO_HEADING, unlike)
    return FirstRow(True, False, unlike, NO_HEADING)


def _beside_rest(first: Sequence[str], rest: Sequence[Sequence[str]]) -> tuple[str, str]:
    """In what the first row is like the others, and in what not, each as a sentence; "" for nothing."""
    alike = unlike = ""
    for place, cell in enumerate(first):
        below = [shape for row in rest[:SAMPLED_ROWS] if (shape := _shape(row[place]))]
        usual = max(sorted(set(below)), key=below.count, default=WORDS)
        if usual == WORDS or below.count(usual) * 2 <= len(below):
            continue
        if _shape(cell) == usual:
            alike = alike or f"“{cell}” is like the {usual} below it."
        elif _shape(cell) == WORDS:
            unlike = unlike or f"“{cell}” stands above {usual}."
    return alike, unlike


def _shape(cell: str) -> str:
    cell = cell.strip()
    return next((name for name, form in _SHAPES if form.match(cell)), WORDS if cell else "")


def named_columns(text: str, roles: Iterable[str]) -> dict[str, str]:
    """`Search=query,Stars=grade` as a role for each heading; it may have commas. Raises ValueError with a sentence."""
    part_form = re.compile(rf"([^=]*[^=\s][^=]*)=\s*({'|'.join(roles)})\s*(?:,|\Z)")
    columns: dict[str, str] = {}
    place = 0
    while place < len(text):
        part = part_form.match(text, place)
        if part is None:
            shown = text[place:].partition(",")[0].strip()
            raise ValueError(f"'{shown}' is not of the form heading=role; roles are {', '.join(roles)}")
        columns[part[1].strip()] = part[2]
        place = part.end()
    return columns


def propose_columns(
    roles: Iterable[ColumnRole],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    is_headless: bool = False,
) -> dict[str, str]:
    """A role for each heading, in the order of the headings; each role goes to the column that fits it best.

    `is_headless`: the table has none, and its columns are called by their letters.
    """
    roles = list(roles)
    values = [
        [cell.strip() for row in rows[:SAMPLED_ROWS] if (cell := row[place]).strip()] for place in range(len(headings))
    ]
    weights = [
        (weight, -order, -place, role, heading)
        for order, role in enumerate(roles)
        for place, heading in enumerate(headings)
        if (weight := _by_heading(role, heading) * (role.fits(values[place]) if values[place] else 0.5)) > 0
    ]
    chosen = _assigned(weights)
    for role in roles:
        if role.knows is not None and role.name not in chosen.values():
            known = [
                (share_here, -place, heading)
                for place, heading in enumerate(headings)
                if heading not in chosen and values[place] and (share_here := role.knows(values[place])) > 0.5
            ]
            chosen |= {heading: role.name for _, _, heading in sorted(known)[-1:]}
    counting = {heading for place, heading in enumerate(headings) if _number_rows(values[place], is_first=not place)}
    for role in roles:
        if role.by_place and is_headless:
            chosen |= _by_place(role, headings, values, chosen)
        is_taken = not {role.name, role.not_with}.isdisjoint(chosen.values())
        if role.by_values and role.is_many and not is_taken and not is_headless:
            chosen |= _several(role, headings, values, {*chosen, *counting})
        elif role.by_values and not role.is_many and not is_taken:
            left = [
                (weight, -place, heading)
                for place, heading in enumerate(headings)
                if heading not in {*chosen, *counting}
                and len(values[place]) * 2 > len(rows[:SAMPLED_ROWS])
                and (weight := role.fits(values[place])) > 0.5
                if plain_heading(heading).rpartition(" ")[2] not in OF_NO_TEXT and not _is_one_number(values[place])
            ]
            if left and not (is_headless and _are_alike(left, values)):
                chosen[max(left)[2]] = role.name
    for role in roles:
        for heading in [heading for heading, name in chosen.items() if name == role.name]:
            is_sure = not role.of or plain_heading(heading) in role.sure
            if not is_sure and not _is_one(role.of, heading, chosen, headings, rows):
                del chosen[heading]
    return {heading: chosen.get(heading, LEAVE_OUT) for heading in headings}


def _several(
    role: ColumnRole, headings: Sequence[str], values: Sequence[Sequence[str]], chosen: Collection[str]
) -> dict[str, str]:
    """The columns that are left as this role, where two or more fit it fully."""
    left = {
        heading: len(set(values[place])) > 1
        for place, heading in enumerate(headings)
        if heading not in chosen and values[place] and role.fits(values[place]) == 1
        if role.foreign.isdisjoint(plain_heading(heading).split())
    }
    return dict.fromkeys(left, role.name) if len(left) > 1 and any(left.values()) else {}


def _number_rows(values: Sequence[str], *, is_first: bool) -> bool:
    """Whether a column only numbers its rows from 0 or 1, as pandas writes its index: no values of anybody.

    Two rows do not tell, unless the column is the first one.
    """
    numbers = [int(value) for value in values if re.fullmatch("[0-9]{1,9}", value)]
    are_few = len(values) < (2 if is_first else 3)
    return not are_few and numbers[:1] in ([0], [1]) and numbers == [*range(numbers[0], numbers[0] + len(values))]


def _is_one_number(values: Sequence[str]) -> bool:
    """Whether a column has one number in all its rows, as the second one of qrels."""
    return len(values) > 1 and len(set(values)) == 1 and _shape(values[0]) == _NUMBERS


def _are_alike(left: Sequence[tuple[float, int, str]], values: Sequence[Sequence[str]]) -> bool:
    """Whether the best of several columns of numbers fits no better than another one."""
    best = [place for weight, place, _ in left if weight == max(left)[0]]
    return len(best) > 1 and all(_shape(value) == _NUMBERS for place in best for value in values[-place])


def _by_place(
    role: ColumnRole, headings: Sequence[str], values: Sequence[Sequence[str]], chosen: Mapping[str, str]
) -> dict[str, str]:
    """The first column as this role, where it stands before what it says something of, and most have a digit.

    One that numbers the rows is not meant where the next one has such ids too. Ids that repeat are no reason to take
    others: who imports them names those that stand twice.
    """
    of = next((heading for heading, name in chosen.items() if name == role.of), headings[0])
    before = [place for place, heading in enumerate(headings[: headings.index(of)]) if heading not in chosen]
    ids = [
        place
        for place in before
        if values[place] and role.fits(values[place]) > 0
        if share(values[place], lambda value: any(letter.isdigit() for letter in value)) > 0.5
    ]
    if not ids or ids[0]:
        return {}
    if _number_rows(values[0], is_first=True) and len(ids) > 1:
        del ids[0]
    return {headings[place]: role.name for place in ids[:1]}


def _is_one(
    of: str, heading: str, chosen: Mapping[str, str], headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> bool:
    """Whether the column has one value for each value of the column with the role `of`."""
    whole = next((other for other, name in chosen.items() if name == of), None)
    if whole is None:
        return True
    key, place, found = headings.index(whole), headings.index(heading), dict[str, str]()
    filled = [(one, value) for row in rows if (one := row[key].strip()) and (value := row[place].strip())]
    return all(found.setdefault(one, value) == value for one, value in filled)


def _assigned(weights: list[tuple[float, int, int, ColumnRole, str]]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for _, _, _, role, heading in sorted(weights, key=lambda one: one[:3], reverse=True):
        if heading not in chosen and (role.is_many or role.name not in chosen.values()):
            chosen[heading] = role.name
    return chosen


def _by_heading(role: ColumnRole, heading: str) -> float:
    plain = plain_heading(heading)
    if plain in role.headings:
        return EXACT - role.headings.index(plain) / 1_000  # of two usual headings the more usual one
    words = f" {plain} "
    if not role.foreign.isdisjoint(plain.split()):
        return 0.0
    # A letter is no word of a longer heading: "Column A" is no answer.
    return WITHIN if any(f" {usual} " in words for usual in role.headings if len(usual) > 1) else 0.0


def share(values: Sequence[str], has: Callable[[str], bool]) -> float:
    """The share of the values with a property; 0 for none."""
    return sum(map(has, values)) / len(values) if values else 0.0


T = TypeVar("T")
SAMPLES = 5
SAMPLE_LENGTH = 240
UNTOUCHED = "unchanged"


class Fix(NamedTuple):
    """Other options with which the same file can be read, offered as a button: "This is CSV." "Import as CSV".

    `name` distinguishes the fixes of one plan; `options` are those that change. With a `kind` it is a link to the form
    of that kind of import, where the file is chosen again.
    """

    name: str
    words: str
    button: str
    options: dict[str, Any]
    kind: str = ""


class ImportPlan:
    """Counts by kind of change ("new", "changed", "unchanged", "gone"), in display order."""

    def __init__(self, words: list[str]) -> None:
        self.counts: dict[str, int] = dict.fromkeys(words, 0)
        self.samples: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.fixes: list[Fix] = []
        self.rows = 0
        self.removes_all = False
        """Whether nothing of the file is in the corpus, and everything in it would go."""
        self.errors = ErrorList()
        self.questions: list[str] = []
        """Those of the mistakes that are none: what a person has to decide first."""
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

    def ask(self, question: InputError) -> None:
        """Refuse the import until a person has decided this."""
        self.errors.add(question)
        self.questions.append(question.message)

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
            "questions": self.questions,
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
            return f"{plural(self.rows, one, many)}: nothing changed."
        figures = ", ".join(
            f"{number:,} {_of_one(word) if number == 1 else word}" for word, number in self.counts.items()
        )
        return f"{plural(self.rows, one, many)}: {figures}."


def _of_one(word: str) -> str:
    """The name of a figure that is 1: "new query" of "new queries"."""
    return word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")


def until_broken(rows: Iterable[T], errors: ErrorList) -> Iterator[T]:
    """The rows up to a mistake after which the file cannot be read further; the mistake is added to the list."""
    try:
        yield from rows
    except InputError as error:
        errors.add(error)
