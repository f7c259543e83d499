"""Context of the page of an edition: six kinds with what they touch, lists behind the counts, and the work."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator

from apps.corpus.models import BlockVersion
from apps.editions.core.comparison import PassageChange
from apps.editions.edges import EditionSheet
from apps.editions.enums import ChangeKind, Choice
from apps.editions.selectors.decisions import ChangedPassage, choices_of
from apps.editions.selectors.editions import Edition
from apps.editions.selectors.taken import TakenEdition
from apps.editions.selectors.work import Work, work_of
from apps.judging.models import Round
from apps.queries.models import Query
from apps.retrieval.models import Pool
from apps.triples.models import Triple

SHOWN = 30
MOST_SHOWN = 600
PAGE_SIZE = 50
LISTS = ("passages", "grades", "triples")


def edition_context(edition: Edition, query: Mapping[str, str]) -> dict[str, Any]:
    """All of the page. `query` are the parameters of its URL: which list is open, how many changes are shown."""
    sheet = EditionSheet.of(edition)
    rest = Choice.CARRY if query.get("all") == Choice.CARRY else None
    shown = sheet.ranked[: _shown(query)]
    compared = list(dict.fromkeys([*sheet.weighty, *shown]))
    edition.read(compared, edition.of(ChangeKind.NEW))
    passages = sheet.passages(compared)
    choices = choices_of(passages, {}, rest)
    shown_passages = passages_in_order(passages, shown)
    work = work_of(edition, sheet.usage, choices)
    rows = sheet.rows
    taken = sheet.asked.get("taken")
    return {
        "edition": edition,
        "rows": rows,
        "changes": [(passage, choices[passage.old.pk] == Choice.CARRY) for passage in shown_passages],
        "any_decided": any(passage.decided for passage in passages),
        "changes_total": len(sheet.ranked),
        "changed": next(row for row in rows if row.kind == ChangeKind.CHANGED),
        "next_shown": _shown(query) + SHOWN,
        "rest": rest,
        "work": work,
        "stays": sheet.asked["stays"],
        "versions": [each.version for each in sheet.resting if each.kinds],
        "drafts": sheet.drafts,
        "list": _open_list(sheet, query),
        **_round(sheet, work),
        "taken": taken,
        "to_run": sheet.asked.get("to_run"),
        **_made(taken, sheet.rounds),
    }


def _made(taken: TakenEdition | None, rounds: Iterable[Round]) -> dict[str, Any]:
    """What came of an edition that was taken: the rounds, which are among those of the corpus, and the pool."""
    if taken is None:
        return {}
    by_key: dict[int | None, Round] = {round_.pk: round_ for round_ in rounds}
    made = by_key.get(taken.after["round"])
    return {
        "made_round": made,
        "made_pool": made.pool if made else Pool.objects.filter(pk=taken.after["pool"]).first(),
        "carried_round": by_key.get(taken.after["carried_round"]),
    }


def passages_in_order(passages: Sequence[ChangedPassage], shown: Sequence[PassageChange]) -> list[ChangedPassage]:
    by_name = {passage.change.name: passage for passage in passages}
    return [by_name[change.name] for change in shown]


def _shown(query: Mapping[str, str]) -> int:
    wanted = query.get("changes", "")
    return min(int(wanted), MOST_SHOWN) if wanted.isdecimal() and len(wanted) < 6 else SHOWN


def _round(sheet: EditionSheet, work: Work) -> dict[str, Any]:
    planned = sheet.round_for(work)
    return {
        "former_round": planned.former,
        "people": planned.people,
        "round_refusal": planned.refusal,
        "time": planned.time_per_pair.of(len(work.to_judge)),
        "time_per_pair": planned.time_per_pair,
    }


def _open_list(sheet: EditionSheet, query: Mapping[str, str]) -> dict[str, Any] | None:
    """The list behind a count: the kind and what of it, with one page of its rows."""
    kind, of = query.get("show", ""), query.get("of", "passages")
    if kind not in ChangeKind.values or of not in LISTS:
        return None
    chosen = ChangeKind(kind)
    build = {"passages": _passages, "grades": _pairs, "triples": _triples}[of]
    page, rows = build(sheet, chosen, query.get("page", ""))
    return {"kind": chosen, "of": of, "page": page, "rows": rows}


def _passages(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[Any]]:
    page: Any = Paginator(sheet.of_kind(kind), PAGE_SIZE).get_page(number)
    return page, sheet.listed(page)


def _pairs(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[dict[str, Any]]]:
    """Judged pairs by query and passage, without their grades: whoever still judges may see this."""
    grades = sheet.usage.grades
    versions = {version for version in grades if sheet.kind_of(version) == kind}
    names = BlockVersion.objects.filter(pk__in=versions).values_list("block__outside_id", "pk", "block_id")
    pairs = sorted((query, *found) for found in names for query in grades[found[1]])
    page = Paginator(pairs, PAGE_SIZE).get_page(number)
    queries = Query.objects.in_bulk({query for query, *_ in page})
    rows = [{"query": queries[query], "name": name, "block_id": block} for query, name, _, block in page]
    return page, rows


def _triples(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[Triple]]:
    found = {pk for version, own in sheet.usage.triples.items() if sheet.kind_of(version) == kind for pk in own}
    page = Paginator(sorted(found), PAGE_SIZE).get_page(number)
    triples = Triple.objects.select_related("current").in_bulk(list(page))
    return page, [triples[pk] for pk in page]
