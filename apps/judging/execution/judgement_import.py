"""Reading judgements made elsewhere: from rows to queries and pairs of a snapshot, with every fault."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from django.db.models import Q

from apps.accounts.models import Project, User
from apps.common.database.bulk import chunks
from apps.common.database.scratch import Scratch
from apps.common.digests import canonical_text, digest_of_lines
from apps.common.files.faults import ErrorList
from apps.common.files.near_ids import Proposal, propose_fit
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.common.text.words import plain_words
from apps.corpus.core.import_plans import until_broken
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.judging import rules
from apps.judging.execution.graded_rows import Graded, GradedRows
from apps.judging.formats import judgements as formats
from apps.judging.formats.judgements import QRELS_COLUMNS, Columns, GradeMap, JudgementRow, read_judgements
from apps.judging.formats.ratings import RatingColumns
from apps.judging.models import Round
from apps.judging.selectors.placeholders import EarlierAnswer, earlier_grades, has_grades, people_behind
from apps.queries.core.naming import QueryNames
from apps.queries.models import Query

Asked = tuple[str, str]
MOST_ARE_IDS = 0.8


class MatchedQuery(NamedTuple):
    """A query of the project, or a new one, whose key is negative."""

    outside_id: str
    key: int


class QueryMatches(NamedTuple):
    """The query of each id and text. `new` are ids and texts to create, `unmade` texts that are not to be created.

    `lost` are ids that are not here and have no text; `near` is a proposal for such ids. `crossed` are ids of queries
    beside the words of others: the id counts. `are_ids`: the column of queries has ids instead of words.
    """

    found: dict[Asked, MatchedQuery]
    new: list[tuple[str, str]]
    unmade: list[str]
    lost: list[str]
    near: Proposal | None
    are_ids: bool
    crossed: list[str]


def match_queries(
    asked: Sequence[Asked], names: QueryNames, keys: Mapping[str, int], *, takes_near: bool, makes_new: bool
) -> QueryMatches:
    """Match each (id, text) of a table; `keys` are the queries of the project. Nothing is created here."""
    are_ids = _are_ids([text for _, text in asked if text], keys)
    wanted = {one: (one[0] or one[1], "") if are_ids else one for one in dict.fromkeys(asked) if any(one)}
    unknown = {query_id for query_id, _ in wanted.values() if query_id and query_id not in keys}
    taken = [query_id for query_id, _ in wanted.values() if query_id in keys]
    textless = [query_id for query_id, text in wanted.values() if query_id in unknown and not text]
    near = propose_fit(textless, keys, taken=taken)
    fits = near.fits if near and takes_near else {}
    matches = QueryMatches({}, [], [], [], near, are_ids, [])
    made: dict[str, int] = {}
    for one, (written, text) in wanted.items():
        query_id = fits.get(written, written)
        if query_id not in keys and query_id not in made:
            query_id = names.known_id(text) or query_id  # words go before another thing's id
        elif (other := names.known_id(text)) and plain_words(names.text_of(query_id) or "") != plain_words(text):
            matches.crossed.append(f"{query_id} beside the words of {other}")
        if query_id not in keys and query_id not in made:
            if not text:
                matches.lost.append(query_id)
                continue
            if not makes_new:
                matches.unmade.append(text)
                continue
            query_id = query_id or names.id_for(text)
            names.learn(query_id, text)
            matches.new.append((query_id, text))
            made[query_id] = -len(matches.new)
        matches.found[one] = MatchedQuery(query_id, keys.get(query_id) or made[query_id])
    return matches


def _are_ids(values: Sequence[str], keys: Mapping[str, int]) -> bool:
    """Whether the values are ids: half of them are known, or most nearly fit known ones."""
    distinct = set(values)
    exact = sum(value in keys for value in distinct)
    if not distinct or exact * 2 >= len(distinct):
        return bool(distinct)
    if any(" " in value for value in distinct):
        return False
    near = propose_fit(sorted(distinct), keys)
    return near is not None and exact + len(near.fits) >= MOST_ARE_IDS * len(distinct)


AT_ONCE = 2_000
DOUBTFUL = 0
"""Instead of a query's key: its text is that of two."""
QUERIES, PASSAGES = "queries", "passages"
REPLACE, LEAVE = "replace", "leave"
"""What happens to pairs that are graded already: the same person's earlier grades are replaced, or the pairs left out.

Without either, grades of other people stand beside the earlier ones, and a person's second grade is asked about.
"""
Fits = Mapping[str, Mapping[str, str]]
"""Known ids by ids of a file, for queries and for passages."""


