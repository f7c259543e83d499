"""Actions on queries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record, record_all
from apps.common.database.bulk import chunks, share
from apps.common.errors import InputErrors, Refusal
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.core.import_plans import ImportPlan
from apps.queries import rules, selectors
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.core.checks import Remark
from apps.queries.core.naming import VARIANT, VARIANT_OF, VARIANT_SEED, free_ids
from apps.queries.core.strata import TYPED
from apps.queries.enums import CheckEffect
from apps.queries.execution.ingest import EDITABLE, MakeSource, QueryComparison, take_queries
from apps.queries.formats.records import QueryRow
from apps.queries.models import Query, Source
from apps.queries.selectors import WRITTEN, QueryGate, blocked, open_remarks


class QueryRefused(Refusal):
    """A query cannot be created, changed or retired."""


class QueryDoubted(QueryRefused):
    """What the checks warn of in a query that somebody is about to save: `remarks`."""

    def __init__(self, remarks: Sequence[Remark]) -> None:
        super().__init__(" ".join(remark.sentence for remark in remarks), code="query_doubted")
        self.remarks = remarks


Seen = Collection[str] | None
"""The keys of the remarks that a person lets pass who can be asked; None: nobody can be, and remarks stay open."""


@transaction.atomic
def create_query(
    *,
    project: Project,
    outside_id: str,
    text: str,
    actor: User,
    at: datetime,
    seen: Seen = None,
    is_text_on_record: bool = True,
    **fields: Any,
) -> Query:
    """Add one query. `fields` are any of EDITABLE.

    Without `is_text_on_record` the audit, which forgets nothing, does not repeat its words. Raises QueryRefused for
    what a check of the project keeps out, and QueryDoubted for a warning that is not `seen`.
    """
    Project.objects.select_for_update().get(pk=project.pk)  # an accepted Q&A may be taking an id
    taken = Query.everything.filter(project=project, outside_id=outside_id).first()
    if taken is not None:
        raise QueryRefused(rules.taken_refusal(taken), code="query_exists")
    fields, text = _editable(fields), text.strip()
    remarks = let_in(project, outside_id, {"text": text, **fields}, fields.get("metadata", {}), seen)
    query = Query.objects.create(
        project=project,
        outside_id=outside_id,
        text=text,
        created_by=actor,
        created_at=at,
        remarks=open_remarks(None, {"text"}, remarks),
        **fields,
    )
    after = {"text": query.text} if is_text_on_record else {}
    record(project=project, actor=actor, action="query.created", obj=query, after=after, at=at)
    return query


def let_in(
    project: Project, outside_id: str, values: Mapping[str, Any], metadata: Mapping[str, Any], seen: Seen
) -> list[Remark]:
    """The remarks on the words among these values that stay open. Raises QueryRefused and QueryDoubted."""
    written = {name: values[name] for name in WRITTEN if values.get(name)}
    remarks = QueryGate(project).remarks(outside_id, written, metadata)
    if remark := blocked(remarks):
        raise QueryRefused(rules.blocked_reason(remark), code="query_blocked")
    if seen is None:
        return remarks
    if doubted := [one for one in remarks if one.effect == CheckEffect.WARN and one.key not in seen]:
        raise QueryDoubted(doubted)
    return [one for one in remarks if one.effect != CheckEffect.WARN]


@transaction.atomic
def edit_query(*, query_id: int, actor: User, at: datetime, seen: Seen = None, **changes: Any) -> Query:
    """Change fields of a query. Its words can be changed until its first run or grade.

    New words are checked as those of a new query.
    """
    query = _locked(query_id)
    changes = {name: value for name, value in _editable(changes).items() if value != getattr(query, name)}
    QueryRefused.raise_for(rules.edit_refusal(query, changes), code="query_fixed")
    if not changes:
        return query
    remarks = let_in(query.project, query.outside_id, changes, query.metadata, seen)
    before = {name: plain_value(getattr(query, name)) for name in changes}
    for name, value in changes.items():
        setattr(query, name, value)
    query.remarks = open_remarks(query, changes, remarks)
    query.save(update_fields=[*changes, "remarks"])
    after = {name: plain_value(value) for name, value in changes.items()}
    record(
        project=query.project,
        actor=actor,
        action="query.edited",
        obj=query,
        before=before,
        after=after,
        at=at,
    )
    return query


@transaction.atomic
def change_queries(
    *, project: Project, query_ids: Collection[int], change: BulkChange, actor: User, at: datetime
) -> int:
    """Change fields and tags of many queries alike. Retired ones do not change.

    Returns how many changed; each gets the same event as a single edit.
    """
    QueryRefused.raise_for(rules.bulk_refusal(project, change, len(query_ids)), code="queries_not_changed")
    live = Query.objects.select_for_update(of=("self",)).filter(project=project, retired_at=None)
    changed = 0
    for part in chunks(sorted(query_ids), 500):
        queries = live.filter(pk__in=part).select_related("source").order_by("pk")
        changed += _change_alike(project, list(queries), change, actor, at)
    return changed


def _change_alike(project: Project, queries: list[Query], change: BulkChange, actor: User, at: datetime) -> int:
    events, changed = [], []
    for query in queries:
        before = {name: getattr(query, name) for name in change.fields}
        if not (after := change.changed(before)):
            continue
        for name, value in after.items():
            setattr(query, name, value)
        plain_before, plain_after = ({name: plain_value(row[name]) for name in after} for row in (before, after))
        events.append((query, plain_before, plain_after))
        changed.append(query)
    if changed:
        Query.objects.bulk_update(changed, change.fields)
        record_all(project=project, actor=actor, action="query.edited", changes=events, at=at)
    return len(changed)


@transaction.atomic
def settle_remarks(*, project: Project, query_ids: Collection[int], actor: User, at: datetime) -> int:
    """Record that what the checks remarked on these queries is all right. Returns how many had open remarks."""
    settled = 0
    for part in chunks(sorted(query_ids), 500):
        rows = Query.objects.select_for_update(of=("self",)).filter(project=project, pk__in=part).exclude(remarks={})
        queries = list(rows.order_by("pk"))
        events = [(query, {"remarks": sorted(query.remarks)}, dict[str, Any](remarks=[])) for query in queries]
        rows.update(remarks={})
        record_all(project=project, actor=actor, action="query.remarks_settled", changes=events, at=at)
        settled += len(queries)
    return settled


LIKE_ORIGINAL = ("intent", "description", "source", "difficulty", *TYPED, "group_key", "asked_on")


@transaction.atomic
def add_variants(
    *,
    project: Project,
    query_ids: Collection[int],
    kinds: Collection[str],
    seed: int,
    left_out: Collection[str] = (),
    actor: User,
    at: datetime,
) -> list[Query]:
    """Add other wordings of queries, made by a seed, but those with the keys `left_out`; fixes the originals' words.

    A variant has the source, the strata and, in every version, the grades of its original: nobody judges it.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    QueryRefused.raise_for(rules.variants_refusal(len(query_ids), kinds), code="variants_not_made")
    offered = selectors.new_variants(project, query_ids, kinds, seed)
    new = [variant for variant in offered if variant.key not in left_out]
    taken = set(Query.everything.filter(project=project).values_list("outside_id", flat=True))
    rows = []
    for original, kind, text in new:
        label = f"{original.outside_id}-{kind}"[:190]
        outside_id = next(name for name in free_ids(label) if name not in taken)
        taken.add(outside_id)
        facts = {VARIANT_OF: original.outside_id, VARIANT: str(kind.label), VARIANT_SEED: seed}
        alike = {name: getattr(original, name) for name in LIKE_ORIGINAL}
        own = {"outside_id": outside_id, "text": text, "metadata": facts, "created_by": actor, "created_at": at}
        rows.append(Query(project=project, **own, **alike))
    added = Query.objects.bulk_create(rows, batch_size=500)
    lock_queries({one.original.pk for one in new}, at=at)
    changes = [(query, dict[str, Any](), {"text": query.text, **query.metadata}) for query in added]
    record_all(project=project, actor=actor, action="query.created", changes=changes, at=at)
    return added


