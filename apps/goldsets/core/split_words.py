"""How a version was split, in words, from the facts of its manifest."""

from collections.abc import Mapping
from typing import Any

ALWAYS_TOGETHER = ("the same and nearly the same words", "variants of a query", "a query and its Q&As")
TOGETHER_WORDS = {"group": "groups", "document": "documents that answer", "source": "sources"}
MIDNIGHT = "T00:00:00Z"


def split_words(facts: Mapping[str, Any]) -> str:
    """ "by group", or "by time, test from 2026-03-14 on". Versions from before there was a choice are by group."""
    if facts.get("by", "group") == "group":
        return "by group"
    boundary = boundary_words(facts)
    return f"by time, test from {boundary} on" if boundary else "by time, which put nothing new into test"


def kept_together(facts: Mapping[str, Any]) -> str:
    """By what no leak was found, from the facts of a manifest: what no split divides, always or by choice."""
    chosen = facts.get("group_by", ())
    return ", ".join([*ALWAYS_TOGETHER, *(words for key, words in TOGETHER_WORDS.items() if key in chosen)])


def boundary_words(facts: Mapping[str, Any]) -> str:
    """The time from which on questions are in test: a day, or a time in UTC where it is within a day; "" for none."""
    boundary = str(facts.get("boundary") or "")
    if boundary.endswith(MIDNIGHT):
        return boundary.removesuffix(MIDNIGHT)
    return boundary.replace("T", " ").replace("Z", " UTC")
