"""Importing judgements that were made elsewhere, as a closed round, or a whole collection; and undoing that.

Undone, grades stay on record and count nowhere, and only while nothing uses them: a judgement, a seat and a round
are never deleted. The round is withdrawn.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from apps.accounts.actions.people import create_placeholder
from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks, insert_rows
from apps.common.database.prepared import PreparedWrites, Writes
from apps.common.errors import InputErrors, Refusal
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.execution import import_reading
from apps.corpus.execution.freezing import snapshot_as_it_is
from apps.corpus.imports.documents import CorpusImport, PreparedBlocks
from apps.corpus.models import Import, Snapshot
from apps.corpus.selectors.import_kinds import FileToImport, kind_named
from apps.judging.actions.rounds import locked_round, next_number
from apps.judging.enums import ErrorType, RoundKind, RoundState, SeatState
from apps.judging.execution.collection_files import CORPUS, JUDGEMENTS, QUERIES, Collection, CollectionPart, joined
from apps.judging.execution.graded_rows import GradedRows, SeatedGrade
from apps.judging.execution.judgement_import import GradesHere, JudgementDraft, beside_earlier, open_questions
from apps.judging.models import Adjudication, Judgement, Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import FIRST_PASS
from apps.judging.selectors.propagation import BESIDE, first_dependent
from apps.queries.execution import ingest
from apps.queries.models import Query
from apps.retrieval.actions.runs import lock_queries
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery

AT_ONCE = 5_000
DONE = SeatState.DONE.value
NAME_LENGTH = 120
ENTRY_COLUMNS = ("id", "pool_id", "query_id", "version_id", "found_by")
SEAT_COLUMNS = ("id", "round_id", "entry_id", "query_id", "number", "pass_number", "state", "annotator_id")
JUDGEMENT_COLUMNS = (
    "round_id", "seat_id", "entry_id", "annotator_id", "pass_number", "grade", "cant_judge", "note", "spans",
    "idempotency_key", "given_at", "facets",
)  # fmt: skip


class ImportRefused(Refusal):
    """Judgements made elsewhere cannot be imported."""


class ImportedRound(NamedTuple):
    """The round of the judgements; `is_new` is False when they were imported before.

    `draft` is what was imported, with what was here already on its pairs.
    """

    round: Round
    is_new: bool
    draft: JudgementDraft


@transaction.atomic
def import_judgements(
    *,
    project: Project,
    snapshot: Snapshot,
    draft: JudgementDraft,
    actor: User,
    at: datetime,
    name: str = "",
    origin: str = "",
    skip_unknown: bool = False,
    graded: str = "",
    prepared: PreparedWrites | None = None,
) -> ImportedRound:
    """Import judgements made elsewhere, all or none, as a closed round on a pool of their pairs.

    The annotator is the importer, or, for a file with several raters, a user without an account for each of them; final
    grades that the ratings do not resolve to become decisions. `origin` names the file's source; without a
    `name` the round is called after it. The same judgements on
    the same snapshot again change nothing. Rows with an unknown query or block stop the import, unless `skip_unknown`
    leaves them out. Raises InputErrors with every fault. `prepared` has the rows of `prepare_rows`.

    Grades that other people gave these pairs before are in the round too, so that each pair has the grade of every
    person who judged it: agreement, decisions and versions read them as of one round. `graded` says what happens to
    pairs that the same person graded before (see `judgement_import.REPLACE`).
    """
    if draft.is_spoilt or (draft.unknown and not skip_unknown):
        raise InputErrors(list(draft.errors), capped=draft.errors.unlisted > 0)
    if not draft.rows:
        raise ImportRefused("There is nothing to import: every row was left out.", code="import_empty")
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    mark = draft.mark
    if same := Round.objects.in_force().filter(project=project, kind=RoundKind.IMPORTED, origin__endswith=mark).first():
        return ImportedRound(same, is_new=False, draft=draft)
    draft = beside_earlier(draft, project=project, snapshot=snapshot, importer=actor, choice=graded)
    standing = draft.standing or GradesHere()
    ImportRefused.raise_for(next(iter(open_questions(standing)), None), code="grades_are_here")
    if not draft.rows:
        raise ImportRefused("There is nothing to import: every pair is graded already.", code="import_empty")
    file, origin = origin, f"{origin[: 290 - len(mark)]}, {mark}" if origin else mark
    rows, name = draft.rows, name.strip() or _name_of(file, draft.rows, actor)
    round_ = _add_round(project, snapshot, rows, name, origin, actor, at)
    people = {rater: create_placeholder(project=project, name=rater, actor=actor, at=at) for rater in rows.raters}
    annotators = {person.pk for person in people.values()} or {actor.pk}
    annotators |= rows.people
    RoundAnnotator.objects.bulk_create(RoundAnnotator(round=round_, annotator_id=pk) for pk in sorted(annotators))
    _fix_facets(rows, at)
    if prepared is None or rows.people or standing.left_out:
        raters = {rater: person.pk for rater, person in people.items()} or {"": actor.pk}
        _store_rows(round_.pool_id, round_.pk, rows, raters, at, Writes())
    else:
        prepared.make()
    _decide(round_, rows, actor, at)
    if rows.people:
        round_.plan = {BESIDE: sorted(standing.rounds)}
        round_.save(update_fields=["plan"])
    _complete(round_, rows.pairs, at)
    lock_queries(rows.queries, at=at)
    after = {"judgements": len(rows), "skipped": draft.skipped, "origin": origin}
    if standing.graded:
        after |= {"graded": standing.graded, "beside": sorted(standing.rounds), "choice": graded}
    if people:
        after |= {"raters": rows.raters, "decisions": draft.rulings}
    record(project=project, actor=actor, action="judgements.imported", obj=round_, after=after, at=at)
    return ImportedRound(round_, is_new=True, draft=draft)


def prepare_rows(draft: JudgementDraft, writes: PreparedWrites, *, actor: User, at: datetime) -> None:
    """Prepare the rows of judgements of one person, the importer, before the transaction that imports them."""
    pool_id, round_id = writes.reserve(Pool, 1)[0], writes.reserve(Round, 1)[0]
    _store_rows(pool_id, round_id, draft.rows, {"": actor.pk}, at, writes)


LONGEST_FILE = 60


def _name_of(file: str, rows: GradedRows, importer: User) -> str:
    """After the file and who graded: "second-rater, by Ana"."""
    raters = rows.raters or [str(importer)]
    by = raters[0] if len(raters) == 1 else f"{len(raters)} people"
    return f"{Path(file).stem[:LONGEST_FILE] or 'Imported judgements'}, by {by}"


def _add_round(
    project: Project, snapshot: Snapshot, rows: GradedRows, name: str, origin: str, actor: User, at: datetime
) -> Round:
    number = next_number(project)
    numbered = f"{name[: NAME_LENGTH - 12]}, round {number}"[:NAME_LENGTH]
    is_taken = Round.objects.filter(project=project, name=name[:NAME_LENGTH]).exists()
    pool = Pool.objects.create(
        project=project,
        snapshot=snapshot,
        name=numbered,
        kind=PoolKind.IMPORTED,
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    round_ = Round.objects.create(
        project=project,
        pool=pool,
        number=number,
        name=numbered if is_taken else name[:NAME_LENGTH],
        kind=RoundKind.IMPORTED,
        overlap_share=rows.shared_pairs / rows.pairs,
        judges=rows.most_ratings,
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    insert_rows(PoolQuery, ["pool_id", "query_id"], ((pool.pk, query) for query in rows.queries))
    return round_


def _store_rows(
    pool_id: int, round_id: int, rows: GradedRows, raters: Mapping[str, int], at: datetime, writes: Writes
) -> None:
    """Write pairs, judgements and seats; each rater of a pair has a seat of their own."""
    for pairs in chunks(rows.new_pairs(), AT_ONCE):
        entries = writes.reserve(PoolEntry, len(pairs))
        values = [
            (entry, pool_id, query, version, "[]") for entry, (_, query, version) in zip(entries, pairs, strict=True)
        ]
        writes.insert(PoolEntry, ENTRY_COLUMNS, values)
        rows.enter([(entry, pair) for entry, (pair, _, _) in zip(entries, pairs, strict=True)])
    given_at = _stored_time(at)
    for part in chunks(rows.seated(), AT_ONCE):
        placed = list(zip(writes.reserve(Seat, len(part)), part, strict=True))
        # Before their seats: with its seat judged, the database would look at the pair of each of them. It looks at all
        # pairs at once when the round is closed.
        writes.insert(
            Judgement,
            JUDGEMENT_COLUMNS,
            (_judgement(round_id, seat, row, row.person or raters[row.rater], given_at) for seat, row in placed),
        )
        writes.insert(
            Seat, SEAT_COLUMNS, (_seat(round_id, seat, row, row.person or raters[row.rater]) for seat, row in placed)
        )


def _fix_facets(rows: GradedRows, at: datetime) -> None:
    """Fix the subtopics that the judgements name. Raises ImportRefused when they were changed since the reading."""
    named = rows.facets_by_query()
    ingest.lock_facets(named, at=at)
    for part in chunks(sorted(named), AT_ONCE):
        for query in Query.objects.filter(pk__in=part):
            if gone := named[query.pk] - {facet["id"] for facet in query.facets}:
                message = f"The subtopics of {query.outside_id} were changed meanwhile: it has no {min(gone)} now."
                raise ImportRefused(f"{message} Read the file again.", code="facets_changed")


def _seat(round_id: int, seat: int, row: SeatedGrade, person: int) -> tuple[Any, ...]:
    return seat, round_id, row.entry_id, row.query_id, row.seat, FIRST_PASS, DONE, person


def _judgement(round_id: int, seat: int, row: SeatedGrade, person: int, given_at: Any) -> tuple[Any, ...]:
    key = f"import-{round_id}-{seat}-{row.line}"
    if row.given_at is not None:
        given_at = _stored_time(datetime.fromisoformat(row.given_at))
    given = row.grade, row.cant_judge, row.note
    return round_id, seat, row.entry_id, person, FIRST_PASS, *given, "[]", key, given_at, row.facets


def _stored_time(at: datetime) -> Any:
    return Judgement._meta.get_field("given_at").get_db_prep_save(at, connection)


def _decide(round_: Round, rows: GradedRows, actor: User, at: datetime) -> None:
    """Store the final grades of the file, and earlier decisions, where the ratings do not resolve to them."""
    reason = f"The final grade that came with the ratings. {round_.origin}"
    given_at = Adjudication._meta.get_field("given_at").get_db_prep_save(at, connection)
    insert_rows(
        Adjudication,
        ["round_id", "entry_id", "adjudicator_id", "grade", "reason", "error_type", "given_at"],
        (
            (
                round_.pk,
                each.entry_id,
                each.person or actor.pk,
                each.grade,
                each.reason or reason,
                ErrorType.NOT_RECORDED.value,
                given_at,
            )
            for each in rows.rulings()
        ),
    )


def _complete(round_: Round, pairs: int, at: datetime) -> None:
    pool = round_.pool
    pool.state, pool.entry_count, pool.completed_at = PoolState.COMPLETE, pairs, at
    pool.save(update_fields=["state", "entry_count", "completed_at"])
    round_.state, round_.opened_at, round_.closed_at = RoundState.CLOSED, at, at
    round_.save(update_fields=["state", "opened_at", "closed_at"])


@transaction.atomic
def import_collection(
    *,
    project: Project,
    collection: Collection,
    options: Mapping[str, Any],
    actor: User,
    at: datetime,
    prepared: PreparedBlocks | None = None,
) -> ImportPlan:
    """Import a collection, all of it or nothing: each file as its own kind of import would, and a snapshot between.

    A corpus that is what a snapshot already has is not frozen again. `prepared` has the passages compared already. The
    plan has what came of each part, and the snapshot. Raises InputErrors.
    """

    def apply(kind: str, path: str, chosen: dict[str, Any], prepared: Any = None) -> ImportPlan:
        with collection.opened(path) as source:
            file = FileToImport(project, source, chosen)
            return kind_named(kind).apply(file, actor=actor, at=at, prepared=prepared)

    paths, chosen = collection.paths, collection.corpus_options(options)
    splits = collection.splits(options["splits"])
    parts = [
        CollectionPart(CORPUS, paths.corpus, apply(CORPUS, paths.corpus, chosen, prepared)),
        CollectionPart(QUERIES, paths.queries, apply(QUERIES, paths.queries, collection.queries_options())),
    ]
    corpus = CorpusImport().corpus(project, chosen)
    assert corpus is not None  # it was made or filled just now
    snapshot = snapshot_as_it_is(corpus_id=corpus.pk, actor=actor, at=at)
    for split in splits:
        judged = apply(JUDGEMENTS, paths.qrels[split], collection.judgements_options(split, snapshot, options))
        parts.append(CollectionPart(JUDGEMENTS, paths.qrels[split], judged, split))
    return joined(parts, snapshot={"id": snapshot.pk, "reference": snapshot.reference, "name": snapshot.name})


def rounds_of(item: Import) -> QuerySet[Round]:
    """The rounds of an applied import, which gave them its own time and person: one, or of a collection one for each
    split; none where it only added queries."""
    assert item.applied_at is not None
    return Round.objects.filter(
        project=item.project, kind=RoundKind.IMPORTED, created_by=item.applied_by, created_at=item.applied_at
    )


def undo_refusal(item: Import) -> str | None:
    """Why the grades of an applied import cannot be withdrawn."""
    rounds = list(rounds_of(item).select_related("pool__snapshot").order_by("number"))
    if not rounds:
        return ingest.undo_refusal(item)
    return next((reason for round_ in rounds if (reason := first_dependent(round_))), None)


def withdraw(item: Import, *, actor: User, at: datetime) -> None:
    """Withdraw the rounds of an import; one that only added queries has these removed. Raises ImportRefused.

    Whoever plans a round or carries grades over has the lock of the project, whoever drafts a version or decides a pair
    that of the round.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    found = list(rounds_of(item).order_by("number").values_list("pk", flat=True))
    if not found:
        ingest.remove_added(item)
        return
    rounds = [locked_round(pk) for pk in found]
    import_reading.ImportRefused.raise_for(undo_refusal(item), code="import_not_undone")
    for round_ in rounds:
        round_.withdrawn_at = at
        round_.save(update_fields=["withdrawn_at"])
        after = {"judgements": round_.judgements.count(), "origin": round_.origin}
        record(project=item.project, actor=actor, action="judgements.withdrawn", obj=round_, after=after, at=at)
