"""The claims that a split proposes for a triple, each with the sentence of its evidence that says it."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.review.core.claim_proposals import Span, likeliest, propose, sentences
from apps.triples.models import ExpectedBlock, Revision


class ProposedClaim(NamedTuple):
    """`block` is the one with the sentence at `span`; None when no marked evidence is likely to say it."""

    question: str
    answer: str
    block: ExpectedBlock | None
    span: Span


def marked_pieces(block: ExpectedBlock) -> list[Span]:
    """The marked evidence in a block, sentence by sentence."""
    return [piece for start, end in sorted(block.spans) for piece in sentences(block.version.text, start, end)]


def proposed_claims(revision: Revision, expected: Sequence[ExpectedBlock]) -> list[ProposedClaim]:
    """Two to six claims, made of the parts of the wording."""
    pieces = [(block, span) for block in expected for span in marked_pieces(block)]
    texts = [block.version.text[start:end] for block, (start, end) in pieces]
    made = []
    for claim in propose(revision.question, revision.answer):
        best = likeliest(claim.answer, texts)
        block, span = (None, (0, 0)) if best is None else pieces[best]
        made.append(ProposedClaim(claim.question, claim.answer, block, span))
    return made
