"""A gate that says something else now: what leads read in their list and their mail, and what webhooks get."""

from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import members_of
from apps.common.svg import clip
from apps.evaluation import gates, rules
from apps.evaluation.enums import GateState
from apps.evaluation.gating import GAPS
from apps.evaluation.models import Evaluation, Gate, GateResult
from apps.jobs.mailing import absolute
from apps.jobs.notifications import SENTENCE_LENGTH, notify
from apps.jobs.webhooks import post_to_webhooks

CHANGED = "gate.changed"
NAMES_OF = (SENTENCE_LENGTH, 40, 20)
AFTER_A_GAP = dict(
    zip(
        GAPS,
        (
            "Release a version with such queries, or retire the gate.",
            "Release a version with more such queries, or hold every query.",
            "Look at what the measure needs of the version, or retire the gate.",
            "Have Karat run or ask the system: an uploaded run carries no times.",
            "Write the cost of 1,000 queries into the run's ledger.",
            "Make a gate with another baseline and retire this one.",
            "Run the baseline's system on that snapshot, make a gate against this run, and retire this one.",
            "Make a gate with a measure for this scale and retire this one.",
        ),
        strict=True,
    )
)


class Next(NamedTuple):
    """What to do about a gate that did not pass, and the scores to set the run's beside, where there are some."""

    words: str
    beside: Evaluation | None = None


def next_step(gate: Gate, result: GateResult | None) -> Next | None:
    """None where nothing is to be done: the gate passed, or has said nothing yet."""
    if result is None or result.state == GateState.PASSED:
        return None
    if result.state == GateState.UNKNOWN:
        words = AFTER_A_GAP.get(result.gap or "")
        return Next(words) if words else None
    beside = _beside(gate, result)
    if beside is None:
        return Next("No run that passed is there to compare it with.")
    what = "its baseline" if beside.run_id == gate.baseline_id else "the newest run that passed"
    return Next(f"Compare it with {beside.run.tag}, {what}.", beside)


def _beside(gate: Gate, result: GateResult) -> Evaluation | None:
    """Scores of the baseline, else of the newest other run that passed, on the version and side of the result."""
    version = result.evaluation.version_id
    if gate.baseline_id is not None:
        found = Evaluation.objects.filter(
            run=gate.baseline_id, version=version, split=gate.split, scored_at__isnull=False
        ).exclude(run=result.evaluation.run_id)
        return found.select_related("run").order_by("-pk").first()
    passed = gates.results_of(gate).filter(state=GateState.PASSED, evaluation__version=version).first()
    return passed.evaluation if passed else None


def tell(gate: Gate, before: str | None, result: GateResult, at: datetime) -> None:
    """Tell leads and webhooks that a gate stands in another state than `before`."""
    project = gate.gold_set.project
    path = reverse("evaluation:gate", args=[project.slug, gate.pk])
    step = next_step(gate, result)
    sentence = sentence_of(gate, before, result, step)
    for lead in members_of(project, Role.LEAD):
        key = f"gate:{gate.pk}:{result.pk}"
        notify(person=lead, project=project, kind="gate", sentence=sentence, path=path, key=key, at=at)
    facts = {**facts_of(gate, before, result, step), "url": absolute(path)}
    post_to_webhooks(project=project, event=CHANGED, facts=facts, at=at)


def sentence_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> str:
    """What happened, of which run, what was found, and what to do next.

    A notification is short. Where names are long what to do next goes first, the page says it too; then names are cut.
    """
    told = [_sentence(gate, before, result, longest) for longest in NAMES_OF]
    full = f"{told[0]} {step.words}" if step else told[0]
    return next((one for one in (full, *told) if len(one) <= SENTENCE_LENGTH), told[-1])


def _sentence(gate: Gate, before: str | None, result: GateResult, longest: int) -> str:
    name, system, tag, gold_set = (
        clip(words, longest) for words in (gate.name, gate.system.name, result.evaluation.run.tag, gate.gold_set.name)
    )
    was = f", it was {GateState(before).label}" if before else ""
    run = tag if tag == system else f"{tag} of {system}"
    where = f"{gold_set} {result.evaluation.version.label}, {rules.SPLIT_WORDS[gate.split]}"
    return f"Gate {name}: {result.get_state_display()}{was}. Run {run} on {where}: {result.words}"


def facts_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> dict[str, Any]:
    """The same for machines, as plain JSON values."""
    evaluation = result.evaluation
    return {
        "gate": {"id": gate.pk, "name": gate.name, "tier": gate.tier, "rule": gate.rule},
        "asks": gates.asks_of(gate),
        "gold_set": gate.gold_set.slug,
        "version": evaluation.version.number,
        "split": evaluation.split,
        "system": gate.system.name,
        "run": evaluation.run.tag,
        "evaluation": evaluation.pk,
        "baseline": gate.baseline.tag if gate.baseline else None,
        "from": before,
        "to": result.state,
        "value": result.value,
        "ci_low": result.ci_low,
        "ci_high": result.ci_high,
        "n": result.n,
        "bound": result.bound,
        "gap": result.gap,
        "words": result.words,
        "next": step.words if step else "",
    }
