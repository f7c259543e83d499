"""Checks while a triple is written. Each takes plain text and returns `Check`s with their sentences.

`stop` blocks submitting, `warn` needs the author's answer and is stored with it in the revision, `pass` shows nothing.
A lead may make any warning stop; `settled` combines the results.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from rapidfuzz.distance import Indel

from apps.common.text.wording import plural
from apps.common.text.words import content_words, words
from apps.corpus.core.near_duplicates import normalised_hash, resemblance
from apps.queries.core.checks import Other, copied_run, nearest_of
from apps.triples.core.tokens import NUMBER_WORDS, Figure, figures, unit_of

STOP, WARN, PASS = "stop", "warn", "pass"

# Every check that can warn, by its code, as the settings page names it. A lead may make each of them stop.
CAN_WARN = {
    "figures": "An acronym of the answer is not in the evidence",
    "longer": "The answer says more than its evidence",
    "copied": "Part of the question is copied from a passage",
    "duplicate": "Nearly the same question exists",
    "other_block": "Another passage may answer as well",
}
ALWAYS_STOPS = (
    "A part is missing, or no evidence is marked",
    "The evidence is not in the pinned text",
    "A number, unit, version or date of the answer is not in the evidence",
    "Four fifths of the question are copied from a passage",
)


class Check(NamedTuple):
    """`code` is stable; `sentence` is for people; `detail` is what was compared, where that helps.

    `quote` is a text somebody wrote (a question that exists already), `ref` names what the check is about (a triple, a
    block, a figure), `block` the id of a block to open, `of` the expected block that was checked, `where` the same when
    there are several and the sentence has to name it. `in_answer` and `in_evidence` are the two spellings of a
    figure. `answer` is the author's reason for a warning.
    """

    level: str
    code: str
    sentence: str
    detail: str = ""
    quote: str = ""
    ref: str = ""
    in_answer: str = ""
    in_evidence: str = ""
    block: int | None = None
    where: str = ""
    answer: str = ""
    of: str = ""

    @property
    def key(self) -> str:
        """The key of an answer: the same check about the same thing. A new thing needs a new answer.

        The block is part of it even while it is the only one: a second one must not take the answer away.
        """
        return ":".join(part for part in (self.code, self.ref, self.of) if part)

    def answer_in(self, answers: Mapping[str, str]) -> str:
        """The answer to it. Earlier drafts named the block only when there were several."""
        if self.key in answers or self.where:
            return answers.get(self.key, "").strip()
        return answers.get(self._replace(of="").key, "").strip()

    @property
    def slug(self) -> str:
        """The key as part of an element's id."""
        return f"{self.code}-{crc32(self.key.encode()):08x}"

    @property
    def is_missing(self) -> bool:
        """Whether something is not entered yet: it stops, but is no fault."""
        return self.code.startswith("no_")

    @property
    def needs_reason(self) -> bool:
        """Whether the author has to give a reason, and has not."""
        return self.level == WARN and not self.answer

    @property
    def added(self) -> str:
        """The part of the evidence's figure after the answer's figure: "-GCM" for AES-256 and AES-256-GCM."""
        if not self.in_answer or not self.in_evidence.startswith(self.in_answer):
            return ""
        return self.in_evidence.removeprefix(self.in_answer)


MOST_FIGURES = 4


class TextFigures(NamedTuple):
    """The figures of a text with the parts of named ones, and its words in lower case with the units they name."""

    figures: list[Figure]
    exact: frozenset[tuple[str, str]]
    plain: frozenset[str]
    words: frozenset[str]
    units: frozenset[str]

    def says(self, figure: Figure) -> bool:
        """Whether the text contains the figure.

        A number without a unit matches one with any unit, and one with a unit matches a bare number in a text that
        names the unit elsewhere, as tables do. A name may be written without its capitals.
        """
        if (figure.plain, figure.unit) in self.exact or (not figure.unit and figure.plain in self.plain):
            return True
        if figure.unit and (figure.plain, "") in self.exact and figure.unit in self.units:
            return True
        if figure.parts:
            return all(map(self.says, figure.parts))
        return _is_name(figure) and figure.plain in self.words


