"""Gates as a TOML file: one `[[gate]]` for each rule."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of, shown
from apps.gates.core.rule import GateRule, RuleError, as_facts, rule_of

LONGEST_FILE = 1_000_000
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_HEAD = re.compile(r"\s*\[\[\s*gate\s*\]\]")
_KEY = re.compile(r"""\s*["']?(\w+)["']?\s*[.=]""")
_DELETE = "\x7f"


class PlacedRule(NamedTuple):
    """A rule and the line of its `[[gate]]`; None where the TOML has another layout."""

    line: int | None
    rule: GateRule


def read_rules(path: str | Path) -> list[GateRule]:
    """The rules of a file in file order. Raises InputErrors with line, gate, key and value of the first mistakes.

    Raises InputError for a file that is not TOML, and for one without a gate: such a pipeline would always pass.
    """
    errors = ErrorList(MOST_LISTED)
    placed_rules = parse_rules(_text_of(Path(path), str(path)), str(path), errors)
    if errors:
        raise all_of(errors)
    return [placed.rule for placed in placed_rules]


def parse_rules(text: str, name: str, errors: ErrorList) -> list[PlacedRule]:
    """The rules of a text in their order. All errors in them are added to `errors`.

    Raises InputError for a text that is not TOML, and for one without a gate.
    """
    table = _table(text, name)
    for key, value in table.items():
        if key != "gate":
            message = f"A file of gates contains only [[gate]], not {key}."
            errors.add(InputError(name, None, key, _text(value), message))
    gates = table.get("gate")
    if not isinstance(gates, list) or not gates or not all(isinstance(gate, dict) for gate in gates):
        for error in errors:
            raise error
        raise InputError(name, None, "gate", _text(gates), "The file has no gate. Each begins with [[gate]].")
    by_name: dict[str, PlacedRule] = {}
    for number, (facts, lines) in enumerate(zip(gates, _lines_of(text, len(gates)), strict=True), 1):
        try:
            rule = rule_of(facts)
        except RuleError as fault:
            errors.add(_fault(name, number, facts, lines, fault))
            continue
        if rule.name in by_name:
            message = f"Two gates are called {rule.name}."
            errors.add(InputError(name, lines.get("name"), f"gate {number}, name", rule.name, message))
            continue
        by_name[rule.name] = PlacedRule(lines.get(""), rule)
    return list(by_name.values())


def as_toml(rules: Iterable[GateRule], *, head: str = "", remarks: Mapping[str, str] | None = None) -> str:
    """The rules as a file that reads back to them. `head`, and the remark on a gate by its name, become comments."""
    parts = [_comment(head)] if head else []
    for rule in rules:
        lines = [_comment(remarks[rule.name])] if remarks and rule.name in remarks else []
        lines += ["[[gate]]", *(f"{key} = {_value(value)}" for key, value in as_facts(rule).items())]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _text_of(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InputError(name, None, "", "", f"A file of gates has at most {LONGEST_FILE:,} bytes.")
        return path.read_bytes().decode()
    except OSError as error:
        raise InputError(name, None, "", "", f"The file cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(name, None, "", "", "The file is not UTF-8 text.") from error


def _table(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        line = int(place[1]) if place else None
        raise InputError(name, line, "", "", f"The file is not TOML: {_LINE.sub('', str(error)).strip()}.") from error
    except RecursionError as error:
        raise InputError(name, None, "", "", "The file is nested too deeply for gates.") from error


def _lines_of(text: str, gates: int) -> list[dict[str, int]]:
    """For each gate the line of its `[[gate]]`, under "", and of each key below it.

    TOML allows layouts without a line for each gate, such as `gate = [{…}]`; then the lines are unknown.
    """
    by_gate: list[dict[str, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if _HEAD.match(line):
            by_gate.append({"": number})
        elif by_gate and (key := _KEY.match(line)):
            by_gate[-1].setdefault(key[1], number)
    return by_gate if len(by_gate) == gates else [{} for _ in range(gates)]


def _fault(name: str, number: int, facts: dict[str, Any], lines: Mapping[str, int], fault: RuleError) -> InputError:
    called = facts.get("name")
    gate = f"gate {number} ({called})" if isinstance(called, str) and called else f"gate {number}"
    value = _text(fault.value)
    place = f"{gate}, {fault.key}" if fault.value is None else f"{gate}, {fault.key} = {value}"
    line = lines.get(fault.key.split(".")[0], lines.get(""))
    return InputError(name, line, place, value, str(fault))


def _text(value: object) -> str:
    text = "" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _comment(text: str) -> str:
    return f"# {shown(text)}"


def _value(value: object) -> str:
    """A string, a number or a slice as TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace(_DELETE, "\\u007f")
    assert isinstance(value, float)  # `as_facts` gives no other type
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
