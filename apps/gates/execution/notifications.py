"""Notifications and webhooks about a gate whose state changed."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import members_of
from apps.common.drawing.svg import clip
from apps.evaluation import rules
from apps.gates.enums import GateState
from apps.gates.models import Gate, GateResult
from apps.gates.selectors import gates
from apps.gates.selectors.next_steps import Next, next_step
from apps.jobs.actions.notifications import SENTENCE_LENGTH, notify
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.webhooks import post_to_webhooks

CHANGED = "gate.changed"


NAMES_OF = (SENTENCE_LENGTH, 40, 20)


def notify_of_change(gate: Gate, before: str | None, result: GateResult, at: datetime) -> None:
    """Notify leads and webhooks that the state of a gate is no longer `before`."""
    project = gate.gold_set.project
    path = reverse("gates:gate", args=[project.slug, gate.pk])
    step = next_step(gate, result)
    sentence = sentence_of(gate, before, result, step)
    for lead in members_of(project, Role.LEAD):
        key = f"gate:{gate.pk}:{result.pk}"
        notify(person=lead, project=project, kind="gate", sentence=sentence, path=path, key=key, at=at)
    facts = {**facts_of(gate, before, result, step), "url": absolute(path)}
    post_to_webhooks(project=project, event=WebhookEvent.GATE, facts=facts, at=at)


def sentence_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> str:
    """What happened, on which run, with which figure, and what to do next.

    At most SENTENCE_LENGTH characters: with long names the next step is left out first (the page shows it too); then
    names are shortened.
    """
    sentences = [_sentence(gate, before, result, longest) for longest in NAMES_OF]
    full = f"{sentences[0]} {step.words}" if step else sentences[0]
    return next((one for one in (full, *sentences) if len(one) <= SENTENCE_LENGTH), sentences[-1])


def _sentence(gate: Gate, before: str | None, result: GateResult, longest: int) -> str:
    name, system, tag, gold_set = (
        clip(words, longest) for words in (gate.name, gate.system.name, result.evaluation.run.tag, gate.gold_set.name)
    )
    was = f", it was {GateState(before).label}" if before else ""
    run = tag if tag == system else f"{tag} of {system}"
    where = f"{gold_set} {result.evaluation.version.label}, {rules.SPLIT_WORDS[gate.split]}"
    return f"Gate {name}: {result.get_state_display()}{was}. Run {run} on {where}: {result.words}"


def facts_of(gate: Gate, before: str | None, result: GateResult, step: Next | None) -> dict[str, Any]:
    """The same as plain JSON values."""
    evaluation = result.evaluation
    return {
        "gate": {"id": gate.pk, "name": gate.name, "tier": gate.tier, "rule": gate.rule},
        "asks": gates.requirement_of(gate),
        "gold_set": gate.gold_set.slug,
        "version": evaluation.version.number,
        "split": evaluation.split,
        "system": gate.system.name,
        "run": evaluation.run.tag,
        "evaluation": evaluation.pk,
        "baseline": gate.baseline.tag if gate.baseline else None,
        "from": before,
        "to": result.state,
        **result.estimate.as_json,
        "bound": result.bound,
        "gap": result.gap,
        "words": result.words,
        "next": step.words if step else "",
    }
