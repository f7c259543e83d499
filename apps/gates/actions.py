"""Create, replace and retire gates, and the public badges that show their state."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.gates import execution as checks
from apps.gates import selectors as gates
from apps.gates.core.rule import COST, GateRule, RuleError, as_facts, requirement, rule_of
from apps.gates.models import Badge, Gate
from apps.gates.rules import gate_refusal
from apps.goldsets.models import GoldSet
from apps.retrieval.models import Run, System
from apps.retrieval.selectors.runs import run_in
from apps.retrieval.selectors.systems import system_in

TOKEN_BYTES = 32
RELATED = ("gold_set__project", "system", "baseline")


class GateRefused(Refusal):
    """The system cannot be checked against this rule."""


@transaction.atomic
def create_gate(
    *,
    gold_set: GoldSet,
    system_id: int,
    facts: Mapping[str, Any],
    split: str = "",
    baseline_id: int | None = None,
    actor: User,
    at: datetime,
) -> Gate:
    """Check every score of a system on one split of a gold set against a rule; `facts` are the keys of a `[[gate]]`.

    A job checks earlier scores too, without notifications: whoever creates a gate looks at its page.
    """
    gold_set, system, baseline = _locked(gold_set, system_id, baseline_id)
    made = Gate(gold_set=gold_set, system=system, split=split, baseline=baseline, created_by=actor, created_at=at)
    return _make(made, _rule(facts))


def _locked(gold_set: GoldSet, system_id: int, baseline_id: int | None) -> tuple[GoldSet, System, Run | None]:
    """The gold set with its row locked, and the system and the run of its project. Raises Http404."""
    gold_set = locked_gold_set(gold_set)
    baseline = run_in(gold_set.project, baseline_id) if baseline_id is not None else None
    return gold_set, system_in(gold_set.project, system_id), baseline


def locked_gold_set(gold_set: GoldSet) -> GoldSet:
    return GoldSet.objects.select_for_update().select_related("project").get(pk=gold_set.pk)


def _make(gate: Gate, rule: GateRule) -> Gate:
    """Save a new gate with this rule, and queue a job that checks earlier scores."""
    if reason := gate_refusal(gate.gold_set, gate.system, rule, gate.split, gate.baseline):
        raise GateRefused(reason, code="gate_refused")
    gate.name, gate.tier, gate.rule = rule.name, rule.tier, as_facts(rule)
    gate.save(force_insert=True)
    project, actor, at = gate.gold_set.project, gate.created_by, gate.created_at
    baseline = gate.baseline.tag if gate.baseline else None
    after = {**gate.rule, "system": gate.system.name, "split": gate.split, "baseline": baseline}
    if gate.replaces_id is not None:
        after["replaces"] = gate.replaces_id
    record(project=project, actor=actor, action="gate.created", obj=gate, after=after, at=at)
    checks.enqueue_check(gate, notify=False, actor=actor, at=at)
    return gate


@transaction.atomic
def create_gates(
    *,
    gold_set: GoldSet,
    system_id: int,
    text: str,
    split: str = "",
    baseline_id: int | None = None,
    actor: User,
    at: datetime,
) -> list[Gate]:
    """Create a gate for every rule of a file, or none.

    Raises InputErrors with all reasons against it, by line.
    """
    gold_set, system, baseline = _locked(gold_set, system_id, baseline_id)
    same: dict[str, Any] = {
        "gold_set": gold_set,
        "system": system,
        "split": split,
        "created_by": actor,
        "created_at": at,
    }
    rules = gates.planned(gold_set, system, text, split=split, baseline=baseline)
    return [_make(Gate(baseline=baseline if rule.is_against_baseline else None, **same), rule) for rule in rules]


@transaction.atomic
def retire_gate(*, gate: Gate, actor: User, at: datetime) -> Gate:
    """Stop checking scores against the gate. Its results are kept."""
    gate = Gate.objects.select_for_update(of=("self",)).select_related("gold_set__project").get(pk=gate.pk)
    if gate.retired_at is None:
        gate.retired_at = at
        gate.save(update_fields=["retired_at"])
        record(project=gate.gold_set.project, actor=actor, action="gate.retired", obj=gate, before=gate.rule, at=at)
    return gate


@transaction.atomic
def replace_gate(*, gate: Gate, changes: Mapping[str, Any], actor: User, at: datetime) -> Gate:
    """Retire a gate and create one whose rule differs by `changes`, keys of a `[[gate]]`; None removes a key.

    Results of the old gate stay with it, so that each history is about one rule. Both gates link to each other.
    """
    locked_gold_set(gate.gold_set)
    gate = Gate.objects.select_for_update(of=("self",)).select_related(*RELATED).get(pk=gate.pk)
    if gate.retired_at is not None:
        raise GateRefused(f"{gate.name} is retired. Create a new gate instead.", code="gate_refused")
    rule = _rule({**gate.rule, **changes})
    if as_facts(rule) == gate.rule:
        raise GateRefused(f"{gate.name} already requires that: {requirement(rule)}.", code="gate_refused")
    retire_gate(gate=gate, actor=actor, at=at)
    made = Gate(
        gold_set=gate.gold_set,
        system=gate.system,
        split=gate.split,
        baseline=gate.baseline,
        replaces=gate,
        created_by=actor,
        created_at=at,
    )
    return _make(made, rule)


@transaction.atomic
def check_cost_gates(*, run: Run, actor: User, at: datetime) -> None:
    """Check a run whose cost was just entered against its system's gates on cost."""
    on_cost = Gate.objects.filter(system=run.system_id, retired_at=None, rule__figure=COST)
    for gate in on_cost.select_related("gold_set__project", "system").order_by("pk"):
        checks.enqueue_check(gate, notify=True, actor=actor, at=at)


@transaction.atomic
def make_badge(*, gold_set: GoldSet, system: System, actor: User, at: datetime) -> Badge:
    """Create the badge of a system's gates, at an address that nobody can guess. At most one is in use."""
    gold_set = locked_gold_set(gold_set)
    if existing := gates.badge_of(gold_set, system.pk):
        return existing
    token = secrets.token_urlsafe(TOKEN_BYTES)
    badge = Badge.objects.create(gold_set=gold_set, system=system, token=token, created_by=actor, created_at=at)
    record(project=gold_set.project, actor=actor, action="badge.created", obj=badge, at=at)
    return badge


@transaction.atomic
def revoke_badge(*, gold_set: GoldSet, system: System, actor: User, at: datetime) -> None:
    """Revoke the badge: its address gives 404 from then on."""
    gold_set = locked_gold_set(gold_set)
    badge = gates.badge_of(gold_set, system.pk)
    if badge is None:
        return
    badge.revoked_at = at
    badge.save(update_fields=["revoked_at"])
    record(project=gold_set.project, actor=actor, action="badge.revoked", obj=badge, at=at)


def _rule(facts: Mapping[str, Any]) -> GateRule:
    try:
        return rule_of(facts)
    except RuleError as fault:
        raise GateRefused(str(fault), code="bad_rule") from fault