class GradesHere(NamedTuple):
    """What is here already on the pairs of a file, and what happens to it.

    `graded` pairs have a grade, by `people` (name: pairs), in `rounds`, without those that the same person gave alike;
    on `own` of them the same person gave another one before. `being_judged` pairs are in an open round. `is_named`: the
    file or the form says who gave its grades. `choice` is REPLACE, LEAVE or "" for none; `left_out` pairs are left out
    by it.
    """

    graded: int = 0
    own: int = 0
    being_judged: int = 0
    people: Mapping[str, int] = {}
    rounds: Mapping[int, str] = {}
    is_named: bool = True
    choice: str = ""
    left_out: int = 0


class JudgementDraft(NamedTuple):
    """A parsed file of judgements, before anything is stored.

    `rows` are on disk. `skipped` counts rows that the grade map leaves out, `unknown` rows whose query or block does
    not exist here; the errors name each such row. `digest` covers ids, grades and the snapshot, not the file's form.
    `rulings` counts the final grades that are not the grade of more than half of a pair's raters, `unsettled` the pairs
    that have neither. `near` has a rule for unknown ids that nearly fit, by QUERIES and PASSAGES. `standing` is what is
    here already on these pairs, once `beside_earlier` has read it.
    """

    rows: GradedRows
    skipped: int
    unknown: int
    errors: ErrorList
    is_spoilt: bool
    digest: str
    rulings: int
    unsettled: int
    near: dict[str, Proposal] = {}
    standing: GradesHere | None = None

    @property
    def mark(self) -> str:
        """The end of the origin of a round made of these judgements."""
        return f"judgements sha256:{self.digest}"


