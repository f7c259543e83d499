"""Checks while a triple is written. Each looks at plain text and answers with one `Check` and its sentence.

`stop` blocks submitting, `warn` asks for an answer and is kept with the revision, `pass` is quiet.
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from apps.triples.tokens import Figure, content_words, figures, words

STOP, WARN, PASS = "stop", "warn", "pass"

COPIED_SHARE_STOP = 0.8


class Check(NamedTuple):
    """`code` is stable; `sentence` is for people; `detail` says what was compared, when that helps.

    `quote` is something somebody wrote (a question that exists already), `ref` the id of the thing quoted. `said` and
    `meant` are a figure as the answer has it and as the evidence has it.
    """

    level: str
    code: str
    sentence: str
    detail: str = ""
    quote: str = ""
    ref: str = ""
    said: str = ""
    meant: str = ""

    @property
    def is_missing(self) -> bool:
        """Something is not there yet: it stops, but nobody did anything wrong."""
        return self.code.startswith("no_")

    @property
    def added(self) -> str:
        """What the evidence has behind the figure as the answer has it: "-GCM" for AES-256 and AES-256-GCM."""
        return self.meant.removeprefix(self.said) if self.said and self.meant.startswith(self.said) else ""


class Span(NamedTuple):
    """Marked evidence: half-open character offsets into the pinned text, and the text marked at the time."""

    start: int
    end: int
    quote: str


class Other(NamedTuple):
    """Another question of the project."""

    ref: str
    question: str
    state: str = ""


def check_wording(question: str, answer: str) -> list[Check]:
    """Both a question and an answer are there."""
    missing = [
        Check(STOP, code, sentence)
        for code, text, sentence in (
            ("no_question", question, "No question yet."),
            ("no_answer", answer, "No expected answer yet."),
        )
        if not text.strip()
    ]
    return missing


def check_evidence(text: str, spans: Sequence[Span]) -> Check:
    """Each span lies in the pinned `text` and quotes it exactly. No span at all stops."""
    if not spans:
        return Check(STOP, "no_evidence", "No evidence is marked yet.")
    for number, span in enumerate(spans, start=1):
        inside = 0 <= span.start < span.end <= len(text)
        if not inside or text[span.start : span.end] != span.quote:
            which = f"Evidence span {number}" if len(spans) > 1 else "The evidence"
            return Check(STOP, "evidence", f"{which} does not lie in the pinned text.", quote=span.quote)
    lie = {1: "The evidence span lies", 2: "Both evidence spans lie"}.get(
        len(spans), f"All {len(spans)} evidence spans lie"
    )
    return Check(PASS, "evidence", f"{lie} in the pinned text.")


def _nearest(figure: Figure, there: Sequence[Figure]) -> Figure | None:
    """What the evidence has in place of `figure`: the same number with another unit, or the likest spelling."""
    for other in there:
        if other.plain == figure.plain:
            return other
    alike = [(SequenceMatcher(None, figure.plain, other.plain).ratio(), other) for other in there]
    best = max(alike, key=lambda pair: pair[0], default=(0.0, None))
    if best[0] >= 0.5:
        return best[1]
    return next((other for other in there if figure.unit and other.unit), None)


def check_figures(answer: str, evidence: str) -> Check:
    """Each number with its unit, version and acronym of the answer occurs in the evidence.

    A difference is shown, never corrected: "90 days" is not "3 months", "AES-256" is not "AES-256-GCM". Anything
    with a digit stops; a missing acronym only warns, because it may be a name that everybody uses.
    """
    there = figures(evidence)
    exact = {(figure.plain, figure.unit) for figure in there}
    plain = {figure.plain for figure in there}
    asked = figures(answer)
    for figure in asked:
        if (figure.plain, figure.unit) in exact or (not figure.unit and figure.plain in plain):
            continue
        level = STOP if any(character.isdigit() for character in figure.plain) else WARN
        near = _nearest(figure, there)
        if near is None:
            return Check(level, "figures", f"“{figure.shown}” is in the answer but not in the marked evidence.")
        return Check(
            level,
            "figures",
            "A figure differs from the evidence.",
            detail=f"Answer: {figure.shown}. Evidence: {near.shown}.",
            said=figure.shown,
            meant=near.shown,
        )
    if not asked:
        return Check(PASS, "figures", "The answer holds no figures to compare.")
    return Check(PASS, "figures", f"{_count(len(asked), 'figure')} of the answer found in the evidence.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def longest_common_run(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest run of tokens that both hold in the same order without a gap. Empty: 0."""
    best = 0
    before = [0] * (len(other) + 1)
    for token in one:
        row = [0] * (len(other) + 1)
        for index, candidate in enumerate(other, start=1):
            if token == candidate:
                row[index] = before[index - 1] + 1
                best = max(best, row[index])
        before = row
    return best


def check_copied(question: str, text: str, limit: int) -> Check:
    """The question asks in its own words: its longest run of words shared with the block is at most `limit`.

    A run that makes up 80 % of the question or more stops; a shorter one over the limit warns.
    """
    tokens = words(question)
    run = longest_common_run(tokens, words(text))
    measured = f"longest copied run {run} of {_count(len(tokens), 'word')} (limit {limit})"
    if run <= limit:
        return Check(PASS, "copied", f"Your own words: {measured}.")
    share = run / len(tokens)
    if share >= COPIED_SHARE_STOP:
        return Check(STOP, "copied", "The question copies the block.", detail=f"{measured[0].upper()}{measured[1:]}.")
    return Check(
        WARN, "copied", "Part of the question is copied from the block.", detail=f"{measured[0].upper()}{measured[1:]}."
    )


def likeness(one: str, other: str) -> float:
    """How alike two questions are, 0 to 1: the mean of shared content words (Dice) and of spelling in order.

    Two questions with the same words and the same spelling give 1; an empty one gives 0.
    """
    left, right = content_words(one), content_words(other)
    if not left or not right:
        return 0.0
    spelling = SequenceMatcher(None, " ".join(words(one)), " ".join(words(other)), autojunk=False).ratio()
    return (_dice(left, right) + spelling) / 2


def _dice(left: frozenset[str], right: frozenset[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def check_duplicates(question: str, others: Iterable[Other], limit: float) -> Check:
    """No other question of the project is as alike as `limit`; the likest one is named."""
    best, found = 0.0, None
    content = content_words(question)
    for other in others:
        if (_dice(content, content_words(other.question)) + 1) / 2 < limit:
            continue  # its spelling, the slow part, could not make it alike enough
        alike = likeness(question, other.question)
        if alike > best:
            best, found = alike, other
    if found is None or best < limit:
        return Check(PASS, "duplicate", "No question like this one exists.")
    detail = f"{found.state.lower()}, {best:.2f} alike" if found.state else f"{best:.2f} alike"
    return Check(WARN, "duplicate", "Nearly the same question exists.", detail, found.question, found.ref)


def stops(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.level == STOP]


def stop_sentence(checks: Sequence[Check]) -> str | None:
    """Why these checks forbid submitting, in one sentence, or None."""
    stopping = stops(checks)
    if not stopping:
        return None
    first = stopping[0].sentence.rstrip(".")
    first = first[0].lower() + first[1:]
    if len(stopping) == 1:
        return f"One check stops it: {first}."
    return f"{len(stopping)} checks stop it; the first: {first}."
