"""Tokens of wordings: words and figures. Plain text in, plain values out.

A figure must not change from a block to an answer: a number with its unit, a version, a date, a time of day, a code
such as AES-256-GCM, an acronym. Two figures are the same when `plain` and `unit` are equal. Forms that differ in
writing alone get one plain form (1,000 and 1000, eight hours and 8 h, 1 March 2026 and 2026-03-01); forms that may
differ in meaning never do (1.2 and 1.2.0, 90 days and 3 months, Mb and MB, business days and days).
"""

from apps.triples.core.tokens.figure import Figure
from apps.triples.core.tokens.finding import figures
from apps.triples.core.tokens.numbers import NUMBER_WORDS
from apps.triples.core.tokens.units import unit_of
from apps.triples.core.tokens.wording import content_words, singular, words

__all__ = ["NUMBER_WORDS", "Figure", "content_words", "figures", "singular", "unit_of", "words"]