class Question(NamedTuple):
    """The question of a Q&A that was accepted: the label of the Q&A, its text, and who wrote it."""

    label: str
    text: str
    author: User


@transaction.atomic
def ask_questions(*, project: Project, questions: Sequence[Question], at: datetime) -> list[Query]:
    """Add questions of Q&As as queries that no list shows: under their labels, or `label-2` and so on when taken.

    Their words are fixed from the start. They have no events of their own: those of the acceptances name them.
    """
    share(project)  # an import or another query may be taking an id: whoever locked the project first is seen
    everything = Query.everything.filter(project=project)
    taken = set(everything.filter(outside_id__in=[one.label for one in questions]).values_list("outside_id", flat=True))
    for label in sorted(taken):
        taken |= set(everything.filter(outside_id__startswith=label).values_list("outside_id", flat=True))
    asked = [
        Query(
            project=project,
            outside_id=next(outside_id for outside_id in free_ids(one.label) if outside_id not in taken),
            text=one.text,
            is_asked=True,
            created_by=one.author,
            created_at=at,
            locked_at=at,
        )
        for one in questions
    ]
    return Query.everything.bulk_create(asked)


@transaction.atomic
def retire_query(*, query_id: int, reason: str, actor: User, at: datetime) -> Query:
    """Retire a query: new runs, pools and versions leave it out; earlier ones keep it."""
    query = _locked(query_id)
    QueryRefused.raise_for(rules.retire_refusal(query, reason), code="query_not_retirable")
    return retire_row(query, reason.strip(), actor, at)


