"""Checks while a triple is written. Each looks at plain text and answers with `Check`s and their sentences.

`stop` blocks submitting, `warn` asks for the author's answer and is kept with the revision together with it, `pass`
is quiet. A lead may make any warning stop.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple
from zlib import crc32

from apps.corpus.neardups import normalised_hash, resemblance
from apps.triples.tokens import NUMBER_WORDS, Figure, content_words, figures, unit_of, words

STOP, WARN, PASS = "stop", "warn", "pass"

# Every check that can warn, by its code, as the settings page names it. A lead may make each of them stop.
CAN_WARN = {
    "figures": "An acronym of the answer is not in the evidence",
    "longer": "The answer says more than its evidence",
    "copied": "Part of the question is copied from a block",
    "duplicate": "Nearly the same question exists",
    "other_block": "Another block may answer as well",
}
ALWAYS_STOPS = (
    "A part is missing, or no evidence is marked",
    "The evidence does not lie in the pinned text",
    "A number, unit, version or date of the answer is not in the evidence",
    "Four fifths of the question are copied from a block",
)

COPIED_SHARE_STOP = 0.8
WORDS_BEYOND_EVIDENCE = 3
ANSWER_SHARE = 0.8
QUESTION_SHARE = 0.5
SAME_TEXT = 0.7
MOST_FIGURES = 4
MOST_OTHER_BLOCKS = 3


class Check(NamedTuple):
    """`code` is stable; `sentence` is for people; `detail` says what was compared, when that helps.

    `quote` is something somebody wrote (a question that exists already), `ref` names what the check is about (a
    triple, a block, a figure), `block` the id of a block to open, `of` the expected block that was looked at, `where`
    the same when there are several and it has to be said. `said` and `meant` are a figure as the answer has it and as
    the evidence has it. `answer` is what the author said to a warning.
    """

    level: str
    code: str
    sentence: str
    detail: str = ""
    quote: str = ""
    ref: str = ""
    said: str = ""
    meant: str = ""
    block: int | None = None
    where: str = ""
    answer: str = ""
    of: str = ""

    @property
    def key(self) -> str:
        """What an answer is given to: the same check about the same thing. A new thing asks anew.

        The block is part of it even while it is the only one: a second one must not take the answer away.
        """
        return ":".join(part for part in (self.code, self.ref, self.of) if part)

    def answer_in(self, answers: Mapping[str, str]) -> str:
        """What was said to it. Drafts of before named the block only when there were several."""
        if self.key in answers or self.where:
            return answers.get(self.key, "").strip()
        return answers.get(self._replace(of="").key, "").strip()

    @property
    def slug(self) -> str:
        """The key as an element's id can hold it."""
        return f"{self.code}-{crc32(self.key.encode()):08x}"

    @property
    def is_missing(self) -> bool:
        """Something is not there yet: it stops, but nobody did anything wrong."""
        return self.code.startswith("no_")

    @property
    def asks(self) -> bool:
        """The author has to say why it is all right, and has not."""
        return self.level == WARN and not self.answer

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


class OtherBlock(NamedTuple):
    """A block beside the expected ones that a retriever found; `found_by` says which, and where."""

    block: int
    ref: str
    title: str
    text: str
    found_by: str = ""


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


# Evidence ------------------------------------------------------------------------------------------------------------


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


# Figures -------------------------------------------------------------------------------------------------------------


class _Held(NamedTuple):
    """The figures a text holds, and its words in lower case."""

    figures: list[Figure]
    exact: frozenset[tuple[str, str]]
    plain: frozenset[str]
    words: frozenset[str]
    units: frozenset[str]


def _held(text: str) -> _Held:
    there = [one for figure in figures(text) for one in (figure, *figure.parts)]
    pieces = frozenset(words(text))
    return _Held(
        there,
        frozenset((figure.plain, figure.unit) for figure in there),
        frozenset(figure.plain for figure in there),
        pieces,
        frozenset(filter(None, map(unit_of, pieces))),
    )


