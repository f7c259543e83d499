"""Gate rules: which figure of which queries must meet which bound, and in which tier it is checked."""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from apps.goldsets.core.slice_sampling import SLICE_NAMES
from apps.metrics.expected.measures import refuse_without_hits
from apps.metrics.expected.rules import BY_GRADES, HitRuleError, counts_questions, parse_hit_rule
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import DEFAULT_SEED

TIERS = ("smoke", "full", "deep")
PASSED, FAILED, UNKNOWN, NOTHING = STATES = ("passed", "failed", "unknown", "nothing")
MEAN, INTERVAL = ENDS = ("mean", "interval")
LATENCIES = {"latency_p50": 50, "latency_p95": 95, "latency_p99": 99}
COST = "cost"
BASELINE = "baseline"
NAMED = "slice"
LONGEST_NAME = 120
KEYS = ("name", "figure", "hit", "at_least", "at_most", "on", "no_worse_than", "margin", "slice", "tier", "not_known")
FAIL, WARN = NOT_KNOWN = ("fail", "warn")


class RuleError(ValueError):
    """An empty rule, or one that cannot be decided. `key` and `value` are the wrong entry."""

    def __init__(self, key: str, value: object, sentence: str) -> None:
        super().__init__(sentence)
        self.key = key
        self.value = value


class OutOfRange(RuleError):
    """A bound outside the range of its figure: it could never be met, or never be missed."""


class Slice(NamedTuple):
    """The queries whose stratum `field` is `value`; those of the version's slice `value` where `field` is NAMED."""

    field: str
    value: str

    @property
    def is_named(self) -> bool:
        return self.field == NAMED

    def __str__(self) -> str:
        return f"{self.field} = {self.value}"


class GateRule(NamedTuple):
    """One gate. Exactly one of `at_least`, `at_most` and `is_against_baseline` is given.

    `figure` is a measure by its canonical name, a key of LATENCIES (milliseconds a query), or "cost" (of 1,000 queries,
    in any currency). `on` is what must meet the bound: the figure itself, or its whole interval. `margin` is the
    largest accepted drop from the baseline; without one a run is worse when the whole interval of the difference is.
    `hit` is the hit rule of a measure on Q&As, or by text; "" for one on the grades of returned blocks. `not_known` is
    what a gate that cannot be decided does to a pipeline: FAIL stops it, WARN does not.
    """

    name: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None
    on: str = MEAN
    is_against_baseline: bool = False
    margin: float | None = None
    slice: Slice | None = None
    tier: str = "full"
    hit: str = BY_GRADES
    not_known: str = FAIL

    @property
    def measure(self) -> Measure | None:
        """The measure, None for a rule on speed or cost."""
        return None if self.figure in LATENCIES or self.figure == COST else parse_measure(self.figure)


def rule_of(facts: Mapping[str, Any]) -> GateRule:
    """The rule with these facts: a `[[gate]]` of a file, or the output of `as_facts`.

    Raises RuleError, and OutOfRange where the figure has no such value.
    """
    rule = stored_rule(facts)
    if fault := range_fault(rule):
        raise fault
    return rule


def stored_rule(facts: Mapping[str, Any]) -> GateRule:
    """As `rule_of`, without a check of the bound: some gates are older than that check. Raises RuleError."""
    for key in facts:
        if key not in KEYS:
            close = difflib.get_close_matches(str(key), KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(KEYS)}."
            raise RuleError(str(key), facts[key], f"A gate has no key {key}; {hint}")
    rule = GateRule(
        name=_name(facts.get("name")),
        figure=_figure(facts.get("figure")),
        at_least=_number("at_least", facts.get("at_least")),
        at_most=_number("at_most", facts.get("at_most")),
        on=_one_of("on", facts.get("on", MEAN), ENDS),
        is_against_baseline=_baseline(facts.get("no_worse_than")),
        margin=_number("margin", facts.get("margin")),
        slice=_slice(facts.get("slice")),
        tier=_one_of("tier", facts.get("tier", "full"), TIERS),
        hit=_hit(facts.get("hit")),
        not_known=_one_of("not_known", facts.get("not_known", FAIL), NOT_KNOWN),
    )
    _check_bounds(rule, facts)
    _check_hit(rule)
    return rule