def figures_in(text: str) -> TextFigures:
    """The figures of `text`, computed once, so that many can be looked up in it."""
    parts = [one for figure in figures(text) for one in (figure, *figure.parts)]
    pieces = frozenset(words(text))
    return TextFigures(
        parts,
        frozenset((figure.plain, figure.unit) for figure in parts),
        frozenset(figure.plain for figure in parts),
        pieces,
        frozenset(filter(None, map(unit_of, pieces))),
    )


def _is_name(figure: Figure) -> bool:
    return not any(character.isdigit() for character in figure.plain)


def _nearest(figure: Figure, present: Sequence[Figure]) -> Figure | None:
    """The evidence's figure nearest to `figure`: the same number with another unit, or the most similar spelling."""
    for other in present:
        if other.plain == figure.plain:
            return other
    alike = [(Indel.normalized_similarity(figure.plain, other.plain), other) for other in present]
    best = max(alike, key=lambda pair: pair[0], default=(0.0, None))
    if best[0] >= 0.5:
        return best[1]
    return next((other for other in present if figure.unit and other.unit), None)


def check_figures(answer: str, evidence: str) -> list[Check]:
    """Each number with its unit, version, date, code and acronym of the answer occurs in the evidence.

    A difference is shown, never corrected: "90 days" is not "3 months", "AES-256" is not "AES-256-GCM". Anything
    with a digit stops; a missing acronym only warns, because it may be a name that everybody uses.
    """
    in_evidence = figures_in(evidence)
    in_answer = figures(answer)
    lacking = [figure for figure in in_answer if not in_evidence.says(figure)]
    if lacking:
        return [_difference(figure, in_evidence.figures) for figure in lacking[:MOST_FIGURES]]
    if not in_answer:
        return [Check(PASS, "figures", "The answer has no figures to compare.")]
    return [Check(PASS, "figures", f"{plural(len(in_answer), 'figure')} of the answer found in the evidence.")]


def _difference(figure: Figure, present: Sequence[Figure]) -> Check:
    level = WARN if _is_name(figure) else STOP
    near = _nearest(figure, present)
    if near is None or (_is_name(figure) and not _is_name(near)):
        sentence = f"“{figure.shown}” is in the answer but not in the marked evidence."
        return Check(level, "figures", sentence, ref=figure.shown)
    return Check(
        level,
        "figures",
        "A figure differs from the evidence.",
        detail=f"Answer: {figure.shown}. Evidence: {near.shown}.",
        ref=figure.shown,
        in_answer=figure.shown,
        in_evidence=near.shown,
    )


ANSWER_SHARE = 0.8
QUESTION_SHARE = 0.5
SAME_TEXT = 0.7
MOST_OTHER_BLOCKS = 3


class OtherBlock(NamedTuple):
    """A block other than the expected ones that a retriever returned; `found_by` is the retriever and rank."""

    block: int
    ref: str
    title: str
    text: str
    found_by: str = ""


def may_answer(text: str, question: str, answer: str) -> bool:
    """Whether a block could give the answer too: it has the question's words and the answer's content.

    It has half of the question's content words, every figure of the answer, and four fifths of the answer's own content
    words: those that are not in the question and are no figures. An answer without figures and with fewer than three
    own words is too short to compare: False. A block in other words than these is missed.
    """
    words, subject = content_words(text), content_words(question)
    own = frozenset(filter(_is_word, content_words(answer) - subject))
    if len(subject & words) < QUESTION_SHARE * len(subject) or len(own & words) < ANSWER_SHARE * len(own):
        return False
    in_answer = figures(answer)
    if not in_answer and len(own) < 3:
        return False
    return all(map(figures_in(text).says, in_answer))