@transaction.atomic
def lock_queries(query_ids: Iterable[int], *, at: datetime) -> int:
    """Fix the words of queries at their first run or grade. Returns how many were not fixed yet.

    Raises QueryRefused when one no longer exists, because its import was undone after the caller had read it.
    """
    fixed = gone = 0
    for part in chunks(query_ids, 500):
        queries = Query.everything.filter(pk__in=part)
        fixed += queries.filter(locked_at=None).update(locked_at=at)
        gone += len(set(part)) - queries.count()
    QueryRefused.raise_for(rules.gone_refusal(gone), code="query_gone")
    return fixed


@transaction.atomic
def import_queries(
    *,
    project: Project,
    rows: Iterable[QueryRow],
    file: File,
    errors: ErrorList,
    default_source: Source | None = None,
    make_source: MakeSource | None = None,
    actor: User,
    at: datetime,
) -> ImportPlan:
    """Import a file's queries: all of them, or none when one is wrong. Queries it does not contain stay.

    `make_source` creates what the file names as a source and is none. Raises InputErrors: also for a query whose words
    would change after it was used. A file that changes nothing writes nothing.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    comparison = QueryComparison(
        project=project, file=file, errors=errors, default_source=default_source, make_source=make_source
    )
    plan = take_queries(comparison, rows, actor=actor, at=at)
    if errors:
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    if not plan.changes_nothing:
        after = {"file": file.name, **plan.counts}
        record(project=project, actor=actor, action="queries.imported", obj=project, after=after, at=at)
    return plan


def _locked(query_id: int) -> Query:
    query = Query.objects.select_for_update().filter(pk=query_id).first()
    if query is None:
        raise QueryRefused(rules.QUERY_GONE, code="query_gone")
    return query


def retire_row(query: Query, reason: str, actor: User, at: datetime) -> Query:
    query.retired_at, query.retired_reason = at, reason[:200]
    query.save(update_fields=["retired_at", "retired_reason"])
    after = {"reason": query.retired_reason}
    record(project=query.project, actor=actor, action="query.retired", obj=query, after=after, at=at)
    return query


def _editable(fields: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(fields) - set(EDITABLE))
    if unknown:
        raise TypeError(f"not a field of a query: {', '.join(unknown)}")
    return fields


def plain_value(value: Any) -> Any:
    return value.slug if isinstance(value, Source) else value
