"""The triples of the demo, each taken through the steps that its entry names."""

from typing import Any

from apps.accounts.models import User
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.dashboard.execution.demo import material
from apps.dashboard.execution.demo.stage import REVIEWERS, Stage
from apps.queries.models import Query
from apps.review.actions.disputes import adjudicate, post_message, withdraw_flag
from apps.review.actions.submitting import give_verdict, revise, submit_triple
from apps.review.enums import Category, Decision, VerdictChoice
from apps.triples.actions.triples import start_draft
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice, Wording

FLAGGER, OTHER = REVIEWERS
ENDINGS = {"numeric": Category.NUMERIC, "synonym": Category.SYNONYM, "compound": Category.COMPOUND}


def is_before_the_host(entry: dict[str, Any]) -> bool:
    return entry["course"] not in {"waiting", "draft"}


def write_triples(stage: Stage, entries: list[dict[str, Any]], *, first_day: float, last_day: float) -> None:
    """Spread the entries over the days and take each through the steps of its course."""
    step = (last_day - first_day) / max(len(entries), 1)
    versions = _versions(stage)
    for place, entry in enumerate(entries):
        _one(stage, entry, versions, day=first_day + place * step)


def _versions(stage: Stage) -> dict[str, BlockVersion]:
    rows = SnapshotBlock.objects.filter(snapshot=stage.frozen()).select_related("block", "version")
    return {row.block.outside_id: row.version for row in rows}


def _one(stage: Stage, entry: dict[str, Any], versions: dict[str, BlockVersion], *, day: float) -> None:
    author = stage.people[entry["author"]]
    query = Query.objects.get(project=stage.project, outside_id=entry["query"]) if "query" in entry else None
    evidence = {entry["block"]: entry["evidence"], **entry.get("also", {})}
    wording = Wording(
        question=entry["question"],
        answer=entry["answer"],
        blocks=tuple(
            BlockChoice(versions[block].pk, _spans(versions[block].text, quotes)) for block, quotes in evidence.items()
        ),
        needs_all_blocks="also" in entry,
        difficulty=entry["difficulty"],
        domain=query.domain if query else entry["domain"],
        source_id=query.source_id if query else None,
        answers=tuple(entry.get("answers", {}).items()),
    )
    triple = start_draft(
        project=stage.project,
        author=author,
        snapshot=stage.frozen(),
        wording=wording,
        query=query,
        at=stage.at(day),
    )
    if entry["course"] == "draft":
        return
    triple = submit_triple(project=stage.project, triple_id=triple.pk, author=author, at=stage.at(day + 0.1))
    if entry["course"] == "waiting":
        _wait(stage, triple, entry, day)
    elif entry["course"] == "consensus":
        _both_confirm(stage, triple, day + 0.5)
    else:
        _differ(stage, triple, entry, wording, day + 0.5)


def _spans(text: str, quotes: list[str]) -> tuple[tuple[int, int], ...]:
    return tuple((text.index(quote), text.index(quote) + len(quote)) for quote in quotes)


def _wait(stage: Stage, triple: Triple, entry: dict[str, Any], day: float) -> None:
    """Give as many verdicts as the entry names; the other seat may be the host's."""
    seats = triple.current.seats.select_related("reviewer") if triple.current else []
    cast_seats = [seat.reviewer for seat in seats if seat.reviewer_id != stage.host.pk]
    for reviewer in cast_seats[: entry["verdicts"]]:
        _confirm(stage, triple, reviewer, day + 0.4)


def _both_confirm(stage: Stage, triple: Triple, day: float) -> None:
    for offset, key in enumerate(REVIEWERS):
        _confirm(stage, triple, stage.people[key], day + 0.2 * offset)


def _differ(stage: Stage, triple: Triple, entry: dict[str, Any], wording: Wording, day: float) -> None:
    category = ENDINGS.get(entry["course"], Category.OTHER)
    if entry["course"] == "dropped":
        _flag(stage, triple, FLAGGER, entry["flag"], "", entry["note"], day)
        _flag(stage, triple, OTHER, entry["flag2"], Category.OTHER, entry["note2"], day + 0.2)
        return
    _confirm(stage, triple, stage.people[OTHER], day)
    _flag(stage, triple, FLAGGER, entry["flag"], category, entry["note"], day + 0.2)
    for offset, (key, text) in enumerate(entry.get("messages", []), start=1):
        at = stage.at(day + 0.2 + 0.1 * offset)
        post_message(project=stage.project, triple_id=triple.pk, author=stage.people[key], text=text, at=at)
    _end(stage, triple, entry, wording, category, day + 1)


def _end(stage: Stage, triple: Triple, entry: dict[str, Any], wording: Wording, category: Category, day: float) -> None:
    common: dict[str, Any] = {"project": stage.project, "triple_id": triple.pk, "at": stage.at(day)}
    if entry["ends"] == "withdraw_flag":
        withdraw_flag(reviewer=stage.people[FLAGGER], policy=category, **common)
    elif entry["ends"] == "adjudicate":
        adjudicate(lead=stage.lead, decision=Decision.ACCEPT, reason=entry["ruling"], **common)
    elif entry["ends"] == "revise":
        wording = wording._replace(**entry["revised"])
        revise(author=triple.author, snapshot=stage.frozen(), wording=wording, **common)
        triple.refresh_from_db()
        _both_confirm(stage, triple, day + 0.5)


def _confirm(stage: Stage, triple: Triple, reviewer: User, day: float) -> None:
    _verdict(stage, triple, reviewer, day, choice=VerdictChoice.CONFIRM, reasons=[])


def _flag(stage: Stage, triple: Triple, key: str, reason: str, category: str, note: str, day: float) -> None:
    reviewer = stage.people[key]
    _verdict(stage, triple, reviewer, day, choice=VerdictChoice.FLAG, reasons=[reason], category=category, note=note)


def _verdict(stage: Stage, triple: Triple, reviewer: User, day: float, **details: Any) -> None:
    give_verdict(
        project=stage.project,
        triple_id=triple.pk,
        revision_id=triple.current_id or 0,
        reviewer=reviewer,
        idempotency_key=f"demo-{triple.pk}-{triple.current_id}-{reviewer.pk}",
        at=stage.at(day),
        **details,
    )


def demo_triples(*, before_the_host: bool) -> list[dict[str, Any]]:
    return [entry for entry in material.triples() if is_before_the_host(entry) is before_the_host]