class JudgementReader:
    """Matches rows to the project's queries and the snapshot's blocks, chunk by chunk."""

    not_a_query = "is not a query of this project"
    not_a_passage = "is not a passage of this snapshot"

    def __init__(
        self,
        project: Project,
        snapshot: Snapshot | None,
        source: TableFile,
        columns: Columns = QRELS_COLUMNS,
        fits: Fits | None = None,
        person: str = "",
    ) -> None:
        """Without a snapshot `blocks_named` has to know the passages in another way."""
        self.project = project
        self.scale = set(project.grades)
        self.fits: Fits = fits or {}
        self.person = person
        self.strange: dict[str, dict[str, None]] = {QUERIES: {}, PASSAGES: {}}
        self.query_column = "query_id"
        self.by_text = False
        if isinstance(columns, RatingColumns):
            self.query_column, self.by_text = columns.query, columns.by_text
        self.snapshot = snapshot
        self.source = source
        self.errors = ErrorList()
        self.rows = GradedRows()
        self.asked = Scratch("CREATE TABLE asked (words TEXT PRIMARY KEY) WITHOUT ROWID;")
        self.skipped = 0
        self.unknown = 0
        self.is_spoilt = False
        self.facets = 0
        self.kept_facets = 0
        self.faulted: tuple[int, set[str]] = 0, set()

    def take(self, chunk: Sequence[JudgementRow]) -> None:
        if self.fits:
            chunk = [self._fitted(row) for row in chunk]
        blocks = self.blocks_named({row.doc_id for row in chunk})
        queries = self.queries_named({row.query_id for row in chunk})
        known = self.facets_of(queries[row.query_id] for row in chunk if _names_facets(row) and row.query_id in queries)
        kept = []
        for row in chunk:
            if row.grade is None:
                self.skipped += 1
                continue
            self.facets += row.is_facet
            query, version = queries.get(row.query_id), blocks.get(row.doc_id)
            if not query or version is None:
                self._unknown(row, query, version)
            elif off := [grade for grade in (row.grade, row.final) if grade is not None and grade not in self.scale]:
                self._fault(row, "grade", str(off[0]), "is not on the scale of this project; map it")
            else:
                rater = row.rater or self.person
                facets = self._facets(row, known.get(query, []))
                kept.append((row, Graded(row.line, query, version, row.grade, row.notes, rater, facets)))
        self._keep(kept)

    def facets_of(self, queries: Iterable[int]) -> dict[int, list[str]]:
        """The ids of the subtopics of those of these queries that have some."""
        if not (keys := set(queries)):
            return {}
        rows = Query.objects.filter(pk__in=keys).exclude(facets=[]).values_list("pk", "facets")
        return {pk: [facet["id"] for facet in facets] for pk, facets in rows}

    def _facets(self, row: JudgementRow, known: Sequence[str]) -> str | None:
        """The subtopics of the query that the row says the block answers; None where it says nothing of them."""
        said = row.facets if row.facets is not None else (row.facet,)
        if not known or (row.facets is None and row.facet not in known):
            return None
        if unknown := [facet for facet in said if facet not in known]:
            self._fault(row, "facets", unknown[0], f"is no subtopic of {row.query_id}")
            return None
        self.kept_facets += 1
        return json.dumps(said if row.grade and row.grade > 0 else [])

    def _fitted(self, row: JudgementRow) -> JudgementRow:
        queries, passages = self.fits.get(QUERIES, {}), self.fits.get(PASSAGES, {})
        return row._replace(
            query_id=queries.get(row.query_id, row.query_id), doc_id=passages.get(row.doc_id, row.doc_id)
        )

    def _keep(self, kept: list[tuple[JudgementRow, Graded]]) -> None:
        self.rows.add((graded, digest_line(row.query_id, row.doc_id, graded.rater, row.grade)) for row, graded in kept)
        self.rows.add_finals(
            (*graded.pair, row.final, final_line(row.query_id, row.doc_id, row.final))
            for row, graded in kept
            if row.final is not None
        )

    def _unknown(self, row: JudgementRow, query: int | None, version: int | None) -> None:
        self.unknown += 1
        if not query:
            self.strange[QUERIES].setdefault(row.query_id)
            which = "is the text of two queries; name queries by id" if query == DOUBTFUL else ""
            self._fault(row, self.query_column, row.query_id, which or self.not_a_query, spoils=False)
        if version is None:
            self.strange[PASSAGES].setdefault(row.doc_id)
            self._fault(row, row.doc_column, row.doc_id, self.not_a_passage, spoils=False)

    def _fault(self, row: JudgementRow, field: str, value: str, message: str, *, spoils: bool = True) -> None:
        """Add a fault once for its line, however many raters the line has."""
        self.is_spoilt = self.is_spoilt or spoils
        if self.faulted[0] != row.line:
            self.faulted = row.line, set()
        if f"{field}{value}" in self.faulted[1]:
            return
        self.faulted[1].add(f"{field}{value}")
        self.errors.add(self.source.error(row.line, field, value, f"'{value}' {message}"))

    def queries_named(self, ids: set[str]) -> dict[str, int]:
        """The key of each known query by its id or text; DOUBTFUL for the text of two."""
        name = "text" if self.by_text else "outside_id"
        known: dict[str, int] = {}
        queries = Query.objects.filter(project=self.project, **{f"{name}__in": ids})
        for written, pk in queries.values_list(name, "pk"):
            known[written] = DOUBTFUL if written in known else pk
        self.asked.write("INSERT OR IGNORE INTO asked VALUES (?)", ([written] for written in known))
        return known

    def near(self) -> dict[str, Proposal]:
        """A rule for the unknown ids of queries, and one for those of passages, where there is one."""
        found: dict[str, Proposal] = {}
        if self.strange[QUERIES] and not self.by_text:
            known = set(Query.objects.filter(project=self.project).values_list("outside_id", flat=True))
            taken = [query_id for (query_id,) in self.asked.read("SELECT words FROM asked")]
            if near := propose_fit(self.strange[QUERIES], known, taken=taken):
                found[QUERIES] = near
        if self.strange[PASSAGES] and self.snapshot is not None:
            blocks = SnapshotBlock.objects.filter(snapshot=self.snapshot)
            known = set(blocks.values_list("block__outside_id", flat=True))
            if near := propose_fit(self.strange[PASSAGES], known, may_merge=True):
                found[PASSAGES] = near
        return found

    def blocks_named(self, ids: set[str]) -> dict[str, int]:
        """The key of the text of each known passage, by the passage's id."""
        assert self.snapshot is not None
        blocks = Q(block__corpus=self.snapshot.corpus_id, block__outside_id__in=ids)
        rows = SnapshotBlock.objects.filter(blocks, snapshot=self.snapshot)
        return dict(rows.values_list("block__outside_id", "version_id"))


