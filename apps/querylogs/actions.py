"""Actions on search logs: what was drawn is offered, read, and kept or not."""

import json
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import ProtectedError
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.corpus.actions.imports import discard_import, start_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Import, Snapshot
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job
from apps.queries.actions.queries import create_query, edit_query
from apps.queries.actions.sources import Resting, create_source
from apps.queries.core.masking import BY_PEOPLE, MASK, Names
from apps.queries.enums import SourceKind
from apps.queries.models import CONVERSATION, Query, Source
from apps.queries.selectors import names_in
from apps.querylogs import rules
from apps.querylogs.enums import TRAFFIC, USUAL_OFFERED, USUAL_PEOPLE, OfferState, Plan
from apps.querylogs.execution import received
from apps.querylogs.execution.drawing import KIND, Drawn
from apps.querylogs.execution.fetching import FETCH, being_fetched, fetched_in, forget_ended
from apps.querylogs.execution.returned import MAKE_RUNS
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.selectors.logs import traffic_of
from apps.querylogs.workflow import after

UNDRAWN_FOR = timedelta(days=1)
"""How long the file of a log waits for somebody to draw from it."""


class LogRefused(Refusal):
    """A search log from which nothing can be drawn, or a query of one that cannot be decided."""


@transaction.atomic
def offer_drawn(*, project: Project, drawn: Drawn, options: dict[str, Any], actor: User, at: datetime) -> QueryLog:
    """Store what was drawn, to be read. A source is made where none was chosen."""
    source = Source.objects.filter(project=project, slug=options["source"]).first()
    if source is None:
        source = create_source(
            project=project,
            name=options["name"],
            kind=SourceKind.QUERY_LOG,
            slug=_free_slug(project, options["name"]),
            actor=actor,
            at=at,
        )
    log = QueryLog.objects.create(
        project=project,
        source=source,
        name=options["name"],
        least_people=options["people"],
        plan=options["plan"],
        seed=options["seed"],
        figures=drawn.figures,
        expires_at=at + timedelta(days=rules.UNREAD_DAYS),
        created_by=actor,
        created_at=at,
    )
    for offered in drawn.offered:
        offered.log = log
    OfferedQuery.objects.bulk_create(drawn.offered, batch_size=500)
    facts = {"offered": len(drawn.offered), "people": log.least_people, "plan": log.plan, "seed": log.seed}
    record(project=project, actor=actor, action="query_log.drawn", obj=log, after=facts, at=at)
    return log


