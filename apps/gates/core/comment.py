"""What a pull request is told of the gates of one run, as Markdown: one sentence, the worst queries, a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from apps.common.text.markdown_cells import as_code, code_cell, escaped, rows_of
from apps.common.text.wording import beginning, number, plural
from apps.gates.core.decisions import GateVerdict, state_that_counts
from apps.gates.core.rule import FAILED, LATENCIES, NOTHING, PASSED, UNKNOWN, GateRule

MOST_QUERIES = 5
MOST_LETTERS = 80
LATENCY_PLACES, PLACES = 0, 2
OUTCOMES = {FAILED: "Failed", UNKNOWN: "Not known yet", NOTHING: "Nothing checked", PASSED: "Passed"}
"""In the order in which they decide what the whole comment says."""
ALSO = {
    FAILED: ("failed", "failed"),
    UNKNOWN: ("is not known yet", "are not known yet"),
    NOTHING: ("had nothing to check", "had nothing to check"),
    PASSED: ("passed", "passed"),
}


class CheckedGate(NamedTuple):
    """A rule and its verdict on the run."""

    rule: GateRule
    verdict: GateVerdict


class WorstQuery(NamedTuple):
    """A query that may be named. `first` is what came first, as far as it is known; `grade` says what its grade is,
    "" on Q&As, which have none.
    """

    query_id: str
    text: str
    value: float
    baseline: float | None
    first: str
    grade: str = ""


class CommentFacts(NamedTuple):
    """What a comment is made of. `worst` are those of the gate that `leading` names, the worst first; of its `queries`
    `hidden` are on the test side, and are counted, never named. `link` leads to Karat, "" where it is not known.
    """

    system: str
    gold_set: str
    gates: Sequence[CheckedGate]
    worst: Sequence[WorstQuery] = ()
    queries: int = 0
    hidden: int = 0
    link: str = ""


def leading(gates: Sequence[CheckedGate]) -> CheckedGate | None:
    """The gate that the sentence is about: the first that failed, else the first that is not known yet, and so on."""
    return next((one for state in OUTCOMES for one in gates if one.verdict.state == state), None)


def comment_of(facts: CommentFacts) -> str:
    """The whole comment. When all gates passed it is the sentence alone; the worst queries are named for a failure."""
    lead = leading(facts.gates)
    parts = [_sentence(facts, lead, MARKDOWN)]
    state = NOTHING if lead is None else lead.verdict.state
    if lead is not None and state == FAILED:
        parts += _named(facts, lead.rule)
    if state != PASSED and facts.link:
        parts.append(f"[Open in Karat]({facts.link})")
    return "\n\n".join(parts) + "\n"


def as_plain_text(facts: CommentFacts) -> str:
    """The same for a terminal, without the link."""
    lead = leading(facts.gates)
    lines = [_sentence(facts, lead, PLAIN)]
    if lead is not None and lead.verdict.state == FAILED:
        rows = [[line.strip() for line in _plain_row(one, lead.rule)] for one in facts.worst[:MOST_QUERIES]]
        lines += ["Worst queries:"] if rows else []
        lines += [f"  {'  '.join(row)}" for row in rows]
        lines += _hidden(facts)
    return "\n".join(lines)


class Writing(NamedTuple):
    """How words of others, sentences, and the outcome are written."""

    name: Callable[[str], str]
    words: Callable[[str], str]
    outcome: str


MARKDOWN = Writing(as_code, escaped, "**{}:**")
PLAIN = Writing(str, str, "{}:")


def _sentence(facts: CommentFacts, lead: CheckedGate | None, how: Writing) -> str:
    whose = f"{how.name(facts.system)} on {how.name(facts.gold_set)}"
    if lead is None:
        return f"{how.outcome.format(OUTCOMES[NOTHING])} there is no gate of this tier or slice for {whose}."
    outcome = OUTCOMES[lead.verdict.state]
    words = how.words(lead.verdict.words.removeprefix(f"{outcome}: "))
    parts = [f"{how.outcome.format(outcome)} gate {how.name(lead.rule.name)} of {whose}: {words}"]
    if others := [one for one in facts.gates if one is not lead]:
        parts.append(_others(others))
    if lead.verdict.state == UNKNOWN and state_that_counts(lead.rule, UNKNOWN) == PASSED:
        parts.append("It warns and stops nothing.")
    return " ".join(parts)


def _others(gates: Sequence[CheckedGate]) -> str:
    counts = Counter(one.verdict.state for one in gates)
    if len(counts) == 1:
        (state,) = counts
        which = "The other gate" if len(gates) == 1 else f"All {len(gates):,} other gates"
        return f"{which} {ALSO[state][len(gates) > 1]}."
    *most, last = [
        f"{counts[state]:,} {ALSO[state][counts[state] > 1]}" for state in reversed(OUTCOMES) if counts[state]
    ]
    return f"Of the other {len(gates):,} gates {', '.join(most)} and {last}."


def _named(facts: CommentFacts, rule: GateRule) -> Iterator[str]:
    worst = facts.worst[:MOST_QUERIES]
    if worst:
        with_baseline = any(one.baseline is not None for one in worst)
        figures = ["Baseline", "This change"] if with_baseline else [escaped(_figure(rule))]
        rows = [["Query", "Worst queries", *figures, "What came first"]]
        rows.append(["---", "---", *["---:"] * len(figures), "---"])
        rows += [[*_row(one, rule, with_baseline=with_baseline)] for one in worst]
        yield rows_of(rows)
    yield from _hidden(facts)


def _hidden(facts: CommentFacts) -> Iterator[str]:
    if facts.hidden:
        seen = f"{facts.queries - facts.hidden:,} of {plural(facts.queries, 'query', 'queries')} may be named."
        others = "One is" if facts.hidden == 1 else f"{facts.hidden:,} are"
        yield f"{seen} {others} on the test side, and only counted."


def _row(one: WorstQuery, rule: GateRule, *, with_baseline: bool) -> Iterator[str]:
    yield code_cell(one.query_id)
    yield code_cell(beginning(one.text, MOST_LETTERS))
    if with_baseline:
        yield _value(rule, one.baseline)
    yield _value(rule, one.value)
    first = code_cell(beginning(one.first, MOST_LETTERS)) or "nothing"
    yield f"{first}, {one.grade}" if one.grade else first


def _plain_row(one: WorstQuery, rule: GateRule) -> Iterator[str]:
    yield one.query_id
    yield beginning(one.text, MOST_LETTERS)
    yield f"{_figure(rule)} {_value(rule, one.value)}"
    if one.baseline is not None:
        yield f"baseline {_value(rule, one.baseline)}"
    first = beginning(one.first, MOST_LETTERS) or "nothing"
    yield f"first came {first}" + (f", {one.grade}" if one.grade else "")


def _figure(rule: GateRule) -> str:
    return "ms" if rule.figure in LATENCIES else rule.figure


def _value(rule: GateRule, value: float | None) -> str:
    return "" if value is None else number(value, LATENCY_PLACES if rule.figure in LATENCIES else PLACES)
