"""Gates as a TOML file: a `[[gate]]` a rule."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from apps.common.errors import InputError
from apps.evaluation.gating.rule import Rule, RuleError, rule_of

LONGEST_FILE = 1_000_000
_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def read_rules(path: str | Path) -> list[Rule]:
    """The rules of a file in their order. Raises InputError, naming file, gate, key and value of the first fault.

    A file without any gate is refused: a pipeline that asks nothing would pass for ever.
    """
    name = str(path)
    table = _table(Path(path), name)
    for key, value in table.items():
        if key != "gate":
            raise InputError(
                name, None, key, _text(value), f"A file of gates holds [[gate]] and nothing else, not {key}."
            )
    gates = table.get("gate")
    if not isinstance(gates, list) or not gates or not all(isinstance(gate, dict) for gate in gates):
        raise InputError(name, None, "gate", _text(gates), "The file has no gate. Each begins with [[gate]].")
    rules: dict[str, Rule] = {}
    for number, facts in enumerate(gates, 1):
        rule = _rule(name, number, facts)
        if rule.name in rules:
            raise InputError(name, None, f"gate {number}, name", rule.name, f"Two gates are called {rule.name}.")
        rules[rule.name] = rule
    return list(rules.values())


def _table(path: Path, name: str) -> dict[str, Any]:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InputError(name, None, "", "", f"A file of gates has at most {LONGEST_FILE:,} bytes.")
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise InputError(name, None, "", "", f"The file cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(name, None, "", "", "The file is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        line = int(place[1]) if place else None
        raise InputError(name, line, "", "", f"The file is not TOML: {_LINE.sub('', str(error)).strip()}.") from error


def _rule(name: str, number: int, facts: dict[str, Any]) -> Rule:
    try:
        return rule_of(facts)
    except RuleError as fault:
        called = facts.get("name")
        gate = f"gate {number} ({called})" if isinstance(called, str) and called else f"gate {number}"
        value = _text(fault.value)
        place = f"{gate}, {fault.key}" if fault.value is None else f"{gate}, {fault.key} = {value}"
        raise InputError(name, None, place, value, str(fault)) from fault


def _text(value: object) -> str:
    text = "" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
