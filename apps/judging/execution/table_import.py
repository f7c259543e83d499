"""Grades from a table of any shape: which rows become grades and queries, and what a person has to know or decide.

Nothing is stored here. A row whose query, passage or grade is not known stays out and is counted in a message.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.common.files.anytable import Table
from apps.common.files.faults import ErrorList
from apps.common.files.numbers import is_nothing, number_in
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import SAMPLED_ROWS, SKIP, ColumnRole, TableChoice, share
from apps.corpus.core.table_plans import (
    DONE,
    FIT_PASSAGES,
    STOP,
    WARN,
    TableMessage,
    TableView,
    are,
    near_match,
    taking,
    undoing,
    unread_rows,
)
from apps.corpus.execution.import_reading import open_mapped
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.passage_matching import NamedPassage, PassageMatches, match_passages, passages_that_count
from apps.judging.core import table_roles as roles
from apps.judging.core.table_roles import is_same_grade, propose_grades
from apps.judging.execution.graded_rows import Graded, GradedRows
from apps.judging.execution.judgement_import import (
    JudgementDraft,
    MatchedQuery,
    QueryMatches,
    digest_line,
    draft_of,
    final_line,
    match_queries,
)
from apps.judging.formats.judgements import grade_key
from apps.judging.formats.ratings import NAME_LENGTH
from apps.judging.formats.recognition import opener_of
from apps.queries.models import Query
from apps.queries.selectors import names_in


class TableRow(NamedTuple):
    """One row: the query by id or text, the passage as written, grades by rater ("" for the one of the file)."""

    line: int
    query_id: str
    query: str
    passage: str
    ratings: tuple[tuple[str, str], ...]
    final: str
    note: str

    @property
    def is_graded(self) -> bool:
        return any(value for _, value in self.ratings)

    @property
    def is_named(self) -> bool:
        """Whether it names a query and a passage: the grade of another, such as a total, means nothing."""
        return bool(self.passage and any(self.asked))

    @property
    def asked(self) -> tuple[str, str]:
        """The query as the row names it: id and text, either may be empty."""
        return self.query_id, self.query

    @property
    def grades(self) -> Iterator[str]:
        """The grades of the row as written, the final one too."""
        yield from (value for value in (*(value for _, value in self.ratings), self.final) if value)


def rows_of(headings: Sequence[str], rows: Iterable[tuple[int, list[str]]], choice: TableChoice) -> list[TableRow]:
    return [_row(line, dict(zip(headings, cells, strict=True)), choice) for line, cells in rows]


def _row(line: int, cells: Mapping[str, str], choice: TableChoice) -> TableRow:
    def cell(role: str) -> str:
        heading = choice.heading_of(role)
        return cells[heading].strip() if heading else ""

    def grade(heading: str | None) -> str:
        written = cells[heading].strip() if heading else ""
        return "" if is_nothing(written) else written

    rated = choice.headings_of(roles.RATED)
    person = cell(roles.PERSON) or choice.person.strip()
    return TableRow(
        line=line,
        query_id=cell(roles.QUERY_ID),
        query=cell(roles.QUERY),
        passage=cell(roles.PASSAGE),
        ratings=tuple((heading[:NAME_LENGTH], grade(heading)) for heading in rated)
        or ((person[:NAME_LENGTH], grade(choice.heading_of(roles.GRADE))),),
        final=grade(choice.heading_of(roles.FINAL)),
        note=cell(roles.NOTE),
    )


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
        title = f"{plural(len(lost), 'query id')} {are(lost)} not here."
        messages.append(
            TableMessage(WARN, title, "Their rows stay out: they have no text to create a query from.", lost)
        )
    if matches.new:
        first, last = matches.new[0][0], matches.new[-1][0]
        ids = f"the id {first}" if len(matches.new) == 1 else f"the ids {first} to {last}"
        title = f"{plural(len(matches.new), 'new query', 'new queries')} {are(matches.new)} created, with {ids}."
        texts = [text for _, text in matches.new]
        messages.append(TableMessage(DONE, title, "", texts, taking(choice, NO_NEW_QUERIES, "Leave them out")))
    if matches.crossed:
        title = f"{plural(len(matches.crossed), 'id stands', 'ids stand')} beside the words of another query."
        messages.append(
            TableMessage(WARN, title, "The ids count; correct the file if the words are meant.", matches.crossed)
        )
    if matches.unmade:
        title = f"{plural(len(matches.unmade), 'query', 'queries')} that {are(matches.unmade)} not here stay out."
        fix = undoing(choice, NO_NEW_QUERIES, "Create missing queries")
        messages.append(TableMessage(WARN, title, "", matches.unmade, fix))
    return messages


def about_grades(grades: Mapping[str, str], rows: Mapping[str, int]) -> list[TableMessage]:
    messages = []
    if unread := [value for value, grade in grades.items() if not grade]:
        count = sum(rows[value] for value in unread)
        title = f"{plural(count, 'grade')} {'has' if count == 1 else 'have'} no meaning here."
        words = "Choose it under “Grades become”; until then they stay out."
        messages.append(TableMessage(WARN, title, words, unread))
    if not all(is_same_grade(value, grade) for value, grade in grades.items() if grade):
        title = "The grades are read on this project's scale, as “Grades become” lists."
        messages.append(TableMessage(DONE, title))
    return messages


def about_unnamed(rows: Sequence[TableRow]) -> list[TableMessage]:
    """A message for the grades of nothing: rows that name no passage, and rows that name no query."""
    messages = []
    for what, unnamed in (
        ("passage", [row for row in rows if row.is_graded and not row.passage]),
        ("query", [row for row in rows if row.is_graded and not any(row.asked)]),
    ):
        if unnamed:
            title = f"{plural(len(unnamed), 'row')} with a grade {'names' if len(unnamed) == 1 else 'name'} no {what}"
            out = "stays" if len(unnamed) == 1 else "stay"
            places = [f"line {row.line}: {row.query or row.query_id or row.passage}" for row in unnamed]
            messages.append(TableMessage(WARN, f"{title} and {out} out.", "", places))
    return messages


def about_ungraded(rows: Sequence[TableRow], queries: QueryMatches) -> Iterator[TableMessage]:
    """Of the rows without a grade: those that alone make a new query of theirs, and those of which nothing is taken."""
    new = {query_id for query_id, _ in queries.new}
    graded = {queries.found[row.asked].outside_id for row in rows if row.is_graded and row.asked in queries.found}
    made, rest = list[TableRow](), list[TableRow]()
    for row in rows:
        if not row.is_graded:
            query = queries.found.get(row.asked)
            (made if query and query.outside_id in new - graded else rest).append(row)
    only = plural(len({queries.found[row.asked].outside_id for row in made}), "query", "queries")
    for some, one, many in (
        (made, "becomes a query only", f"become {only} only"),
        (rest, "stays out", "stay out"),
    ):
        if some:
            title = f"{plural(len(some), 'row')} without a grade {one if len(some) == 1 else many}."
            yield TableMessage(DONE, title, "", [row.query or row.query_id for row in some])


def about_contradictions(rows: Sequence[TableRow], choice: TableChoice) -> TableMessage:
    title = f"{plural(len(rows), 'pair')} {'has' if len(rows) == 1 else 'have'} different grades in the table."
    examples = [f"line {row.line}: {row.query or row.query_id}, {row.passage}" for row in rows]
    if LAST_GRADES in choice.answers:
        return TableMessage(DONE, f"{title} The last one counts.", "", examples, undoing(choice, LAST_GRADES))
    fix = taking(choice, LAST_GRADES, "Use the last grade of each")
    return TableMessage(WARN, title, "They stay out unless the last one counts.", examples, fix)


KIND = "judgements"
PASSAGES_COLUMN, GRADES_COLUMN = "passage of the column", "grade in the cell"
MOST_GRADES_SHOWN = 40


class TableDraft(NamedTuple):
    """Grades of a table, before anything is stored. `new_queries` are ids and texts that do not exist yet."""

    draft: JudgementDraft
    new_queries: list[tuple[str, str]]
    view: TableView


class _Collected(NamedTuple):
    """The grades that count, by query id, passage and rater, and what was noticed on the way."""

    kept: dict[tuple[str, NamedPassage, str], Graded]
    finals: dict[tuple[int, int], int]
    contradicting: list[TableRow]
    repeated: int
    skipped: int


def read_table(
    source: TableFile, *, project: Project, snapshot: Snapshot, options: Mapping[str, Any], format: str = ""
) -> TableDraft:
    """Read a table, or the export of a tool, against the project's queries and a snapshot.

    Raises InputError for what is none.
    """
    opener = _with_passages_as_rows(opener_of(format), snapshot)
    table = open_mapped(
        source, project=project, kind=KIND, roles=_knowing_ids(project, snapshot), options=options, opener=opener
    )
    view = table.view
    rows = rows_of(view.headings, table.lines, view.choice)
    scale = {entry["grade"]: entry["name"] for entry in project.scale}
    written = Counter(value for row in rows if row.is_named for value in row.grades)
    is_named = bool(options.get("grades"))
    view.choice = _with_grades(view.choice, written, {} if is_named else propose_grades(written, scale), scale)
    view.rows = len(rows)
    view.scale = list(scale.items())
    view.messages += missing_columns(view.choice)
    if is_named and (lacking := [value for value, grade in view.choice.grades.items() if not grade]):
        view.messages.append(TableMessage(STOP, f"The grade map has no entry for {', '.join(lacking)}."))
    if view.refusals:
        return TableDraft(_draft(snapshot, _Collected({}, {}, [], 0, 0)), [], view)
    return _read_rows(rows, project, snapshot, view, written, table.errors)


def _knowing_ids(project: Project, snapshot: Snapshot) -> list[ColumnRole]:
    """The roles, of which those of ids know what is here."""

    def here(values: Sequence[str], ids: QuerySet[Any], field: str) -> float:
        known = set(ids.filter(**{f"{field}__in": set(values)}).values_list(field, flat=True))
        return share(values, known.__contains__)

    queries, passages = Query.objects.filter(project=project), SnapshotBlock.objects.filter(snapshot=snapshot)
    knowing = {
        roles.QUERY_ID: lambda values: here(values, queries, "outside_id"),
        roles.PASSAGE: lambda values: here(values, passages, "block__outside_id"),
    }
    return [role._replace(knows=knowing.get(role.name)) for role in roles.ROLES]


def _blocks_in(snapshot: Snapshot, written: Iterable[str]) -> set[str]:
    """Those of these texts that are ids of passages here."""
    blocks = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=set(written))
    return set(blocks.values_list("block__outside_id", flat=True))


def _with_passages_as_rows(opener: Callable[..., Table], snapshot: Snapshot) -> Callable[..., Table]:
    """The opener, with a row for each grade of a table that has a column for each passage, by its id."""

    def opened(source: TableFile, errors: ErrorList, **options: Any) -> Table:
        table = opener(source, errors, **options)
        ids = _blocks_in(snapshot, table.headings)
        head = list(islice(table.rows, SAMPLED_ROWS))
        table = table._replace(rows=chain(head, table.rows))
        if len(ids) < 2 or _blocks_in(snapshot, {cell.strip() for _, cells in head for cell in cells}):
            return table
        others = [place for place, heading in enumerate(table.headings) if heading not in ids]
        graded = [place for place, heading in enumerate(table.headings) if heading in ids]
        rows = (
            (line, [*(cells[other] for other in others), table.headings[place], cells[place]])
            for line, cells in table.rows
            for place in graded
            if not is_nothing(cells[place])
        )
        headings = [*(table.headings[other] for other in others), PASSAGES_COLUMN, GRADES_COLUMN]
        note = f"{len(ids):,} columns are passages, by their ids: each cell below is a grade."
        known = {**table.known, PASSAGES_COLUMN: roles.PASSAGE, GRADES_COLUMN: roles.GRADE}
        return table._replace(headings=headings, rows=rows, known=known, notes=[*table.notes, note])

    return opened


def _read_rows(
    rows: list[TableRow],
    project: Project,
    snapshot: Snapshot,
    view: TableView,
    written: Mapping[str, int],
    errors: ErrorList,
) -> TableDraft:
    choice = view.choice
    queries = match_queries(
        [row.asked for row in rows],
        names_in(project),
        dict(Query.objects.filter(project=project).values_list("outside_id", "pk")),
        takes_near=FIT_QUERIES in choice.answers,
        makes_new=NO_NEW_QUERIES not in choice.answers,
    )
    matches = match_passages(snapshot, [row.passage for row in rows if row.is_graded])
    counts = Counter(row.passage for row in rows if row.is_graded)
    passages, about_passages = passages_that_count(matches, counts, snapshot.name, choice)
    view.messages += about_passages
    collected = _collect(rows, queries.found, passages, choice)
    view.messages += about_grades(choice.grades, written)
    view.messages += about_queries(queries, choice)
    view.messages += about_unnamed(rows)
    if collected.contradicting:
        view.messages.append(about_contradictions(collected.contradicting, choice))
    view.messages += about_ungraded(rows, queries)
    if collected.repeated:
        repeat = "repeats a grade and counts" if collected.repeated == 1 else "repeat a grade and count"
        view.messages.append(TableMessage(DONE, f"{plural(collected.repeated, 'row')} {repeat} once."))
    if errors:
        view.messages.append(unread_rows(errors))
    _describe(view, queries, matches.how, written)
    _sum_up(view, queries, rows, matches, len(collected.kept))
    return TableDraft(_draft(snapshot, collected), queries.new, view)


def _with_grades(
    choice: TableChoice, written: Mapping[str, int], proposed: Mapping[str, str], scale: Mapping[int, str]
) -> TableChoice:
    """The choice with a grade for each grade of the table that has an obvious one and was not chosen yet."""
    known = {str(grade) for grade in scale} | {SKIP, ""}
    chosen = {value: grade for value, grade in choice.grades.items() if grade in known}

    def become(value: str) -> str:
        return chosen.get(value, chosen.get(grade_key(value), proposed.get(value, "")))

    return replace(choice, grades={value: become(value) for value in written})


def _collect(
    rows: Iterable[TableRow],
    queries: Mapping[tuple[str, str], MatchedQuery],
    passages: Mapping[str, NamedPassage],
    choice: TableChoice,
) -> _Collected:
    kept: dict[tuple[str, NamedPassage, str], Graded] = {}
    finals: dict[tuple[int, int], int] = {}
    contradicting: dict[tuple[str, NamedPassage, str], TableRow] = {}
    repeated = skipped = 0
    for row in rows:
        query, passage = queries.get(row.asked), passages.get(row.passage)
        for rater, value in row.ratings:
            grade = choice.grades.get(value, "")
            skipped += grade == SKIP
            if query is None or passage is None or grade in {"", SKIP}:
                continue
            name = (query.outside_id, passage, rater)
            given = Graded(row.line, query.key, passage.version_id, int(grade), row.note, rater)
            first = kept.setdefault(name, given)
            if first is not given:
                repeated += first.grade == given.grade
                if first.grade != given.grade:
                    contradicting[name], kept[name] = row, given
            if (final := choice.grades.get(row.final, "")) not in {"", SKIP}:
                finals.setdefault(given.pair, int(final))
    if LAST_GRADES not in choice.answers:
        for name in contradicting:
            del kept[name]
    pairs = {row.pair for row in kept.values()}
    finals = {pair: grade for pair, grade in finals.items() if pair in pairs}
    return _Collected(kept, finals, list(contradicting.values()), repeated, skipped)


def _draft(snapshot: Snapshot, collected: _Collected) -> JudgementDraft:
    """The draft of what counts; its digest covers ids and grades, so that they are the same import in another file."""
    rows, ids = GradedRows(), {row.pair: (query_id, passage) for (query_id, passage, _), row in collected.kept.items()}
    rows.add(
        (row, digest_line(query_id, passage.block_id, rater, row.grade))
        for (query_id, passage, rater), row in collected.kept.items()
    )
    rows.add_finals(
        (*pair, grade, final_line(ids[pair][0], ids[pair][1].block_id, grade))
        for pair, grade in collected.finals.items()
    )
    return draft_of(snapshot.digest, rows, ErrorList(), skipped=collected.skipped)


def _describe(view: TableView, queries: QueryMatches, how_passages: str, written: Mapping[str, int]) -> None:
    """The sentence below each select, and the grades of the table with what they become."""
    choice = view.choice
    is_same = all(is_same_grade(value, grade) for value, grade in choice.grades.items())
    as_grades = "as it is" if is_same else f"read as {view.scale[0][0]} to {view.scale[-1][0]}"
    words = {
        roles.QUERY: "id of the query" if queries.are_ids else "text of the search",
        roles.QUERY_ID: "id of the query",
        roles.PASSAGE: how_passages,
        roles.RANK: "not imported; judging is blind to it",
        roles.NOTE: "beside the grade",
        roles.PERSON: "who gave the grade",
        roles.FINAL: "the agreed grade",
        roles.GRADE: as_grades,
        roles.RATED: as_grades,
    }
    view.hows = {heading: words[role] for heading, role in choice.columns.items() if role}
    view.asks_person = not choice.headings_of(roles.PERSON) and not choice.headings_of(roles.RATED)
    in_order = sorted(written.items(), key=lambda pair: _place(pair[0]))
    view.grades = [(value, choice.grades[value], count) for value, count in in_order[:MOST_GRADES_SHOWN]]


def _place(value: str) -> tuple[bool, float, str]:
    number = number_in(value)
    return number is None, number or 0.0, value


def _sum_up(view: TableView, queries: QueryMatches, rows: list[TableRow], matches: PassageMatches, graded: int) -> None:
    parts = [plural(len(queries.new), "query", "queries")] if queries.new else []
    if graded or not parts:
        parts.append(plural(graded, "grade"))
    view.button = f"Import {' and '.join(parts)}"
    if matches.near and FIT_PASSAGES not in view.choice.answers:
        waiting = sum(row.is_graded and row.passage in matches.near.fits for row in rows)
        them = plural(waiting, "row has", "rows have")
        view.aside = f"{them} an address that is not matched yet."
