"""Passages that a system cut itself: where their words are in the corpus, and which graded blocks they cover."""
