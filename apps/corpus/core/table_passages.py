"""What a person has to know or decide about the passages that a table names, in sentences with a button each."""

from collections.abc import Mapping, Sequence

from apps.common.files.near_ids import Proposal
from apps.corpus.core.columns import TableChoice
from apps.corpus.core.table_plans import DONE, WARN, TableMessage, taking, undoing

FIT_PASSAGES, FIRST_PASSAGES, LEAVE_PASSAGES = "fit-passages", "first-passages", "leave-passages"


def near_match(near: Proposal, choice: TableChoice, name: str, one: str, many: str) -> TableMessage:
    """The proposal for ids that nearly fit, or with Undo what it has matched."""
    count = len(near.fits)
    written, known = near.example
    examples = [f"{written} is {known}" for written, known in near.fits.items()]
    counted = f"{count:,} {one if count == 1 else many}"
    differ = "It differs" if count == 1 else "They differ"
    if name in choice.answers:
        title = f"{counted} matched. {differ} by {near.difference}: {written} is {known}."
        return TableMessage(DONE, title, "", examples, undoing(choice, name))
    words = f"{differ} by {near.difference}: {written} is {known}. Unmatched rows stay out."
    fix = taking(choice, name, f"Match all {count:,}" if count > 1 else "Match it")
    return TableMessage(WARN, f"{counted} nearly {'matches' if count == 1 else 'match'}.", words, examples, fix)


def about_several(several: Mapping[str, int], choice: TableChoice) -> TableMessage:
    title = f"{len(several):,} {'page has' if len(several) == 1 else 'pages have'} several passages here."
    examples = [f"{value}: {passages} passages" for value, passages in several.items()]
    if FIRST_PASSAGES in choice.answers:
        title += " A page counts as its first passage."
        return TableMessage(DONE, title, "", examples, undoing(choice, FIRST_PASSAGES))
    words = "Their rows stay out unless the first passage of each page is meant."
    return TableMessage(WARN, title, words, examples, taking(choice, FIRST_PASSAGES, "Use the first passage of each"))


def about_unknown_passages(unknown: Sequence[str], rows: int, snapshot: str, choice: TableChoice) -> TableMessage:
    title = f"{counted(len(unknown), 'passage')} {are(unknown)} not in {snapshot}."
    out = f"{counted(rows, 'row')} {'stays' if rows == 1 else 'stay'} out"
    if LEAVE_PASSAGES in choice.answers:
        return TableMessage(DONE, f"{title} {out}.", "", unknown, undoing(choice, LEAVE_PASSAGES))
    words = f"Such as {unknown[0]}. Another snapshot may have {'it' if len(unknown) == 1 else 'them'}."
    fix = taking(choice, LEAVE_PASSAGES, f"Leave out {counted(rows, 'row')}")
    return TableMessage(WARN, title, words, unknown, fix)


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def are(items: Sequence[object]) -> str:
    return "is" if len(items) == 1 else "are"
