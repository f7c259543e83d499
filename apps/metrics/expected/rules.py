"""What a question expects, what a system returns, and the rules by which a returned passage is right."""

from __future__ import annotations

import re
from typing import NamedTuple

from apps.metrics.estimate import QUERIES, QUESTIONS, Items

Pages = tuple[int, int]


class ExpectedBlock(NamedTuple):
    """A block that answers a question. `pages` are its first and last page, `evidence` its marked texts.

    Without marked evidence the text of the block is its evidence: whoever builds it puts it there.
    """

    block_id: str
    document_id: str = ""
    pages: Pages | None = None
    evidence: tuple[str, ...] = ()


class Question(NamedTuple):
    """What a system is measured on: any one of the expected blocks will do, or all are needed."""

    id: str
    expected: tuple[ExpectedBlock, ...]
    needs_all: bool = False
    query_id: str = ""

    @property
    def needed(self) -> int:
        """How many of the expected blocks have to be found."""
        return len(self.expected) if self.needs_all else 1


class Returned(NamedTuple):
    """A returned passage: as much of id, document, pages and text as the system tells.

    `span` are the first character of it in the text of the block with this id, and the one after its last.
    """

    id: str = ""
    document_id: str = ""
    pages: Pages | None = None
    text: str = ""
    span: tuple[int, int] | None = None


BLOCK, DOCUMENT, PAGES, EVIDENCE = "block", "document", "pages", "evidence"
KINDS = (BLOCK, DOCUMENT, PAGES, EVIDENCE)
BY_GRADES = ""
"""In place of a rule: measured by grades, of the blocks that are returned."""
TEXT = "text"
"""Measured by grades too: a returned passage earns those of the blocks whose words it holds."""

USUAL_SHARE = 0.8
_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)
_TRUTHS = {"true": True, "false": False}
_TAKES = {EVIDENCE: ("share", "together"), TEXT: ("share",)}


class HitRuleError(ValueError):
    """A text that is no hit rule; the message is a sentence."""


class HitRule(NamedTuple):
    """A hit rule. `share` is for evidence (see `find_hits`) and text (see `covering`), `together` for evidence."""

    kind: str
    share: float = USUAL_SHARE
    together: bool = False

    def __str__(self) -> str:
        parameters = [] if self.share == USUAL_SHARE else [f"share={self.share:g}"]
        parameters += ["together=true"] if self.together else []
        return f"{self.kind}({','.join(parameters)})" if parameters else self.kind

    @property
    def words(self) -> str:
        """What counts as right, as a sentence."""
        return {
            BLOCK: "A returned passage counts when it is the expected passage.",
            DOCUMENT: "A returned passage counts when it is from the document of the expected passage.",
            PAGES: "A returned passage counts when it is from the same document and shares a page with the expected "
            "passage.",
            EVIDENCE: self._evidence_words,
            TEXT: "A returned passage earns the grades of the passages that it covers. One is covered when the results "
            f"so far have {self._least} of the words, or all of the marked evidence.",
        }[self.kind]

    @property
    def _least(self) -> str:
        return f"at least {self.share * 100:g}\N{NO-BREAK SPACE}%"

    @property
    def _evidence_words(self) -> str:
        share = f"{self._least} of the words of the marked evidence"
        if self.together:
            return f"A returned passage counts when it and those above it together have {share}."
        return f"A returned passage counts when it has {share}, in order."


def counts_questions(hit: str) -> bool:
    """Whether a stored rule measures on triples; else it measures by grades, of blocks or by text."""
    return hit != BY_GRADES and not is_by_text(hit)


def is_by_text(hit: str) -> bool:
    """Whether a stored rule gives grades to whatever holds the words of a graded block."""
    return hit.partition("(")[0] == TEXT


def items_of(hit: object) -> Items:
    """The noun for scores by this hit rule, or None or "" for grades: they are over queries, by text too."""
    return QUESTIONS if counts_questions(str(hit or "")) else QUERIES


def parse_hit_rule(text: str) -> HitRule:
    """The rule written as `block`, `text` or `evidence(share=0.9,together=true)`, in any case.

    Raises HitRuleError, naming what is wrong and what is possible.
    """
    match = _WRITTEN.match(text.lower())
    kind = match[1] if match else ""
    if match is None or kind not in (*KINDS, TEXT):
        raise HitRuleError(f"'{text.strip()}' is not a hit rule; the rules are {', '.join((*KINDS, TEXT))}.")
    rule = HitRule(kind)
    for part in (match[2] or "").split(","):
        if part.strip():
            rule = _with(rule, part)
    return rule


def _with(rule: HitRule, part: str) -> HitRule:
    name, _, value = (piece.strip() for piece in part.partition("="))
    if name not in _TAKES.get(rule.kind, ()):
        raise HitRuleError(
            f"The hit rule {rule.kind} takes no '{name}'; evidence takes share and together, text takes share."
        )
    if name == "together":
        if value not in _TRUTHS:
            raise HitRuleError(f"together is true or false, not '{value}'.")
        return rule._replace(together=_TRUTHS[value])
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise HitRuleError(f"share is above 0 and at most 1, not '{value}'.")
    return rule._replace(share=round(share, 4))
