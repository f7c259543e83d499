"""What a person has to know or decide about a table of grades, in sentences with a button each."""

from collections.abc import Mapping, Sequence

from apps.corpus.core.columns import TableChoice
from apps.corpus.core.table_plans import DONE, STOP, WARN, TableMessage, are, counted, near_match, taking, undoing
from apps.judging.core import table_roles as roles
from apps.judging.core.grade_values import is_same_grade
from apps.judging.execution.query_matching import QueryMatches
from apps.judging.execution.table_rows import TableRow

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


def about_grades(grades: Mapping[str, str], rows: Mapping[str, int]) -> list[TableMessage]:
    unread = [value for value, grade in grades.items() if not grade]
    if unread:
        count = sum(rows[value] for value in unread)
        title = f"{counted(count, 'grade')} {'has' if count == 1 else 'have'} no meaning here."
        return [TableMessage(WARN, title, "Choose it under “Grades become”; until then they stay out.", unread)]
    if not all(is_same_grade(value, grade) for value, grade in grades.items()):
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
