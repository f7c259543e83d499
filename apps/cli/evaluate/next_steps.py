"""What to do with a result, in a few sentences that depend on it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from apps.cli.evaluate.misses import Misses
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import Evaluated
from apps.common.text.wording import interval, number
from apps.gates.core.rule import PASSED
from apps.metrics.expected.rules import BLOCK, DOCUMENT, EVIDENCE, PAGES, HitRule, Returned
from apps.metrics.scorecard import Scorecard, StratumScores, text_words

PLACES = 2
DIGEST_SHOWN = 12
BY_EVIDENCE = (
    "The Q&As are measured by the hit rule evidence, since the system names no passage of the release by an id; "
    "--hit names another rule."
)
FIELD_WORDS = {"query_type": "type"}


class Files(NamedTuple):
    """The files beside a result, "" for those that there are not.

    `answers` are those that can be scored again, `option` is the one that reads them, `were_there` whether they were
    there before. `command` begins every command that scores them the same way.
    """

    command: str
    report: str = ""
    answers: str = ""
    option: str = "--run"
    were_there: bool = False
    misses: str = ""

    @property
    def again(self) -> str:
        """The command that scores the answers again."""
        return f"{self.command} {self.option} {shlex.quote(self.answers)}"


def next_steps(
    release: ReleaseSplit,
    scored: Evaluated,
    misses: Sequence[Misses],
    files: Files,
    *,
    returned: Mapping[str, Sequence[Returned]],
    names_hit: bool,
) -> list[str]:
    """How sure the figures are, what is weak, what was missed, and how to keep, compare, gate and cite them.

    `names_hit`: whoever asked named the hit rule.
    """
    hit = scored.on_triples.hit if scored.on_triples else None
    lines = [_unread(hit, returned) if hit else ""]
    lines.append(BY_EVIDENCE if hit and hit.kind == EVIDENCE and not names_hit else "")
    lines += map(_sure, scored.cards)
    lines += map(_weakest, scored.cards)
    lines.append(_missed(misses, files))
    lines += _kept(files)
    lines += _compared(scored, files)
    lines.append(_gated(scored))
    lines.append(_cited(release, scored.cards))
    return [line for line in lines if line]


def _unread(hit: HitRule, returned: Mapping[str, Sequence[Returned]]) -> str:
    """Which rules the answers could be measured by, where no passage has what the rule reads."""
    passages = list(chain.from_iterable(returned.values()))
    told = {
        BLOCK: any(one.id for one in passages),
        DOCUMENT: any(one.document_id for one in passages),
        PAGES: any(one.document_id and one.pages for one in passages),
        EVIDENCE: any(one.text for one in passages),
    }
    others = [kind for kind, is_told in told.items() if is_told]
    if not passages or told[hit.kind] or not others:
        return ""
    return (
        f"No returned passage has what the hit rule {hit} reads, so every Q&A counts as missed. Measure again with "
        f"{' or '.join(f'--hit {kind}' for kind in others)}."
    )


def _side(card: Scorecard) -> str:
    if card.hit is None:
        return "by grades"
    return f"by {text_words(card.hit)}" if card.is_by_text else f"on Q&As (hit rule {card.hit})"


def _sure(card: Scorecard) -> str:
    name, summary = next(iter(card.measures)), card.runs[-1].scores.summaries[0]
    figure = f"{name} {_side(card)} is {number(summary.mean, PLACES)}, n {summary.n:,}"
    if summary.mean is None or summary.interval is None:
        return f"{figure}: too few questions to say how sure it is."
    share = f"{card.confidence * 100:g} %"
    return f"{figure}. Its {share} interval, {interval(summary.interval, PLACES)}, says how sure that is."


def _weakest(card: Scorecard) -> str:
    """The kind of question with the worst first measure among those that are large enough to be shown."""
    if not card.strata_fields:
        return ""
    name, measure = next(iter(card.measures.items()))
    shown = [one for field in card.strata_fields for one in card.shown_strata(field) if _mean(one) is not None]
    if not shown:
        return f"No kind of question {_side(card)} has {card.fewest} questions, so none is called the weakest."
    pick = max if measure.entry.is_lower_better else min
    worst = pick(shown, key=lambda one: _mean(one) or 0.0)
    summary, whole = worst.summaries[-1][0], card.runs[-1].scores.summaries[0].mean
    words = (
        f"Weakest {_side(card)}, of the kinds with {card.fewest} questions or more: "
        f"{FIELD_WORDS.get(worst.field, worst.field)} {worst.name}, {name} {number(summary.mean, PLACES)}, "
        f"{interval(summary.interval, PLACES)}, n {summary.n:,}"
    )
    if whole is not None and summary.interval and summary.interval[0] <= whole <= summary.interval[1]:
        return f"{words}; the figure of all questions lies in that interval, so it may be chance."
    return f"{words}."


def _mean(stratum: StratumScores) -> float | None:
    return stratum.summaries[-1][0].mean


def missed_words(one: Misses) -> str:
    """How many questions of a side were missed, and what that means."""
    if one.counts_questions:
        return f"{len(one.missed):,} of {one.of:,} Q&As (no hit among the first {one.cutoff:,})"
    return f"{len(one.missed):,} of {one.of:,} graded queries (nothing relevant among the first {one.cutoff:,})"


def _missed(misses: Sequence[Misses], files: Files) -> str:
    words = f"Missed: {'; '.join(map(missed_words, misses))}."
    if not any(one.missed for one in misses):
        return words
    if files.misses:
        return f"{words} {files.misses} lists them with what was expected, at which rank it is, and what came first."
    again = f"{files.again} --misses misses.jsonl" if files.answers else "add --misses misses.jsonl"
    return f"{words} List them, with what came first instead: {again}"


def _kept(files: Files) -> Iterator[str]:
    if files.report:
        yield f"The report is {files.report}."
    else:
        yield "A report to pass on is written with --html report.html."
    if files.answers and not files.were_there:
        yield f"The answers are in {files.answers}. Score them again without asking: {files.again}"
    elif not files.answers:
        yield "The answers were not kept: --save-run FILE keeps ids, --save-results FILE passages of its own."


def _compared(scored: Evaluated, files: Files) -> Iterator[str]:
    """The verdict on the baseline, or how to have one."""
    compared = [one for card in scored.cards for one in card.comparisons]
    for one in compared:
        for row in one.measures[:1]:
            exact = f" {row.mcnemar.words}." if row.mcnemar else ""
            yield f"{one.verdict_lines(row)[0]}{exact}"
    if not compared:
        kept = shlex.quote(files.answers) if files.answers else "FILE"
        yield (
            f"Compare another system with this one on the same questions: --baseline {kept}. Differences are paired, "
            "and yes-or-no figures have McNemar's exact test."
        )


def _gated(scored: Evaluated) -> str:
    if scored.gates:
        return _gates_ending(scored)
    card = scored.cards[0]
    name, measure = next(iter(card.measures.items()))
    summary = card.runs[-1].scores.summaries[0]
    if summary.mean is None:
        return ""
    low, high = summary.interval or (summary.mean, summary.mean)
    hundred = 10**PLACES
    bound = f"at_least = {math.floor(low * hundred) / hundred:g}"
    if measure.entry.is_lower_better:
        bound = f"at_most = {math.ceil(high * hundred) / hundred:g}"
    entries = [f'figure = "{name}"', *([f'hit = "{card.hit}"'] if card.hit else []), bound]
    return (
        "In a pipeline, add --gates gates.toml: the command ends with 1 when a gate fails, with 4 when it is not known "
        "yet. A gate is the line "
        f'[[gate]] and, each on a line, name = "As good as now", {", ".join(entries)}.'
    )


def _gates_ending(scored: Evaluated) -> str:
    others = [one.rule.name for one in scored.gates if one.verdict.state != PASSED]
    if not others:
        return "Every gate passed, so the command ends with 0."
    if scored.code == 0:
        return f"The command ends with 0: {', '.join(others)} is not known yet and only warns."
    return f"The command ends with {scored.code}: {', '.join(others)} did not pass. Each gate above says why."


def _cited(release: ReleaseSplit, cards: Sequence[Scorecard]) -> str:
    digest = f", digest {release.digest[:DIGEST_SHOWN]}" if release.digest else ""
    rules = [f"the rule {card.hit}" if card.is_by_text else f"the hit rule {card.hit}" for card in cards if card.hit]
    rule = "".join(f" and {one}" for one in rules)
    how = "Cite the release as in its CITATION.cff, and name" if release.is_citable else "Where you report this, name"
    return f"{how} {release.name}{digest}{rule} beside each figure with its n and interval."
