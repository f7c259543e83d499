"""What the pages of a search log show: before the draw, from the figures of its preview, and while it is read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from apps.common.text.words import words_of
from apps.corpus.models import Import
from apps.queries.core.masking import BY_PEOPLE, KINDS, with_masks
from apps.querylogs import rules
from apps.querylogs.core.sampling import SamplePlan, Stratum, plan_sample, population_of
from apps.querylogs.enums import LEAST_PEOPLE, PUBLIC_PEOPLE, USUAL_PEOPLE, OfferState, Outcome, Plan
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.selectors.logs import Tally, is_permitted, nearest, offered_in, tally_of

AROUND = 8
"""Queries of the list before the one that is read; as many and more follow."""
GLYPHS = {
    OfferState.KEPT: "done",
    OfferState.SAME: "same",
    OfferState.REJECTED: "out",
    OfferState.WAITING: "todo",
    OfferState.EXPIRED: "out",
}
BAR_WIDTH = 252


class QueueRow(NamedTuple):
    """A line of the list: what stands there, and whether that is the query itself."""

    offered: OfferedQuery
    parts: list[tuple[str, bool]]
    is_text: bool
    glyph: str


def reading_context(log: QueryLog, offered: OfferedQuery) -> dict[str, Any]:
    """Context of `querylogs/read.html`."""
    every = list(offered_in(log))
    tally = tally_of(every)
    start = max(0, min(offered.position - 1 - AROUND, len(every) - 2 * AROUND - 1))
    last = next((one for one in every if one.text and one.state != OfferState.WAITING), None)
    places = {one.position: number for number, one in enumerate(every)}
    here = places[offered.position]
    return {
        "log": log,
        "offered": offered,
        "history": [with_masks(text) for text in offered.history],
        "systems": [(name, len(told["passages"])) for name, told in sorted(offered.returned.items())],
        "parts": _readable(offered),
        "queue": [_queued(one) for one in every[start : start + 2 * AROUND + 1]],
        "before": every[here - 1] if here else None,
        "following": every[here + 1] if here + 1 < len(every) else None,
        "tally": tally,
        "bars": _bars(tally),
        "ticks": [(number * 1200 / len(every), one.state != OfferState.WAITING) for number, one in enumerate(every)],
        "near": nearest(log.project, offered.text) if offered.state == OfferState.WAITING else [],
        "last": last,
        "kinds": BY_PEOPLE,
        "names": MaskedName.objects.filter(project=log.project).count(),
        "stands_for": round(1 / offered.chance) if offered.chance < 1 else 1,
        "weeks": _weeks(offered),
        "masks": _counted(offered.masks),
    }


def _readable(offered: OfferedQuery) -> list[tuple[str, str]]:
    """The words of a query, each with what it is: "mask", "doubt" or "word"."""
    parts = []
    doubts = set(offered.doubts)
    for text, is_mask in with_masks(offered.text or (offered.query.text if offered.query else "")):
        if is_mask:
            parts.append((text, "mask"))
        else:
            parts += [(word, "doubt" if doubts.intersection(words_of(word)) else "word") for word in text.split()]
    return parts


def _queued(one: OfferedQuery) -> QueueRow:
    glyph = GLYPHS[OfferState(one.state)]
    if one.state == OfferState.SAME and one.query is not None:
        return QueueRow(one, [(f"same as {one.query.outside_id}", False)], False, glyph)
    text = one.query.text if one.query else one.text if one.state == OfferState.WAITING else ""
    return QueueRow(one, with_masks(text) if text else [("text deleted", False)], bool(text), glyph)


def _bars(tally: Tally) -> list[tuple[str, float, float]]:
    """(class, start, width) of each part of the bar."""
    bars, start = [], 0.0
    for name, number in (("in", tally.kept), ("same", tally.same), ("out", tally.rejected + tally.expired)):
        width = BAR_WIDTH * number / max(1, tally.total)
        bars.append((name, start, width))
        start += width
    return [*bars, ("open", start, BAR_WIDTH - start)]


def _weeks(offered: OfferedQuery) -> int:
    if not (offered.first_week and offered.last_week):
        return 0
    return (offered.last_week - offered.first_week).days // 7 + 1


def _counted(masks: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(Counter(masks).items())


NAMES = {
    "e-mail": "E-mail address",
    "link": "Link",
    "phone": "Phone number",
    "card": "Card number",
    "IBAN": "Bank account (IBAN)",
    "national id": "National id number",
    "key": "Long key or hash",
    "street address": "Street address",
    "name on list": "Name on your list",
}
SECONDS_A_QUERY = 10
BAR = 100


class MaskRow(NamedTuple):
    name: str
    places: int
    examples: list[list[tuple[str, bool]]]


class PeopleChoice(NamedTuple):
    """A number of people to choose: its key, what it is for, and what it leaves."""

    key: str
    people: int
    words: str
    queries: int
    searches: int
    share: float
    is_chosen: bool


class BandRow(NamedTuple):
    """A stratum on the page; `rows` is the number of rows of its band on the first of them, else 0."""

    stratum: Stratum
    rows: int
    searched: str
    outcome: str
    bar: float
    like: float


def sample_of(figures: Mapping[str, Any], options: Mapping[str, Any]) -> SamplePlan:
    """The sample that the choices would give, from the figures of the preview."""
    population = population_of(figures["rows"], options["people"], LEAST_PEOPLE)
    return plan_sample(population, options["wanted"], Plan(options["plan"]))


def mapping_context(item: Import, *, at: datetime) -> dict[str, Any]:
    """Context of `querylogs/mapping.html`; without figures while no column has the queries."""
    figures, options = item.plan.get("log") or {}, item.options
    if not figures:
        return {"log": None}
    plan = sample_of(figures, options)
    permitted = is_permitted(item.project, options["source"], at)
    return {
        "log": figures,
        "returned": _located(figures.get("located")),
        "unused": sorted(figures["unused"].items(), key=lambda one: -one[1]),
        "counted": figures["searches"] - figures["left_out"]["total"],
        "masks": [
            MaskRow(
                NAMES.get(kind, kind), figures["masked"][kind], [with_masks(text) for text in figures["examples"][kind]]
            )
            for kind in KINDS
        ],
        "places_masked": sum(figures["masked"].values()),
        "names": MaskedName.objects.filter(project=item.project).count(),
        "choices": _choices(figures, options, is_permitted=permitted),
        "few": figures["queries"] - plan.queries,
        "is_few": options["people"] < USUAL_PEOPLE,
        "plan": plan,
        "rows": _rows(plan, has_results=figures["has_results"], has_times=figures["has_times"]),
        "nothing": _nothing(plan),
        "chance": plan.places / plan.queries if plan.queries else 0,
        "minutes": max(1, round(plan.places * SECONDS_A_QUERY / 60)),
        "refusal": rules.draw_refusal(
            least=options["people"],
            has_people=figures["has_people"],
            queries=plan.queries,
            is_permitted=permitted,
        ),
        "shown": [[(with_masks(cell["text"]), cell["is_out"]) for cell in row] for row in item.plan["table"]["sample"]],
    }


def _located(figures: dict[str, Any] | None) -> dict[str, Any] | None:
    """The figures of the passages with the share of those that were found."""
    if not figures or not figures["snapshot"]:
        return figures
    return figures | {"share": (figures["by_id"] + figures["by_text"]) / max(1, figures["total"])}


def _choices(figures: dict[str, Any], options: dict[str, Any], *, is_permitted: bool) -> list[PeopleChoice]:
    """The usual numbers of people, and the lower ones where the source may use them."""
    usual = [("i", USUAL_PEOPLE, "for use inside"), ("p", PUBLIC_PEOPLE, "for a public set")]
    if is_permitted:
        usual.insert(0, ("1", 1, "with the permission of the source"))
    if options["people"] not in {people for _, people, _ in usual}:
        usual.append(("", options["people"], "as chosen"))
    rows = []
    for key, people, words in usual:
        population = population_of(figures["rows"], people, LEAST_PEOPLE)
        share = population.traffic / max(1, figures["searches"] - figures["left_out"]["total"])
        queries = int(population.counts.sum())
        rows.append(PeopleChoice(key, people, words, queries, population.traffic, share, people == options["people"]))
    return rows


def _rows(plan: SamplePlan, *, has_results: bool, has_times: bool) -> list[BandRow]:
    """The strata that have queries, by band; of outcomes that the log cannot tell none."""
    searched = [f"{plan.head_from:,} searches and more", f"{plan.torso_from:,} and more", "fewer"]
    filled = [one for one in plan.strata if one.queries]
    most = max((max(one.places, one.like_traffic) for one in filled), default=1) or 1
    rows = []
    for words, (_, inside) in zip(_of_bands(searched, filled), groupby(filled, key=lambda one: one.band), strict=True):
        strata = list(inside)
        for number, one in enumerate(strata):
            outcome = one.outcome.label if has_results or has_times else "not known"
            rows.append(
                BandRow(
                    one,
                    0 if number else len(strata),
                    words,
                    outcome,
                    BAR * one.places / most,
                    BAR * one.like_traffic / most,
                )
            )
    return rows


def _of_bands(words: Sequence[str], strata: Sequence[Stratum]) -> list[str]:
    bands = list(dict.fromkeys(one.band for one in strata))
    every = list(type(strata[0].band)) if strata else []
    return [words[every.index(band)] for band in bands]


def _nothing(plan: SamplePlan) -> dict[str, float]:
    strata = [one for one in plan.strata if one.outcome == Outcome.NOTHING]
    return {"places": sum(one.places for one in strata), "like": sum(one.like_traffic for one in strata)}
