"""Files of gates: those of a system for `karat eval`, and the rules of a file to import."""

from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList
from apps.evaluation import rules
from apps.gates.core.rule import GateRule
from apps.gates.formats import as_toml, parse_rules
from apps.gates.models import Gate
from apps.gates.rules import MOST_GATES, gate_refusal
from apps.gates.selectors.gates import gates_in, rule_of
from apps.goldsets.models import GoldSet
from apps.retrieval.models import Run, System

FILE_NAME = "gates.toml"
CONTENT_TYPE = "application/toml; charset=utf-8"


def file_of(gold_set: GoldSet, system: System) -> str:
    """The gates in use of a system on a gold set, oldest first; "" without gates.

    Side and baseline of a gate are not part of its rule; the file has them as comments.
    """
    gates = list(gates_in(gold_set.project).filter(gold_set=gold_set, system=system))
    if not gates:
        return ""
    head = f"Gates of {system.name} on {gold_set.name}"
    return as_toml(map(rule_of, gates), head=head, remarks={gate.name: _remark(gate) for gate in gates})


def _remark(gate: Gate) -> str:
    split = f"split: {rules.SPLIT_WORDS[gate.split]}"
    return f"{split}; baseline: {gate.baseline.tag}" if gate.baseline else split


def planned(
    gold_set: GoldSet, system: System, text: str, *, split: str, baseline: Run | None, name: str = FILE_NAME
) -> list[GateRule]:
    """The rules of a text, as gates of one split; `baseline` is for those that compare.

    Raises InputErrors with all errors of the text, and with every rule that cannot become a gate here.
    """
    errors = ErrorList()
    try:
        parsed = parse_rules(text, name, errors)
    except InputError as error:
        raise InputErrors([error]) from error
    for placed in parsed:
        own = baseline if placed.rule.is_against_baseline else None
        if reason := gate_refusal(gold_set, system, placed.rule, split, own):
            errors.add(InputError(name, placed.line, "gate", placed.rule.name, reason))
    in_use = Gate.objects.filter(gold_set=gold_set, retired_at=None).count()
    if in_use < MOST_GATES < in_use + len(parsed):
        message = f"A gold set has at most {MOST_GATES} gates, and here are {in_use}. Retire some first."
        errors.add(InputError(name, None, "gate", str(len(parsed)), message))
    if errors:
        errors.sort()
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    return [placed.rule for placed in parsed]