def _names_facets(row: JudgementRow) -> bool:
    return row.facet != formats.NO_FACET or row.facets is not None


def queries_digest(project: Project) -> str:
    """A digest of the queries that rows of a file can name, with their keys."""
    queries = Query.objects.filter(project=project).order_by("pk").values_list("pk", "outside_id", "text", "facets")
    return digest_of_lines(map(canonical_text, queries.iterator(AT_ONCE)))


def digest_line(query_id: str, block_id: str, rater: str, grade: int | None) -> str:
    """A judgement as a line of the digest: ids, the rater if the file has several, and the grade."""
    return "\t".join([query_id, block_id, *([rater] if rater else []), str(grade)])


def final_line(query_id: str, block_id: str, grade: int | None) -> str:
    """The final grade of a pair as a line of the digest."""
    return f"{query_id}\t{block_id}\t\t{grade}"


def read_draft(
    source: TableFile,
    *,
    project: Project,
    snapshot: Snapshot,
    format: str,
    columns: Columns = QRELS_COLUMNS,
    grades: GradeMap | None = None,
    match: Collection[str] = (),
    person: str = "",
) -> JudgementDraft:
    """Read a file of judgements against a snapshot. Raises nothing: faults are in the draft's errors.

    `person` gave the grades of a file that names nobody; without one it was the importer.

    `match` names what to read by the rule for ids that nearly fit: QUERIES, PASSAGES or both. The file is then read
    twice.
    """
    read = partial(
        _read, source, project=project, snapshot=snapshot, format=format, columns=columns, grades=grades, person=person
    )
    draft = read(fits={})
    if matched := {kind: near for kind, near in draft.near.items() if kind in match}:
        source.rewind()
        draft = read(fits={kind: near.fits for kind, near in matched.items()})
        draft = draft._replace(near=draft.near | matched)
    return draft


def _read(
    source: TableFile,
    *,
    project: Project,
    snapshot: Snapshot,
    format: str,
    columns: Columns,
    grades: GradeMap | None,
    fits: Fits,
    person: str,
) -> JudgementDraft:
    reader = JudgementReader(project, snapshot, source, columns, fits, person)
    draft = drafted(reader, snapshot.digest, format=format, columns=columns, grades=grades)
    return draft._replace(near=reader.near())


def drafted(
    reader: JudgementReader,
    snapshot_digest: str,
    *,
    format: str,
    columns: Columns = QRELS_COLUMNS,
    grades: GradeMap | None = None,
) -> JudgementDraft:
    """What a reader finds in its file. Raises nothing: faults are in the draft's errors."""
    source, row_errors = reader.source, ErrorList()
    rows = read_judgements(source, row_errors, format=format, columns=columns, grades=grades)
    for chunk in chunks(until_broken(rows, row_errors), AT_ONCE):
        reader.take(chunk)
    if reader.facets:
        reader.rows.keep_best()
        more = plural(reader.facets, "row judges a pair for one more facet", "rows judge a pair for one more facet")
        kept = (
            "subtopics are kept where the query has them" if reader.kept_facets else "no query has these subtopics here"
        )
        row_errors.warn(source.error(None, "iteration", "", f"{more}; the best grade counts, and {kept}"))
    row_errors.sort()
    errors = ErrorList()
    errors.absorb(row_errors)
    errors.absorb_warnings(row_errors)
    errors.absorb(reader.errors)
    if not (reader.rows or reader.skipped or errors):
        errors.add(source.error(None, "", "", "the file contains no judgement"))
        reader.is_spoilt = True
    draft = draft_of(snapshot_digest, reader.rows, errors, skipped=reader.skipped, unknown=reader.unknown)
    return draft._replace(is_spoilt=reader.is_spoilt or bool(row_errors))