def range_of(rule: GateRule) -> tuple[float, float]:
    """The least and the greatest possible value of the rule's figure; infinity for latency and cost."""
    measure = rule.measure
    return (0.0, math.inf) if measure is None else (measure.entry.low, measure.entry.high)


def range_fault(rule: GateRule) -> OutOfRange | None:
    """The error where a bound is outside the range of its figure, or a drop is larger than that range; else None."""
    low, high = range_of(rule)
    for key, bound in (("at_least", rule.at_least), ("at_most", rule.at_most)):
        if bound is not None and not low <= bound <= high:
            return OutOfRange(key, bound, _outside(rule.figure, bound, low, high))
    if rule.margin is not None and not rule.margin <= high - low:
        return OutOfRange("margin", rule.margin, _outside(f"A drop in {rule.figure}", rule.margin, 0.0, high - low))
    return None


def _outside(what: str, bound: float, low: float, high: float) -> str:
    if high == math.inf:
        return f"{what} is never below {low:g}; {bound:,g} is too low."
    words = f"{what} is between {low:g} and {high:g}; {bound:,g} is not."
    return f"{words} For {bound:g} % write {_share(bound)}." if high < bound <= 100 * high else words


def _share(percent: float) -> str:
    """A percentage as a share, with two decimals at least."""
    two, exact = f"{percent / 100:.2f}", f"{percent / 100:.10g}"
    return two if float(two) == float(exact) else exact


def as_facts(rule: GateRule) -> dict[str, Any]:
    """The rule as plain JSON values, without defaults; `rule_of` reads it back."""
    facts: dict[str, Any] = {"name": rule.name, "figure": rule.figure}
    if rule.hit:
        facts["hit"] = rule.hit
    for key in ("at_least", "at_most", "margin"):
        if getattr(rule, key) is not None:
            facts[key] = getattr(rule, key)
    if rule.is_against_baseline:
        facts["no_worse_than"] = BASELINE
    else:
        facts["on"] = rule.on
    if rule.slice is not None:
        facts["slice"] = rule.slice.value if rule.slice.is_named else rule.slice._asdict()
    if rule.not_known != FAIL:
        facts["not_known"] = rule.not_known
    return {**facts, "tier": rule.tier}


def requirement(rule: GateRule) -> str:
    """What the rule requires, as the end of a sentence that begins "the gate requires"."""
    if rule.is_against_baseline:
        beyond = "noise" if rule.margin is None else f"a drop of {rule.margin:g}"
        return f"no worse than the baseline beyond {beyond}"
    side, bound = ("at least", rule.at_least) if rule.at_least is not None else ("at most", rule.at_most)
    if rule.on == MEAN:
        return f"{side} {bound:,g}{unit(rule)}"
    return f"{side} {bound:,g}{unit(rule)} with its whole interval"


def unit(rule: GateRule) -> str:
    """The unit of the rule's figure, to follow a number; "" for a measure and for cost."""
    return " ms" if rule.figure in LATENCIES else ""


def measures_of(rules: Iterable[GateRule]) -> list[Measure]:
    """The measures that the rules need, each once, in order of first use."""
    measures = (rule.measure for rule in rules)
    return list(dict.fromkeys(measure for measure in measures if measure is not None))


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RuleError("name", value, 'A gate needs a name, such as name = "Good enough".')
    name = " ".join(value.split())
    if len(name) > LONGEST_NAME:
        raise RuleError("name", value, f"A gate's name has at most {LONGEST_NAME} characters.")
    return name


def _figure(value: object) -> str:
    others = ", ".join([*LATENCIES, COST])
    if not isinstance(value, str) or not value.strip():
        raise RuleError("figure", value, f"A gate needs a figure: a measure such as nDCG@10, or one of {others}.")
    text = value.strip()
    if text in LATENCIES or text == COST:
        return text
    try:
        return str(parse_measure(text))
    except MeasureError as fault:
        raise RuleError("figure", value, f"{fault} Other figures are {others}.") from fault


