"""Digests by which two triples have the same wording."""

from collections.abc import Iterable

from apps.triples.formats.entry import ALL, wording_digest
from apps.triples.models import Revision


def digest_of_choices(
    question: str, answer: str, match: str, blocks: Iterable[tuple[str, str, Iterable[tuple[int, int]]]]
) -> str:
    """The digest of a wording, its blocks given as (id, text, marks in the text)."""
    return wording_digest(
        question, answer, match, ((outside, [text[a:b] for a, b in spans]) for outside, text, spans in blocks)
    )


def digest_of_revision(revision: Revision) -> str:
    """The same for a stored revision; its blocks should be prefetched."""
    return digest_of_choices(
        revision.question,
        revision.answer,
        ALL if revision.needs_all_blocks else "any",
        ((expected.version.block.outside_id, expected.version.text, expected.spans) for expected in revision.blocks),
    )
