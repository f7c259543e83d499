"""Proposed claims for a guided split of a compound wording. Suggestions from plain text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from apps.common.text.words import content_words

Span = tuple[int, int]

FEWEST, MOST = 2, 6
FEWEST_WORDS = 2

_SENTENCE_END = re.compile(r"(?<=[.!?…])(?:[”’\"')]*+\s++)++(?=[\[(“‘\"']?[A-Z0-9])|\n+")
_SEAM = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])|\s*;\s+|,\s+and\s+(?:also\s+)?")


class ClaimProposal(NamedTuple):
    question: str
    answer: str


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The spans of the sentences of text[start:end], without white space around them; line ends end one too."""
    end = len(text) if end is None else end
    spans, at = [], start
    for match in [*_SENTENCE_END.finditer(text, start, end), None]:
        stop = match.end() if match else end
        piece = text[at:stop]
        if piece.strip():
            first = at + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(piece.strip())))
        at = stop
    return spans


def _parts(text: str) -> list[str]:
    """The text cut at sentence ends, semicolons and ", and"; a fragment without enough words stays with its part."""
    parts: list[str] = []
    for part in _SEAM.split(" ".join(text.split())):
        if parts and len(part.split()) < FEWEST_WORDS:
            parts[-1] = f"{parts[-1]}, {part}"
        elif part.strip():
            parts.append(part.strip())
    return parts


def _as_sentence(part: str, end: str) -> str:
    bare = part.rstrip(" .;,?!")
    return f"{bare[:1].upper()}{bare[1:]}{end}" if bare else ""


def propose(question: str, answer: str) -> list[ClaimProposal]:
    """Two to six claims: the answer's parts, each with its part of the question, or with the whole of it."""
    answers = [_as_sentence(part, ".") for part in _parts(answer)]
    if len(answers) > MOST:
        answers = [*answers[: MOST - 1], " ".join(answers[MOST - 1 :])]
    parts = [_as_sentence(part, "?") for part in _parts(question)]
    if len(answers) < FEWEST:
        answers += [""] * (FEWEST - len(answers))
    questions = parts if len(parts) == len(answers) else [question.strip()] * len(answers)
    return [ClaimProposal(one, other) for one, other in zip(questions, answers, strict=True)]


def likeliest(claim: str, passages: Sequence[str]) -> int | None:
    """The passage that shares most words with the claim, the first of equals; None when none shares any."""
    wanted = content_words(claim)
    shared = [len(wanted & content_words(passage)) for passage in passages]
    best = max(shared, default=0)
    return shared.index(best) if best else None