def _free_slug(project: Project, name: str) -> str:
    slug, number = slugify(name)[:50] or "search-log", 1
    taken = set(Source.objects.filter(project=project, slug__startswith=slug).values_list("slug", flat=True))
    while (free := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    return free


def decide(
    *,
    offered: OfferedQuery,
    step: str,
    text: str = "",
    query: str = "",
    words: str = "",
    kind: str = "",
    listed: bool = False,
    note: str = "",
    actor: User,
    at: datetime,
) -> int:
    """Take one step on an offered query, by its name. Returns how many offered queries have changed."""
    if step == "mask":
        changed = mask_words(
            offered_id=offered.pk, words=words, kind=kind or BY_PEOPLE[0], listed=listed, actor=actor, at=at
        )
        return len(changed)
    if step == "keep":
        keep(offered_id=offered.pk, text=text, note=note, actor=actor, at=at)
    elif step == "same":
        other = Query.objects.filter(project=offered.log.project, outside_id=query).first()
        if other is None:
            raise LogRefused(f"This project has no query {query}.", code="query_unknown")
        same_as(offered_id=offered.pk, query=other, note=note, actor=actor, at=at)
    elif step == "reject":
        reject(offered_id=offered.pk, note=note, actor=actor, at=at)
    else:
        undo(offered_id=offered.pk, actor=actor, at=at)
    return 1


@transaction.atomic
def keep(*, offered_id: int, actor: User, at: datetime, text: str = "", note: str = "") -> OfferedQuery:
    """Make it a query of the project, in other words where `text` has some; its masks stay.

    Raises LogRefused, and QueryRefused for what the project's checks do not let in.
    """
    offered = _locked(offered_id)
    LogRefused.raise_for(rules.decide_refusal(offered), code="not_waiting")
    text = " ".join(text.split()) or offered.text
    if sorted(MASK.findall(text)) != sorted(MASK.findall(offered.text)):
        raise LogRefused("The masks of the query have to stay as they are. Change the other words.", code="masks_stay")
    log = offered.log
    project = log.project
    Project.objects.select_for_update().get(pk=project.pk)
    query = create_query(
        project=project,
        outside_id=_free_id(project, text),
        text=text,
        source=log.source,
        metadata={TRAFFIC: [traffic_of(offered)]} | ({CONVERSATION: offered.history} if offered.history else {}),
        is_text_on_record=False,
        actor=actor,
        at=at,
    )
    offered.query, offered.is_edited, offered.note = query, text != offered.text, note
    return _decided(offered, "keep", actor, at)


def _free_id(project: Project, text: str) -> str:
    """The next number. A query of the same words is refused: it is marked as the same as that one instead."""
    names = names_in(project)
    if known := names.known_id(text):
        raise LogRefused(f"{known} has the same words. Mark this one as the same.", code="same_words")
    return names.id_for(text)


@transaction.atomic
def same_as(*, offered_id: int, query: Query, actor: User, at: datetime, note: str = "") -> OfferedQuery:
    """Say that it is a query of the project in other words: that one takes its searches and its chance, no text."""
    offered = _locked(offered_id)
    LogRefused.raise_for(rules.decide_refusal(offered), code="not_waiting")
    if query.project_id != offered.log.project_id or query.retired_at is not None or query.is_asked:
        raise LogRefused(f"{query.outside_id} is not a live query of this project.", code="query_unknown")
    _take_traffic(query, [*_traffic(query), traffic_of(offered)], actor, at)
    offered.query, offered.note = query, note
    return _decided(offered, "same", actor, at)


@transaction.atomic
def reject(*, offered_id: int, actor: User, at: datetime, note: str = "") -> OfferedQuery:
    """Leave it out. Its text is deleted with the next decision."""
    offered = _locked(offered_id)
    LogRefused.raise_for(rules.decide_refusal(offered), code="not_waiting")
    offered.note = note
    return _decided(offered, "reject", actor, at)


@transaction.atomic
def undo(*, offered_id: int, actor: User, at: datetime) -> OfferedQuery:
    """Take the decision back, while the text is there: it waits again. A query that it made is removed."""
    offered = _locked(offered_id)
    if offered.query_id is not None:
        offered.query = Query.everything.select_for_update().get(pk=offered.query_id)
    LogRefused.raise_for(rules.undo_refusal(offered), code="not_undone")
    query, state = offered.query, offered.state
    offered.query, offered.is_edited = None, False
    _moved(offered, "undo", None, None)
    if query is not None and state == OfferState.KEPT:
        record(project=offered.log.project, actor=actor, action="query.removed", obj=query, at=at)
        _remove(query)
    elif query is not None:
        own = (offered.log_id, offered.position)
        _take_traffic(query, [one for one in _traffic(query) if (one["log"], one["position"]) != own], actor, at)
    return offered


def _remove(query: Query) -> None:
    try:
        query.delete()
    except ProtectedError as error:
        message = f"Something in the project rests on {query.outside_id} since. Retire it instead."
        raise LogRefused(message, code="not_undone") from error


@transaction.atomic
def mask_words(
    *, offered_id: int, words: str, kind: str, listed: bool, actor: User, at: datetime
) -> list[OfferedQuery]:
    """Mask these words in every query of the log that waits; with `listed`, in later logs too.

    Returns the queries that have changed, this one first. Raises LogRefused for words that it does not have.
    """
    offered = _locked(offered_id)
    LogRefused.raise_for(rules.decide_refusal(offered), code="not_waiting")
    if kind not in BY_PEOPLE:
        raise LogRefused(f"A mask is one of: {', '.join(BY_PEOPLE)}.", code="mask_unknown")
    names = Names([words])
    if not names or not names.mask(offered.text)[1]:
        raise LogRefused(f"The query does not have the words “{words}”.", code="words_missing")
    waiting = OfferedQuery.objects.select_for_update(of=("self",)).filter(log=offered.log, state=OfferState.WAITING)
    changed, touched = [], []
    for one in waiting.order_by("position"):
        text, count = names.mask(one.text, as_kind=kind)
        around = json.dumps([one.history, one.returned], ensure_ascii=False)
        history, returned = _masked((one.history, one.returned), names, kind)
        if count:
            one.text, one.masks = text, [*one.masks, *[kind] * count]
            changed.append(one)
        if count or json.dumps([history, returned], ensure_ascii=False) != around:
            one.history, one.returned = history, returned
            touched.append(one)
    OfferedQuery.objects.bulk_update(touched, ["text", "masks", "history", "returned"])
    if listed:
        add_names(project=offered.log.project, names=[words], actor=actor, at=at)
    facts = {"kind": kind, "queries": len(changed), "listed": listed}
    record(project=offered.log.project, actor=actor, action="query_log.masked", obj=offered.log, after=facts, at=at)
    return sorted(changed, key=lambda one: one.pk != offered.pk)


_IDS = frozenset({"id", "trace", "span"})


def _masked(value: Any, names: Names, kind: str) -> Any:
    """The value with its texts masked; the names of its fields, and ids, stay."""
    if isinstance(value, str):
        return names.mask(value, as_kind=kind)[0]
    if isinstance(value, dict):
        return {name: inner if name in _IDS else _masked(inner, names, kind) for name, inner in value.items()}
    return [_masked(inner, names, kind) for inner in value] if isinstance(value, list | tuple) else value


@transaction.atomic
def close_log(*, log_id: int, actor: User | None, at: datetime) -> QueryLog:
    """End the reading: what nobody has read is deleted. The chances stay those of the whole sample.

    Queries lie in the order of chance, so those read are a sample of those drawn, and a mean weighted by the chances of
    the whole sample is the same as by theirs.
    """
    log = QueryLog.objects.select_for_update().get(pk=log_id)
    LogRefused.raise_for(rules.open_refusal(log), code="log_closed")
    expired = log.offered.filter(state=OfferState.WAITING).update(
        state=after(OfferState.WAITING, "expire"),
        text="",
        history=[],
        returned={},
        decided_by=actor,
        decided_at=at,
    )
    _forget_decided(log)
    log.closed_at = at
    log.save(update_fields=["closed_at"])
    record(project=log.project, actor=actor, action="query_log.closed", obj=log, after={"unread": expired}, at=at)
    return log


@transaction.atomic
def remove_log(*, log_id: int) -> None:
    """Remove a log of which nothing has come in, in the caller's transaction: the import is undone."""
    log = QueryLog.objects.select_for_update().get(pk=log_id)
    LogRefused.raise_for(rules.log_undo_refusal(log), code="log_used")
    log.offered.all().delete()
    log.delete()


@transaction.atomic
def add_names(*, project: Project, names: Iterable[str], actor: User, at: datetime) -> int:
    """Put names on the project's list; those that are there stay. Returns how many are new."""
    cleaned = dict.fromkeys(name for one in names if (name := " ".join(one.split())[: rules.MOST_NAME]))
    rows = [
        MaskedName(project=project, name=name, created_by=actor, created_at=at) for name in cleaned if Names([name])
    ]
    before = MaskedName.objects.filter(project=project).count()
    MaskedName.objects.bulk_create(rows, ignore_conflicts=True)
    added = MaskedName.objects.filter(project=project).count() - before
    if added:
        after_ = {"names": before + added}
        record(project=project, actor=actor, action="masked_names.changed", obj=project, after=after_, at=at)
    return added


@transaction.atomic
def remove_name(*, name: MaskedName, actor: User, at: datetime) -> None:
    """Take a name off the list: later logs do not mask it. What was masked stays so."""
    name.delete()
    number = MaskedName.objects.filter(project=name.project_id).count()
    facts = {"names": number}
    record(project=name.project, actor=actor, action="masked_names.changed", obj=name.project, after=facts, at=at)


@periodic_task("querylogs.unread", every=timedelta(hours=1))
def delete_unread(at: datetime) -> None:
    """Close the logs whose time to be read is over, and delete files from which nobody has drawn in time."""
    received.forget(at)
    forget_ended()
    for pk in QueryLog.objects.filter(closed_at=None, expires_at__lte=at).values_list("pk", flat=True):
        close_log(log_id=pk, actor=None, at=at)
    waiting = Import.objects.filter(kind=KIND, state__in=[ImportState.READY, ImportState.FAULTY])
    for item in waiting.filter(created_at__lte=at - UNDRAWN_FOR).select_related("created_by"):
        discard_import(import_id=item.pk, actor=item.created_by, at=at)


def _options(name: str, *, source: str = "", grades_back: bool = False) -> dict[str, Any]:
    """The options of an import of traces; how it is drawn is chosen on its page, with the numbers."""
    return {
        "name": name,
        "source": source,
        "people": USUAL_PEOPLE,
        "wanted": USUAL_OFFERED,
        "plan": Plan.BALANCED.value,
        "seed": secrets.randbelow(9_000) + 1_000,
        "first_row": "",
        "grades_back": grades_back,
    }


def take_received(*, project: Project, actor: User, at: datetime) -> Import:
    """Make a waiting import of the traces that the project's systems have sent. Raises LogRefused without any."""
    path = received.taken(project)
    if path is None:
        raise LogRefused("No traces have come in since they were taken last.", code="nothing_received")
    options = _options(f"Traces of {at:%-d %B %Y}")
    with path.open("rb") as stream:
        file = UploadedFile(stream, name=f"traces-{at:%Y-%m-%d}.jsonl", size=path.stat().st_size)
        item = start_import(project=project, kind=KIND, file=file, options=options, actor=actor, at=at)
    path.unlink()
    return item


@transaction.atomic
def request_fetch(
    *,
    project: Project,
    origin: dict[str, Any],
    user: str,
    secret: str,
    name: str,
    source: str,
    grades_back: bool,
    actor: User,
    at: datetime,
) -> Job:
    """Queue a job that fetches traces from the server that `origin` says, and makes a waiting import of them.

    `secret` is the name of a secret of the project. Raises LogRefused for searches that were fetched already.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    others = [*fetched_in(project), *being_fetched(project)]
    LogRefused.raise_for(rules.fetch_refusal(origin, others), code="fetched_already")
    options = _options(name, source=source, grades_back=grades_back)
    params = {"origin": origin, "user": user, "secret": secret, "options": options}
    return enqueue(kind=FETCH, params=params, project=project, actor=actor, at=at, title=f"Fetch {name}"[:200])


class LogsOnPermissions:
    """Queries that wait to be read rest on the permission of their source."""

    def preview(self, source: Source) -> list[Resting]:
        waiting = OfferedQuery.objects.filter(log__source=source, log__closed_at=None, state=OfferState.WAITING).count()
        words = plural(waiting, "unread query of a search log", "unread queries of search logs")
        return [Resting(words, "is deleted" if waiting == 1 else "are deleted")] if waiting else []

    def act(self, source: Source, *, actor: User, at: datetime) -> list[Resting]:
        told = self.preview(source)
        for pk in QueryLog.objects.filter(source=source, closed_at=None).values_list("pk", flat=True):
            close_log(log_id=pk, actor=actor, at=at)
        return told


def _locked(offered_id: int) -> OfferedQuery:
    log_id = OfferedQuery.objects.values_list("log_id", flat=True).get(pk=offered_id)
    QueryLog.objects.select_for_update().get(pk=log_id)  # whoever closes it meanwhile is waited for
    offered = (
        OfferedQuery.objects.select_for_update(of=("self",))
        .select_related("log__project", "log__source")
        .get(pk=offered_id)
    )
    LogRefused.raise_for(rules.open_refusal(offered.log), code="log_closed")
    return offered


def _decided(offered: OfferedQuery, step: str, actor: User, at: datetime) -> OfferedQuery:
    """Move it, and delete the texts of what was decided before: only the last decision can be taken back."""
    _forget_decided(offered.log)
    _moved(offered, step, actor, at)
    facts = {"position": offered.position, "step": step, "query": offered.query.outside_id if offered.query else ""}
    record(project=offered.log.project, actor=actor, action="query_log.decided", obj=offered.log, after=facts, at=at)
    return offered


def _moved(offered: OfferedQuery, step: str, actor: User | None, at: datetime | None) -> None:
    offered.state = after(offered.state, step)
    offered.decided_by, offered.decided_at = actor, at
    offered.save(update_fields=["state", "query", "note", "is_edited", "decided_by", "decided_at"])


def _forget_decided(log: QueryLog) -> None:
    """Delete the texts of what was decided; what systems returned for a kept query waits for its runs."""
    decided = log.offered.exclude(state=OfferState.WAITING).exclude(text="")
    decided.exclude(state=OfferState.KEPT).update(text="", history=[], returned={})
    decided.filter(state=OfferState.KEPT).update(text="", history=[])


@transaction.atomic
def request_runs(*, log_id: int, snapshot: Snapshot | None, actor: User, at: datetime) -> Job:
    """Queue a job that makes a run of each system from what it returned for the kept queries.

    Without a snapshot their passages become a corpus of their own first, "as returned".
    """
    log = QueryLog.objects.select_for_update(of=("self",)).select_related("project").get(pk=log_id)
    LogRefused.raise_for(rules.runs_refusal(log), code="no_runs")
    params = {"log_id": log.pk, "snapshot_id": snapshot.pk if snapshot else None}
    title = f"Make runs of what {log.name} has"
    return enqueue(kind=MAKE_RUNS, params=params, project=log.project, actor=actor, at=at, title=title[:200])


def _traffic(query: Query) -> list[dict[str, Any]]:
    return list(query.metadata.get(TRAFFIC, []))


def _take_traffic(query: Query, traffic: list[dict[str, Any]], actor: User, at: datetime) -> None:
    rest = {name: value for name, value in query.metadata.items() if name != TRAFFIC}
    metadata = rest | ({TRAFFIC: traffic} if traffic else {})
    edit_query(query_id=query.pk, metadata=metadata, actor=actor, at=at)
