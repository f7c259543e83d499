"""What the page of a table shows: how it was read, its first rows, a message for each thing to know or decide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.common.errors import InputErrors
from apps.common.files.anytable import MOST_ROWS
from apps.common.files.faults import ErrorList, shown
from apps.common.files.near_ids import Proposal
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import LEAVE_OUT, ColumnRole, Fix, ImportPlan, TableChoice

SHOWN_ROWS = 5
SHOWN_CELL = 160
EXAMPLES = 12
LEAVE_FAULTY = "leave-faulty"
WARN, DONE, STOP = "warn", "done", "stop"


@dataclass
class TableMessage:
    """One thing about the table: `state` is WARN while a proposal is open, DONE, or STOP for what refuses the import.

    `fix` takes the proposal back or takes it, as its button says. `examples` are listed on demand.
    """

    state: str
    title: str
    words: str = ""
    examples: Sequence[str] = ()
    fix: Fix | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "title": self.title,
            "words": self.words,
            "examples": [shown(one) for one in self.examples[:EXAMPLES]],
            "more": max(0, len(self.examples) - EXAMPLES),
            "fix": self.fix.name if self.fix else "",
            "button": self.fix.button if self.fix else "",
        }


def unread_rows(errors: ErrorList) -> TableMessage:
    """The rows that cannot be read, which stay out."""
    title = (
        "1 row cannot be read and stays out."
        if errors.total == 1
        else f"{errors.total:,} rows cannot be read and stay out."
    )
    places = [f"line {error.line}, {error.field}" if error.field else f"line {error.line}" for error in errors]
    lines = [f"{place}: {error.message}" for place, error in zip(places, errors, strict=True)]
    return TableMessage(WARN, title, "", lines)


def taking(choice: TableChoice, name: str, button: str) -> Fix:
    """The fix that takes the proposal `name`."""
    return Fix(name, "", button, {"table": choice.answered(name).as_json()})


def undoing(choice: TableChoice, name: str, button: str = "Undo") -> Fix:
    """The fix that takes back the proposal `name`."""
    return Fix(f"undo-{name}", "", button, {"table": choice.unanswered(name).as_json()})


@dataclass
class Reading:
    """One way to read a table where that is not sure: its first rows under their columns, and the reasons."""

    fix: Fix
    rows: int
    reason: str
    against: str
    headings: Sequence[str]
    sample: Sequence[Sequence[str]]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.fix.name,
            "title": self.fix.words,
            "rows": self.rows,
            "reason": self.reason,
            "against": self.against,
            "headings": list(self.headings),
            "sample": [list(map(_cut, row)) for row in self.sample],
        }


@dataclass
class TableView:
    """A table and the choices for it, as stored in the plan. `hows` say how the values of a column are read.

    `grades` are (grade of the file, our grade or "" or "skip", rows), `scale` our grades by name. `readings` are the
    ways to read it, between which a person has to choose first; none where that is sure.
    """

    how: str
    headings: Sequence[str]
    roles: Sequence[ColumnRole]
    choice: TableChoice
    sheets: Sequence[str] = ()
    rows: int = 0
    sample: Sequence[Sequence[str]] = ()
    hows: Mapping[str, str] = field(default_factory=dict)
    messages: list[TableMessage] = field(default_factory=list)
    grades: Sequence[tuple[str, str, int]] = ()
    scale: Sequence[tuple[int, str]] = ()
    asks_person: bool = False
    is_remembered: bool = False
    button: str = ""
    aside: str = ""
    readings: Sequence[Reading] = ()

    @property
    def refusals(self) -> list[str]:
        """Why the table cannot be imported yet."""
        return [message.title for message in self.messages if message.state == STOP]

    @property
    def fixes(self) -> list[Fix]:
        return [*(one.fix for one in self.readings), *(message.fix for message in self.messages if message.fix)]

    def as_json(self) -> dict[str, Any]:
        return {
            "how": self.how,
            "choice": self.choice.as_json(),
            "sheets": list(self.sheets),
            "rows": self.rows,
            "columns": [self._column(heading) for heading in self.headings],
            "roles": [[role.name, role.title] for role in self.roles],
            "sample": [
                [
                    {"text": _cut(cell), "is_out": self.choice.columns.get(heading, LEAVE_OUT) == LEAVE_OUT}
                    for heading, cell in zip(self.headings, row, strict=True)
                ]
                for row in self.sample[:SHOWN_ROWS]
            ],
            "messages": [message.as_json() for message in self.messages],
            "grades": [list(grade) for grade in self.grades],
            "scale": [[grade, name] for grade, name in self.scale],
            "asks_person": self.asks_person,
            "is_remembered": self.is_remembered,
            "is_refused": bool(self.refusals),
            "button": self.button,
            "aside": self.aside,
        }

    def _column(self, heading: str) -> dict[str, str]:
        role = self.choice.columns.get(heading, LEAVE_OUT)
        return {"heading": heading, "role": role, "how": self.hows.get(heading, "" if role else "not imported")}


def show_table(plan: ImportPlan, view: TableView, source: TableFile) -> None:
    """Show the table on the page of the import; what refuses it is asked by the plan, whose mistakes become a message.

    Rows with mistakes refuse the import until they are left out by the button of their message.
    """
    if plan.errors:
        view.messages.append(_about_faulty(plan.errors, view.choice))
    elif LEAVE_FAULTY in view.choice.answers:
        title = "Rows with mistakes stay out."
        view.messages.append(TableMessage(DONE, title, fix=undoing(view.choice, LEAVE_FAULTY)))
    if plan.errors.warnings:
        view.messages.append(_about_warnings(plan.errors))
    plan.extra["table"] = view.as_json()
    if view.readings:
        plan.extra["readings"] = [one.as_json() for one in view.readings]
    plan.fixes += view.fixes
    for reason in view.refusals[: bool(view.readings)] if plan.errors else view.refusals:
        plan.ask(source.error(None, "", "", reason))


def show_readings(plan: ImportPlan, question: str, readings: Sequence[Reading], source: TableFile) -> None:
    """Ask on the page of the import between these readings of the file."""
    plan.extra["readings"] = [one.as_json() for one in readings]
    plan.fixes += [one.fix for one in readings]
    plan.ask(source.error(None, "", "", question))


def ask_for_text(plan: ImportPlan, said: str) -> None:
    """Ask on the page of documents which column of a table is the text; `said` is what columns are said to be.

    The mistakes of the plan have that question already, where it is not sure.
    """
    table = next((table for table in plan.extra.get("tables", ()) if table["rivals"]), None)
    if table is None:
        return
    longest, rivals = table["roles"]["text"], table["rivals"]
    readings = [
        Reading(
            fix=Fix(
                f"text:{heading}",
                f"The text is in “{heading}”",
                "Read it so",
                {"columns": ",".join(filter(None, [said, f"{heading}=text"]))},
            ),
            rows=0,
            reason=f"It is more than a third as long as “{longest}”." if heading in rivals else "It is the longest.",
            against="It is shorter." if heading in rivals else f"“{rivals[0]}” is long too.",
            headings=[f"{name}, the text" if name == heading else name for name in table["headings"]],
            sample=table["sample"],
        )
        for heading in (longest, *rivals)
    ]
    plan.extra["readings"] = [one.as_json() for one in readings]
    plan.fixes += [one.fix for one in readings]
    plan.questions.append(f"Which column of {table['path']} is the text?")


def _about_warnings(errors: ErrorList) -> TableMessage:
    """What was noticed in rows that are imported."""
    first = errors.warnings[0]
    title = plural(errors.warnings_total, "row is worth a look.", "rows are worth a look.")
    examples = [f"line {one.line}, {one.field} {one.value}: {one.message}" for one in errors.warnings]
    return TableMessage(WARN, title, f"Line {first.line}, {first.field}: {first.message}.", examples)


def refuse_unsettled(view: TableView, source: TableFile) -> None:
    """Raise InputErrors with what a person has yet to decide about a table."""
    if view.refusals:
        raise InputErrors([source.error(None, "", "", reason) for reason in view.refusals])


def _about_faulty(errors: ErrorList, choice: TableChoice) -> TableMessage:
    first = next(iter(errors))
    title = plural(errors.total, "row has a mistake.", "rows have mistakes.")
    where = f"{first.field}: {first.message}" if first.field else first.message
    words = f"Line {first.line}, {where}."
    examples = [f"line {error.line}, {error.field} {error.value}: {error.message}" for error in errors]
    button = "Leave out this row" if errors.total == 1 else "Leave out these rows"
    return TableMessage(STOP, title, words, examples, taking(choice, LEAVE_FAULTY, button))


def lines_with_mistakes(choice: TableChoice, check: Callable[[ErrorList], Any]) -> set[int | None]:
    """The lines that stay out because of their mistakes, where that was chosen. `check` reads all rows."""
    if LEAVE_FAULTY not in choice.answers:
        return set()
    errors = ErrorList(limit=MOST_ROWS)
    check(errors)
    return {error.line for error in errors}


def _cut(cell: str) -> str:
    return cell if len(cell) <= SHOWN_CELL else f"{cell[:SHOWN_CELL].rstrip()}…"


FIT_PASSAGES, FIRST_PASSAGES, LEAVE_PASSAGES = "fit-passages", "first-passages", "leave-passages"


def near_match(near: Proposal, choice: TableChoice, name: str, one: str, many: str) -> TableMessage:
    """The proposal for ids that nearly fit, or with Undo what it has matched."""
    count = len(near.fits)
    written, known = near.example
    examples = [f"{written} is {known}" for written, known in near.fits.items()]
    counted = plural(count, one, many)
    differ = "It differs" if count == 1 else "They differ"
    if name in choice.answers:
        title = f"{counted} matched. {differ} by {near.difference}: {written} is {known}."
        return TableMessage(DONE, title, "", examples, undoing(choice, name))
    words = f"{differ} by {near.difference}: {written} is {known}. Unmatched rows stay out."
    fix = taking(choice, name, f"Match all {count:,}" if count > 1 else "Match it")
    return TableMessage(WARN, f"{counted} nearly {'matches' if count == 1 else 'match'}.", words, examples, fix)


def about_several(several: Mapping[str, int], choice: TableChoice) -> TableMessage:
    title = f"{plural(len(several), 'page has', 'pages have')} several passages here."
    examples = [f"{value}: {passages} passages" for value, passages in several.items()]
    if FIRST_PASSAGES in choice.answers:
        title += " A page counts as its first passage."
        return TableMessage(DONE, title, "", examples, undoing(choice, FIRST_PASSAGES))
    words = "Their rows stay out unless the first passage of each page is meant."
    return TableMessage(WARN, title, words, examples, taking(choice, FIRST_PASSAGES, "Use the first passage of each"))


def about_unknown_passages(unknown: Sequence[str], rows: int, snapshot: str, choice: TableChoice) -> TableMessage:
    title = f"{plural(len(unknown), 'passage')} {are(unknown)} not in {snapshot}."
    out = f"{plural(rows, 'row')} {'stays' if rows == 1 else 'stay'} out"
    if LEAVE_PASSAGES in choice.answers:
        return TableMessage(DONE, f"{title} {out}.", "", unknown, undoing(choice, LEAVE_PASSAGES))
    words = f"Such as {unknown[0]}. Another snapshot may have {'it' if len(unknown) == 1 else 'them'}."
    fix = taking(choice, LEAVE_PASSAGES, f"Leave out {plural(rows, 'row')}")
    return TableMessage(WARN, title, words, unknown, fix)


def are(items: Sequence[object]) -> str:
    return "is" if len(items) == 1 else "are"
