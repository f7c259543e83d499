"""Word differences, which the corpus shows too: see apps.common.worddiff."""

from apps.common.worddiff import Piece, word_diff

__all__ = ["Piece", "word_diff"]