def _is_word(word: str) -> bool:
    return word not in NUMBER_WORDS and not any(character.isdigit() for character in word)


def check_other_blocks(
    question: str, answer: str, expected: Sequence[str], others: Sequence[OtherBlock]
) -> list[Check]:
    """No other block that a retriever returned, or that is nearly the same as an expected one, may answer as well.

    `others` are best first; the first three that may answer are named. Without others there is no check.
    """
    named = []
    for other in others:
        if any(normalised_hash(other.text) == normalised_hash(text) for text in expected):
            likeness = "says the same, word for word"
        elif any(resemblance(other.text, text) >= SAME_TEXT for text in expected):
            likeness = "says nearly the same"
        elif may_answer(other.text, question, answer):
            likeness = "may answer as well"
        else:
            continue
        sentence = f"“{other.title}” {likeness}."
        detail = f"Found by {other.found_by}." if other.found_by else ""
        named.append(Check(WARN, "other_block", sentence, detail, ref=other.ref, block=other.block))
    if named or not others:
        return named[:MOST_OTHER_BLOCKS]
    checked = "The other passage found does" if len(others) == 1 else f"The {len(others)} other passages found do"
    return [Check(PASS, "other_block", f"{checked} not contain the answer.")]


def check_duplicates(question: str, others: Iterable[Other], limit: float) -> Check:
    """No other question of the project is as similar as `limit`; the most similar one is named."""
    nearest = nearest_of(question, others, limit)
    if nearest is None:
        return Check(PASS, "duplicate", "No question like this one exists.")
    other, alike = nearest
    detail = f"{other.state.lower()}, {alike:.2f} alike" if other.state else f"{alike:.2f} alike"
    return Check(WARN, "duplicate", "Nearly the same question exists.", detail, other.question, other.ref)


def settled(checks: Iterable[Check], *, blocking: Collection[str], answers: Mapping[str, str]) -> list[Check]:
    """The checks with settings and answers applied: warnings that a lead made blocking stop, others get their answer.

    Stops come first, passes last.
    """
    rank = {STOP: 0, WARN: 1, PASS: 2}
    return sorted((_settle(check, blocking, answers) for check in checks), key=lambda check: rank[check.level])


def _settle(check: Check, blocking: Collection[str], answers: Mapping[str, str]) -> Check:
    if check.level != WARN:
        return check
    if check.code in blocking:
        return check._replace(level=STOP)
    return check._replace(answer=check.answer_in(answers))


def stops(checks: Iterable[Check]) -> list[Check]:
    """Those that block submitting whatever the author answers, in their order."""
    return [check for check in checks if check.level == STOP]


def stop_sentence(checks: Sequence[Check]) -> str | None:
    """Why these checks block submitting, in one sentence, or None: stops, or a warning without an answer."""
    stopping = stops(checks)
    if stopping:
        first = _inside(stopping[0].sentence)
        if len(stopping) == 1:
            return f"One check blocks submission: {first}."
        return f"{len(stopping)} checks block submission; the first: {first}."
    unanswered = [check for check in checks if check.needs_reason]
    if not unanswered:
        return None
    first = _inside(unanswered[0].sentence)
    if len(unanswered) == 1:
        return f"One warning needs your reason why it is all right: {first}."
    return f"{len(unanswered)} warnings need your reason why they are all right; the first: {first}."


def _inside(sentence: str) -> str:
    """A sentence as part of another one."""
    return sentence[0].lower() + sentence[1:].rstrip(".")


class Span(NamedTuple):
    """Marked evidence: half-open character offsets into the pinned text, and the text marked at the time."""

    start: int
    end: int
    quote: str


def check_wording(question: str, answer: str) -> list[Check]:
    """Question and answer both exist: a stop for each that is blank, nothing otherwise."""
    return [
        Check(STOP, code, sentence)
        for code, text, sentence in (
            ("no_question", question, "No question yet."),
            ("no_answer", answer, "No expected answer yet."),
        )
        if not text.strip()
    ]


