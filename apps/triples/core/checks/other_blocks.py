"""Whether a block beside the expected ones may answer as well."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.core.near_duplicates import normalised_hash, resemblance
from apps.triples.core.checks.check import PASS, WARN, Check
from apps.triples.core.checks.figures import held_in
from apps.triples.core.tokens import NUMBER_WORDS, content_words, figures

ANSWER_SHARE = 0.8
QUESTION_SHARE = 0.5
SAME_TEXT = 0.7
MOST_OTHER_BLOCKS = 3


class OtherBlock(NamedTuple):
    """A block beside the expected ones that a retriever found; `found_by` says which, and where."""

    block: int
    ref: str
    title: str
    text: str
    found_by: str = ""


def may_answer(text: str, question: str, answer: str) -> bool:
    """Whether a block could give the answer too: it speaks of what is asked, and says what is answered.

    It holds half of the question's content words, every figure of the answer, and four fifths of the answer's own
    content words: those that the question does not hand it and that are no figures. An answer without figures and
    with less than three own words says too little to be looked for. A block in other words than these is missed.
    """
    there, subject = content_words(text), content_words(question)
    own = frozenset(filter(_is_word, content_words(answer) - subject))
    if len(subject & there) < QUESTION_SHARE * len(subject) or len(own & there) < ANSWER_SHARE * len(own):
        return False
    asked = figures(answer)
    if not asked and len(own) < 3:
        return False
    return all(map(held_in(text).says, asked))


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
