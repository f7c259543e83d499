"""What the page of a search log shows before the draw, from the figures of its preview."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from apps.corpus.models import Import
from apps.queries.core.masking import KINDS, with_masks
from apps.querylogs import rules
from apps.querylogs.core.sampling import SamplePlan, Stratum, plan_sample, population_of
from apps.querylogs.enums import LEAST_PEOPLE, PUBLIC_PEOPLE, USUAL_PEOPLE, Outcome, Plan
from apps.querylogs.models import MaskedName
from apps.querylogs.selectors.logs import is_permitted

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
