"""The contexts of RAG evaluation files that name no passage: which passage each text is."""

from __future__ import annotations

from collections import Counter

from apps.corpus.core.text_matching import NEAR_SHARE, NOTHING, TextMatches, text_key

BY_ID, BY_TEXT, NEARLY, UNKNOWN = "by id", "by text", "nearly", "unknown"
RULE = f"at least {NEAR_SHARE:.0%} of its runs of three words".replace("%", " %")


class Contexts:
    """Gives the passage of each context, and counts what was found how.

    `where` names the snapshot in sentences. Near matches are proposals: they count when somebody takes them.
    """

    def __init__(self, matches: TextMatches = NOTHING, *, where: str = "", takes_near: bool = False) -> None:
        self.matches = matches
        self.where = where
        self.takes_near = takes_near
        self.counts: Counter[str] = Counter()
        self.example = ""
        """A near match in words."""

    def block_of(self, text: str) -> str:
        """The id of the passage. Raises ValueError with a sentence where there is none, or none that was agreed to."""
        key = text_key(text)
        if (exact := self.matches.exact.get(key)) is not None:
            self.counts[BY_TEXT] += 1
            return exact
        if (near := self.matches.near.get(key)) is None:
            self.counts[UNKNOWN] += 1
            raise ValueError(
                f"no passage of {self.where} has this text, nor {RULE}; name its passage in context_ids, or import the "
                "documents it is from"
            )
        self.counts[NEARLY] += 1
        self.example = self.example or f"{near.block_id} has {near.share:.0%} of one".replace("%", " %")
        if not self.takes_near:
            raise ValueError(f"{near.block_id} has {near.share:.0%} of this text".replace("%", " %") + NOT_TAKEN)
        return near.block_id


NOT_TAKEN = ", which is a near match; take near matches, or name its passage in context_ids"
