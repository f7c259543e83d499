"""Check whether another block than the expected ones may answer as well."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.core.near_duplicates import normalised_hash, resemblance
from apps.triples.core.checks.check import PASS, WARN, Check
from apps.triples.core.checks.figures import figures_in
from apps.triples.core.tokens import NUMBER_WORDS, content_words, figures

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
