"""Next steps after a gate that did not pass, for notifications, mail and webhooks."""

from typing import NamedTuple

from apps.evaluation.models import Evaluation
from apps.gates.core.decisions import GAPS
from apps.gates.enums import GateState
from apps.gates.models import Gate, GateResult
from apps.gates.selectors import gates

AFTER_A_GAP = dict(
    zip(
        GAPS,
        (
            "Release a version with such queries, or retire the gate.",
            "Release a version with more such queries, or check every query.",
            "Check what the measure needs from the version, or retire the gate.",
            "Let Karat run the system: an uploaded run has no times.",
            "Enter the cost of 1,000 queries in the run's ledger entry.",
            "Create a gate with another baseline and retire this one.",
            "Run the baseline's system on that snapshot, create a gate against this run, and retire this one.",
            "Create a gate with a measure for this scale and retire this one.",
        ),
        strict=True,
    )
)


class Next(NamedTuple):
    """What to do about a gate that did not pass, and the evaluation to compare the run with, if any."""

    words: str
    compared_with: Evaluation | None = None


def next_step(gate: Gate, result: GateResult | None) -> Next | None:
    """None where nothing is to be done: the gate passed, or has no result yet."""
    if result is None or result.state == GateState.PASSED:
        return None
    if result.state != GateState.FAILED:
        words = AFTER_A_GAP.get(result.gap or "")
        return Next(words) if words else None
    compared_with = _evaluation_to_compare(gate, result)
    if compared_with is None:
        return Next("There is no passed run to compare it with.")
    what = "its baseline" if compared_with.run_id == gate.baseline_id else "the newest run that passed"
    return Next(f"Compare it with {compared_with.run.tag}, {what}.", compared_with)


def _evaluation_to_compare(gate: Gate, result: GateResult) -> Evaluation | None:
    """An evaluation of the baseline, else of the newest other passed run, on the version and split of the result."""
    version = result.evaluation.version_id
    if gate.baseline_id is not None:
        evaluations = Evaluation.objects.filter(
            run=gate.baseline_id,
            version=version,
            split=gate.split,
            hit=gates.rule_of(gate).hit,
            scored_at__isnull=False,
        ).exclude(run=result.evaluation.run_id)
        return evaluations.select_related("run").order_by("-pk").first()
    passed = gates.results_of(gate).filter(state=GateState.PASSED, evaluation__version=version).first()
    return passed.evaluation if passed else None