def check_evidence(text: str, spans: Sequence[Span]) -> Check:
    """Each span is in the pinned `text` and quotes it exactly. No span at all stops."""
    if not spans:
        return Check(STOP, "no_evidence", "No evidence is marked yet.")
    for number, span in enumerate(spans, start=1):
        inside = 0 <= span.start < span.end <= len(text)
        if not inside or text[span.start : span.end] != span.quote:
            which = f"Evidence span {number}" if len(spans) > 1 else "The evidence"
            return Check(STOP, "evidence", f"{which} is not in the pinned text.", quote=span.quote)
    few = {1: "The evidence span is", 2: "Both evidence spans are"}
    subject = few.get(len(spans), f"All {len(spans)} evidence spans are")
    return Check(PASS, "evidence", f"{subject} in the pinned text.")


COPIED_SHARE_STOP = 0.8


def check_copied(question: str, text: str, limit: int) -> Check:
    """The question has its own words: its longest run of words shared with the block is at most `limit`.

    A run that makes up 80 % of the question or more stops; a shorter one over the limit warns.
    """
    copied = copied_run(question, text)
    measured = f"longest copied run {copied.run} of {plural(copied.words, 'word')} (limit {limit})"
    if copied.run <= limit:
        return Check(PASS, "copied", f"Your own words: {measured}.")
    detail = f"L{measured[1:]}, {copied.share:.0%} of the question."
    if copied.share >= COPIED_SHARE_STOP:
        return Check(STOP, "copied", "The question copies the passage.", detail=detail)
    return Check(WARN, "copied", "Part of the question is copied from the passage.", detail=detail)


WORDS_BEYOND_EVIDENCE = 3


def check_longer(question: str, answer: str, evidence: str) -> Check:
    """The answer contains no more than its evidence supports.

    Counted are the answer's different content words that are not in the question: to repeat a passage takes about as
    many as the passage has, and a few to join them (three). More than that is a claim that is not marked. A short
    answer in other words than the evidence's is left to the reviewers.
    """
    own = content_words(answer) - content_words(question)
    carried = content_words(evidence)
    measured = f"Answer: {plural(len(own), 'content word')} beyond the question’s; evidence: {len(carried)}."
    if len(own) > len(carried) + WORDS_BEYOND_EVIDENCE:
        return Check(WARN, "longer", "The answer says more than its evidence.", detail=measured)
    return Check(PASS, "longer", "The answer says no more than its evidence.")


FIELD = "why-"
LONGEST = 500
MOST_ANSWERS = 40

Answers = dict[str, str]


def answers_in(data: Mapping[str, Any]) -> Answers:
    """The answers among a form's fields, by key; an empty one deletes an earlier one."""
    named = [name for name in data if name.startswith(FIELD)][:MOST_ANSWERS]
    return {name.removeprefix(FIELD): _clean(str(data.get(name) or "")) for name in named}


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()[:LONGEST]


def stored_answers(warnings: Iterable[Mapping[str, str]]) -> Answers:
    """The answers stored in a revision, draft or submitted."""
    return {one["key"]: one["answer"] for one in warnings if one.get("key") and one.get("answer")}


def as_drafted(answers: Mapping[str, str]) -> list[dict[str, str]]:
    """Answers as an unsubmitted revision stores them, including those to warnings that are gone."""
    texts = {key: text for key, answer in answers.items() if (text := _clean(answer))}
    return [{"key": key, "answer": answer} for key, answer in list(texts.items())[-MOST_ANSWERS:]]


def as_submitted(checks: Iterable[Check]) -> list[dict[str, str]]:
    """Every warning with the author's answer, as a submitted revision stores them."""
    return [
        {
            "key": check.key,
            "code": check.code,
            "sentence": check.sentence,
            "detail": check.detail,
            "where": check.where,
            "answer": check.answer,
        }
        for check in checks
        if check.level == WARN
    ]