def _holds(held: _Held, figure: Figure) -> bool:
    """Whether a text says the figure.

    A number without a unit may stand before any unit, and one with a unit may stand bare in a text that names the
    unit elsewhere, as tables do. A name may be written without its capitals.
    """
    if (figure.plain, figure.unit) in held.exact or (not figure.unit and figure.plain in held.plain):
        return True
    if figure.unit and (figure.plain, "") in held.exact and figure.unit in held.units:
        return True
    if figure.parts:
        return all(_holds(held, part) for part in figure.parts)
    return _is_name(figure) and figure.plain in held.words


def _is_name(figure: Figure) -> bool:
    return not any(character.isdigit() for character in figure.plain)


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


def check_figures(answer: str, evidence: str) -> list[Check]:
    """Each number with its unit, version, date, code and acronym of the answer occurs in the evidence.

    A difference is shown, never corrected: "90 days" is not "3 months", "AES-256" is not "AES-256-GCM". Anything
    with a digit stops; a missing acronym only warns, because it may be a name that everybody uses.
    """
    held = _held(evidence)
    asked = figures(answer)
    lacking = [figure for figure in asked if not _holds(held, figure)]
    if lacking:
        return [_difference(figure, held.figures) for figure in lacking[:MOST_FIGURES]]
    if not asked:
        return [Check(PASS, "figures", "The answer holds no figures to compare.")]
    return [Check(PASS, "figures", f"{_count(len(asked), 'figure')} of the answer found in the evidence.")]