def draft_of(
    snapshot_digest: str, rows: GradedRows, errors: ErrorList, *, skipped: int = 0, unknown: int = 0
) -> JudgementDraft:
    """The draft of judgements that were all added, with its digest and rulings."""
    rulings, unsettled = rows.settle()
    return JudgementDraft(
        rows=rows,
        skipped=skipped,
        unknown=unknown,
        errors=errors,
        is_spoilt=False,
        digest=digest_of_lines(chain([snapshot_digest], rows.digest_lines())),
        rulings=rulings,
        unsettled=unsettled,
    )


def open_questions(standing: GradesHere) -> list[str]:
    """What a person has to decide before the grades of a file can be imported, as sentences."""
    if standing.choice == LEAVE:
        return []
    questions = []
    if standing.being_judged:
        questions.append(rules.being_judged_refusal(standing.being_judged))
    if standing.graded and not standing.is_named and standing.choice != REPLACE:
        questions.append(rules.unnamed_refusal(standing.graded, list(standing.people)))
    elif standing.own and standing.choice != REPLACE:
        questions.append(rules.own_grades_refusal(standing.own))
    return questions


def beside_earlier(
    draft: JudgementDraft, *, project: Project, snapshot: Snapshot, importer: User | None, choice: str
) -> JudgementDraft:
    """The draft with the grades that are here already on its pairs, and what happens to them in `standing`.

    Each person counts once: of who is in the file, the grade of the file. Without an importer, of a file that names
    nobody, all earlier grades are another person's.
    """
    rows = draft.rows
    if not rows or not has_grades(snapshot):
        return draft._replace(standing=GradesHere(choice=choice))
    selves = people_behind(project, rows.raters, importer)
    pairs = [(pair, {rater: grade for *_, rater, grade in given}) for pair, given in groupby(rows.given(), _pair)]
    beside: list[EarlierAnswer] = []
    people: Counter[int] = Counter()
    rounds, graded, own, being_judged, decisions = set(), set(), set(), set(), []
    for part in chunks(pairs, EARLIER_AT_ONCE):
        of_file = dict(part)
        found = earlier_grades(snapshot, of_file)
        being_judged |= found.being_judged
        decisions += found.decisions
        for answer in found.answers:
            theirs = [grade for rater, grade in of_file[answer.pair].items() if answer.annotator_id in selves[rater]]
            if answer.grade in theirs:
                continue
            graded.add(answer.pair)
            people[answer.annotator_id] += 1
            rounds.add(answer.round_id)
            if theirs:
                own.add(answer.pair)
            else:
                beside.append(answer)
    left_out = graded | being_judged if choice == LEAVE else set()
    if left_out:
        rows.leave_out(left_out)
    else:
        rows.join(beside, decisions)
    is_new = graded or left_out or decisions
    rulings, unsettled = rows.settle() if is_new else (draft.rulings, draft.unsettled)
    names = dict(User.objects.filter(pk__in=people).values_list("pk", "name"))
    counts: Counter[str] = Counter()
    for person, count in people.most_common():
        counts[names[person]] += count
    standing = GradesHere(
        graded=len(graded),
        own=len(own),
        being_judged=len(being_judged),
        people=counts,
        rounds=dict(Round.objects.filter(pk__in=rounds).order_by("number").values_list("pk", "name")),
        is_named=bool(rows.raters),
        choice=choice,
        left_out=len(left_out),
    )
    return draft._replace(rulings=rulings, unsettled=unsettled, standing=standing)


EARLIER_AT_ONCE = 500
_pair = itemgetter(0, 1)