def _number(key: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RuleError(key, value, f"{key} is a number, not {_shown(value)}.")
    return float(value)


def _one_of(key: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise RuleError(key, value, f"{key} is one of {', '.join(known)}, not {_shown(value)}.")
    return str(value)


def _baseline(value: object) -> bool:
    if value not in (None, BASELINE):
        raise RuleError(
            "no_worse_than",
            value,
            f'no_worse_than is "baseline", not {_shown(value)}; the run itself is chosen outside the rules.',
        )
    return value == BASELINE


_SLICES = f'slice is one of {", ".join(SLICE_NAMES)}, or is written as {{ field = "domain", value = "tax" }}.'


def _hit(value: object) -> str:
    if value is None or value == BY_GRADES:
        return BY_GRADES
    try:
        return str(parse_hit_rule(str(value)))
    except HitRuleError as fault:
        raise RuleError("hit", value, str(fault)) from fault


def _check_hit(rule: GateRule) -> None:
    if not rule.hit:
        return
    if rule.measure is None:
        raise RuleError("hit", rule.hit, f"{rule.figure} has no hit rule; leave out hit.")
    if not counts_questions(rule.hit):
        return
    try:
        refuse_without_hits([rule.measure])
    except MeasureError as fault:
        raise RuleError("figure", rule.figure, str(fault)) from fault


def _slice(value: object) -> Slice | None:
    if value is None:
        return None
    if isinstance(value, str) and value in SLICE_NAMES:
        return Slice(NAMED, value)
    if not isinstance(value, Mapping) or value.keys() != {"field", "value"}:
        raise RuleError("slice", value, _SLICES)
    for key, text in value.items():
        if not isinstance(text, str) or not text.strip():
            raise RuleError(f"slice.{key}", text, f"{key} of a slice is a text, not {_shown(text)}.")
    found = Slice(value["field"].strip(), value["value"].strip())
    if found.is_named and found.value not in SLICE_NAMES:
        raise RuleError("slice.value", found.value, _SLICES)
    return found


def _check_bounds(rule: GateRule, facts: Mapping[str, Any]) -> None:
    given = [key for key in ("at_least", "at_most", "no_worse_than") if facts.get(key) is not None]
    if len(given) != 1:
        words = " and ".join(given) or "none"
        raise RuleError("figure", rule.figure, f"A gate has one of at_least, at_most and no_worse_than; here: {words}.")
    if rule.is_against_baseline and rule.measure is None:
        raise RuleError("no_worse_than", BASELINE, f"{rule.figure} has no paired difference; give it at_most.")
    if rule.margin is not None and not (rule.is_against_baseline and rule.margin >= 0):
        raise RuleError("margin", rule.margin, "margin is a number from 0, together with no_worse_than.")
    if rule.is_against_baseline and rule.on != MEAN:
        raise RuleError("on", rule.on, "no_worse_than always uses the interval of the difference; leave out on.")
    if rule.measure is None and rule.at_most is None:
        raise RuleError("at_least", rule.at_least, f"{rule.figure} is a guard-rail; give it at_most.")
    if rule.figure == COST and (rule.on != MEAN or rule.slice is not None):
        raise RuleError("on" if rule.slice is None else "slice", COST, "cost is one number of a run: no on, no slice.")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


SMOKE_QUERIES = 50


def sample(query_ids: Sequence[str], *, seed: int = DEFAULT_SEED, most: int = SMOKE_QUERIES) -> list[int]:
    """Row numbers of the queries in the smoke tier, ascending: those with the lowest hashes under the seed.

    The hash of a query does not depend on the other queries, so a new version changes the sample as little as possible,
    and a sample of a sample is itself. All of them when there are no more than `most`. The default is fifty, so that a
    system that needs a second for each query is done within a minute.
    """
    drawn = sorted(range(len(query_ids)), key=lambda place: _hash(query_ids[place], seed))
    return sorted(drawn[:most])


def rules_in(rules: Iterable[GateRule], tier: str) -> list[GateRule]:
    """The rules checked in a tier: its own and those of lighter tiers. Raises ValueError for an unknown tier."""
    included = TIERS[: TIERS.index(tier) + 1]
    return [rule for rule in rules if rule.tier in included]


def _hash(query_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{query_id}".encode()).digest()
