"""What a person has to know or decide about a table of grades, in sentences with a button each."""

from collections.abc import Mapping, Sequence

from apps.common.files.near_ids import Proposal
from apps.corpus.core.columns import TableChoice
from apps.corpus.core.table_plans import DONE, STOP, WARN, TableMessage, taking, undoing
from apps.judging.core import table_roles as roles
from apps.judging.execution.passage_matching import Passage
from apps.judging.execution.query_matching import QueryMatches
from apps.judging.execution.table_rows import TableRow

FIT_PASSAGES, FIRST_PASSAGES, LEAVE_PASSAGES = "fit-passages", "first-passages", "leave-passages"
FIT_QUERIES, NO_NEW_QUERIES, LAST_GRADES = "fit-queries", "no-new-queries", "last-grades"


def missing_columns(choice: TableChoice) -> list[TableMessage]:
    """A message for each required column that nobody has named."""
    has = {role for role in choice.columns.values() if role}
    titles = []
    if not has & {roles.QUERY, roles.QUERY_ID}:
        titles.append("Choose the column of the queries.")
    if roles.PASSAGE not in has:
        titles.append("Choose the column of the passages.")
    if not has & {roles.GRADE, roles.RATED}:
        titles.append("Choose the column of the grades.")
    if {roles.GRADE, roles.RATED} <= has:
        titles.append("Grades are in one column, or in a column for each person. Choose one of the two.")
    return [TableMessage(STOP, title) for title in titles]


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


def about_queries(matches: QueryMatches, choice: TableChoice) -> list[TableMessage]:
    messages = []
    if matches.near:
        messages.append(near_match(matches.near, choice, FIT_QUERIES, "query id", "query ids"))
    offered = set(matches.near.fits) if matches.near else set()
    if lost := [query_id for query_id in matches.lost if query_id not in offered]:
        title = f"{counted(len(lost), 'query id')} {are(lost)} not here."
        messages.append(
            TableMessage(WARN, title, "Their rows stay out: they have no text to create a query from.", lost)
        )
    if matches.new:
        first, last = matches.new[0][0], matches.new[-1][0]
        ids = f"the id {first}" if len(matches.new) == 1 else f"the ids {first} to {last}"
        title = f"{counted(len(matches.new), 'new query', 'new queries')} {are(matches.new)} created, with {ids}."
        texts = [text for _, text in matches.new]
        messages.append(TableMessage(DONE, title, "", texts, taking(choice, NO_NEW_QUERIES, "Leave them out")))
    if matches.unmade:
        title = f"{counted(len(matches.unmade), 'query', 'queries')} that {are(matches.unmade)} not here stay out."
        fix = undoing(choice, NO_NEW_QUERIES, "Create missing queries")
        messages.append(TableMessage(WARN, title, "", matches.unmade, fix))
    return messages


def about_several(several: Mapping[str, Sequence[Passage]], choice: TableChoice) -> TableMessage:
    title = f"{len(several):,} {'page has' if len(several) == 1 else 'pages have'} several passages here."
    examples = [f"{value}: {len(passages)} passages" for value, passages in several.items()]
    if FIRST_PASSAGES in choice.answers:
        title += " The grade of a page counts for its first passage."
        return TableMessage(DONE, title, "", examples, undoing(choice, FIRST_PASSAGES))
    words = "The grades are of whole pages. Their rows stay out unless the first passage of each is meant."
    return TableMessage(WARN, title, words, examples, taking(choice, FIRST_PASSAGES, "Use the first passage of each"))


def about_unknown_passages(unknown: Sequence[str], rows: int, snapshot: str, choice: TableChoice) -> TableMessage:
    title = f"{counted(len(unknown), 'passage')} {are(unknown)} not in {snapshot}."
    out = f"{counted(rows, 'row')} {'stays' if rows == 1 else 'stay'} out"
    if LEAVE_PASSAGES in choice.answers:
        return TableMessage(DONE, f"{title} {out}.", "", unknown, undoing(choice, LEAVE_PASSAGES))
    words = f"Such as {unknown[0]}. Another snapshot may have {'it' if len(unknown) == 1 else 'them'}."
    fix = taking(choice, LEAVE_PASSAGES, f"Leave out {counted(rows, 'row')}")
    return TableMessage(WARN, title, words, unknown, fix)


def about_grades(grades: Mapping[str, str], rows: Mapping[str, int]) -> list[TableMessage]:
    unread = [value for value, grade in grades.items() if not grade]
    if unread:
        count = sum(rows[value] for value in unread)
        title = f"{counted(count, 'grade')} {'has' if count == 1 else 'have'} no meaning here."
        return [TableMessage(WARN, title, "Choose it under “Grades become”; until then they stay out.", unread)]
    if any(value != grade for value, grade in grades.items()):
        return [TableMessage(DONE, "The grades are read on this project's scale, as “Grades become” lists.")]
    return []


def about_ungraded(rows: Sequence[TableRow]) -> TableMessage:
    become = "becomes a query only" if len(rows) == 1 else "become queries only"
    title = f"{counted(len(rows), 'row')} without a grade {become}."
    return TableMessage(DONE, title, "", [row.query or row.query_id for row in rows])


def about_contradictions(rows: Sequence[TableRow], choice: TableChoice) -> TableMessage:
    title = f"{counted(len(rows), 'pair')} {'has' if len(rows) == 1 else 'have'} different grades in the table."
    examples = [f"line {row.line}: {row.query or row.query_id}, {row.passage}" for row in rows]
    if LAST_GRADES in choice.answers:
        return TableMessage(DONE, f"{title} The last one counts.", "", examples, undoing(choice, LAST_GRADES))
    fix = taking(choice, LAST_GRADES, "Use the last grade of each")
    return TableMessage(WARN, title, "They stay out unless the last one counts.", examples, fix)


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def are(items: Sequence[object]) -> str:
    return "is" if len(items) == 1 else "are"
