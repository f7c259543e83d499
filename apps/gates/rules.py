"""Reasons why a system cannot have a gate, or None."""

from apps.evaluation.rules import OF_SOME, SPLITS, grades_refusal, small_test_words, version_measures
from apps.gates.core.rule import GateRule
from apps.gates.models import Gate
from apps.goldsets.enums import Split
from apps.goldsets.models import GoldSet, Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.metrics.measures.notation import MeasureError
from apps.queries.core.strata import STRATA
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run, System

MOST_GATES = 200


def gate_refusal(gold_set: GoldSet, system: System, rule: GateRule, split: str, baseline: Run | None) -> str | None:
    in_use = Gate.objects.filter(gold_set=gold_set, retired_at=None)
    if split not in SPLITS:
        return f"There is no split called {split}; choose dev, test, or neither for both."
    if rule.slice is not None and rule.slice.is_named and split == Split.TEST:
        return "Slices have dev questions only: test stays sealed. Choose dev, or both."
    is_named = rule.slice is not None and rule.slice.is_named
    newest = newest_of(gold_set)
    if newest and not is_named and (few := small_test_words(newest, split, rule.hit)):
        return few
    if rule.slice is not None and not rule.slice.is_named and rule.slice.field not in STRATA:
        return f"A slice here uses one of {', '.join(STRATA)}, not {rule.slice.field}."
    if reason := name_refusal(gold_set, system, rule):
        return reason
    if in_use.count() >= MOST_GATES:
        return f"A gold set has at most {MOST_GATES} gates. Retire one first."
    return measure_refusal(rule, newest) or baseline_refusal(rule, baseline)


def name_refusal(gold_set: GoldSet, system: System, rule: GateRule) -> str | None:
    if not Gate.objects.filter(gold_set=gold_set, retired_at=None, system=system, name=rule.name).exists():
        return None
    return f"{system.name} has a gate called {rule.name} here. Change its threshold on its page, or retire it first."


def measure_refusal(rule: GateRule, newest: Version | None) -> str | None:
    """Why no version can be measured so, or why the newest lacks what it counts or reads."""
    if rule.measure is None:
        return None
    try:
        version_measures(rule.figure, rule.hit)
    except MeasureError as fault:
        return str(fault)
    if newest is None or not rule.measure.entry.needs & OF_SOME:
        return None
    return grades_refusal([rule.measure], newest)


def newest_of(gold_set: GoldSet) -> Version | None:
    """The version against which a new gate is checked; None before the first."""
    return scorable_versions(gold_set.project).filter(gold_set=gold_set).order_by("-number").first()


def baseline_refusal(rule: GateRule, baseline: Run | None) -> str | None:
    if rule.is_against_baseline and baseline is None:
        return "Choose the run that this gate compares with."
    if baseline is None:
        return None
    if not rule.is_against_baseline:
        return "Only a “no worse than a baseline” rule has a baseline."
    return (
        None if baseline.state == RunState.COMPLETE else f"{baseline.tag} is {baseline.state}. Choose a complete run."
    )