def _difference(figure: Figure, there: Sequence[Figure]) -> Check:
    level = WARN if _is_name(figure) else STOP
    near = _nearest(figure, there)
    if near is None or (_is_name(figure) and not _is_name(near)):
        sentence = f"“{figure.shown}” is in the answer but not in the marked evidence."
        return Check(level, "figures", sentence, ref=figure.shown)
    return Check(
        level,
        "figures",
        "A figure differs from the evidence.",
        detail=f"Answer: {figure.shown}. Evidence: {near.shown}.",
        ref=figure.shown,
        said=figure.shown,
        meant=near.shown,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Length --------------------------------------------------------------------------------------------------------------


def check_longer(question: str, answer: str, evidence: str) -> Check:
    """The answer says no more than its evidence can carry.

    Counted are the answer's different content words that the question does not hand it: whoever says what a passage
    says needs about as many as the passage has, and a few to join them (three). Beyond that it claims something that
    is not marked. A short answer in other words than the evidence's is no matter for this check, but for a reviewer.
    """
    own = content_words(answer) - content_words(question)
    carried = content_words(evidence)
    counted = f"Answer: {_count(len(own), 'content word')} beyond the question’s; evidence: {len(carried)}."
    if len(own) > len(carried) + WORDS_BEYOND_EVIDENCE:
        return Check(WARN, "longer", "The answer is longer than its evidence says.", detail=counted)
    return Check(PASS, "longer", "The answer is no longer than its evidence says.")


# Copying -------------------------------------------------------------------------------------------------------------


def longest_common_run(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest run of tokens that both hold in the same order without a gap. Empty: 0."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, token in enumerate(other):
        places[token].append(index)
    best = 0
    before: dict[int, int] = {}
    for token in one:
        before = {index: before.get(index - 1, 0) + 1 for index in places.get(token, ())}
        best = max(best, *before.values(), 0)
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
    detail = f"L{measured[1:]}, {share:.0%} of the question."
    if share >= COPIED_SHARE_STOP:
        return Check(STOP, "copied", "The question copies the block.", detail=detail)
    return Check(WARN, "copied", "Part of the question is copied from the block.", detail=detail)


# Questions alike -----------------------------------------------------------------------------------------------------


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


def probe_words(question: str, limit: float) -> list[str]:
    """Content words of which every question at least as alike as `limit` holds one or more.

    Such a question shares at least the Dice coefficient 2 · limit − 1 = d of its content words. Of n words it then
    holds n · d / (2 − d) or more, so of any n − need + 1 of them at least one (prefix filtering, Chaudhuri, Ganti and
    Kaushik 2006). The longest are taken, which are rare as a rule.
    """
    content = sorted(content_words(question), key=lambda word: (-len(word), word))
    dice = max(2 * limit - 1, 0.0)
    need = max(math.ceil(len(content) * dice / (2 - dice) - 1e-9), 1)
    return content[: len(content) - need + 1]


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


# Other blocks --------------------------------------------------------------------------------------------------------


def may_answer(text: str, question: str, answer: str) -> bool:
    """Whether a block could give the answer too: it speaks of what is asked, and says what is answered.

    It holds half of the question's content words, every figure of the answer, and four fifths of the answer's own
    content words: those that the question does not hand it and that are no figures. An answer without figures and
    with less than three own words says too little to be looked for. A block in other words than these is missed.
    """
    there, topic = content_words(text), content_words(question)
    own = frozenset(filter(_is_word, content_words(answer) - topic))
    if len(topic & there) < QUESTION_SHARE * len(topic) or len(own & there) < ANSWER_SHARE * len(own):
        return False
    asked = figures(answer)
    if not asked and len(own) < 3:
        return False
    held = _held(text)
    return all(_holds(held, figure) for figure in asked)


def _is_word(word: str) -> bool:
    return word not in NUMBER_WORDS and not any(character.isdigit() for character in word)


def check_other_blocks(
    question: str, answer: str, expected: Sequence[str], others: Sequence[OtherBlock]
) -> list[Check]:
    """No other block that a retriever found, or that says nearly the same as an expected one, may answer as well.

    `others` come best first; the first three that may answer are named. Nothing was found: nothing is said.
    """
    named = []
    for other in others:
        if any(normalised_hash(other.text) == normalised_hash(text) for text in expected):
            says = "says the same, word for word"
        elif any(resemblance(other.text, text) >= SAME_TEXT for text in expected):
            says = "says nearly the same"
        elif may_answer(other.text, question, answer):
            says = "may answer as well"
        else:
            continue
        sentence = f"“{other.title}” {says}."
        detail = f"Found by {other.found_by}." if other.found_by else ""
        named.append(Check(WARN, "other_block", sentence, detail, ref=other.ref, block=other.block))
    if named or not others:
        return named[:MOST_OTHER_BLOCKS]
    looked = "The other block found does" if len(others) == 1 else f"The {len(others)} other blocks found do"
    return [Check(PASS, "other_block", f"{looked} not hold the answer.")]


# What they add up to -------------------------------------------------------------------------------------------------


def settled(found: Iterable[Check], *, blocking: Collection[str], answers: Mapping[str, str]) -> list[Check]:
    """The checks with what leads and author said: warnings that a lead made blocking stop, others carry the answer.

    What stops comes first, what passes last.
    """
    rank = {STOP: 0, WARN: 1, PASS: 2}
    return sorted((_settle(check, blocking, answers) for check in found), key=lambda check: rank[check.level])


def _settle(check: Check, blocking: Collection[str], answers: Mapping[str, str]) -> Check:
    if check.level != WARN:
        return check
    if check.code in blocking:
        return check._replace(level=STOP)
    return check._replace(answer=check.answer_in(answers))


def stops(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.level == STOP]


def stop_sentence(checks: Sequence[Check]) -> str | None:
    """Why these checks forbid submitting, in one sentence, or None: what stops, or a warning without an answer."""
    stopping = stops(checks)
    if stopping:
        first = _inside(stopping[0].sentence)
        return (
            f"One check stops it: {first}."
            if len(stopping) == 1
            else f"{len(stopping)} checks stop it; the first: {first}."
        )
    asking = [check for check in checks if check.asks]
    if not asking:
        return None
    first = _inside(asking[0].sentence)
    if len(asking) == 1:
        return f"One warning asks why it is all right: {first}."
    return f"{len(asking)} warnings ask why it is all right; the first: {first}."


def _inside(sentence: str) -> str:
    """A sentence as it stands inside another one."""
    return sentence[0].lower() + sentence[1:].rstrip(".")
