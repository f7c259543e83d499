"""What a question expects, what a system returns, and the rules by which a returned passage is right."""

from __future__ import annotations

import re
from typing import NamedTuple

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
    """A returned passage: as much of id, document, pages and text as the system tells."""

    id: str = ""
    document_id: str = ""
    pages: Pages | None = None
    text: str = ""


BLOCK, DOCUMENT, PAGES, EVIDENCE = "block", "document", "pages", "evidence"
KINDS = (BLOCK, DOCUMENT, PAGES, EVIDENCE)
BY_GRADES = ""
"""In place of a rule: measured by grades."""

USUAL_SHARE = 0.8
_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)
_TRUTHS = {"true": True, "false": False}


class HitRuleError(ValueError):
    """A text that is no hit rule; the message is a sentence."""


class HitRule(NamedTuple):
    """A hit rule. `share` and `together` are for evidence: see `find_hits`."""

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
        }[self.kind]

    @property
    def _evidence_words(self) -> str:
        share = f"at least {self.share * 100:g}\N{NO-BREAK SPACE}% of the words of the marked evidence"
        if self.together:
            return f"A returned passage counts when it and those above it together have {share}."
        return f"A returned passage counts when it has {share}, in order."


def parse_hit_rule(text: str) -> HitRule:
    """The rule written as `block`, `evidence` or `evidence(share=0.9,together=true)`, in any case.

    Raises HitRuleError, naming what is wrong and what is possible.
    """
    match = _WRITTEN.match(text.lower())
    kind = match[1] if match else ""
    if match is None or kind not in KINDS:
        raise HitRuleError(f"'{text.strip()}' is not a hit rule; the rules are {', '.join(KINDS)}.")
    rule = HitRule(kind)
    for part in (match[2] or "").split(","):
        if part.strip():
            rule = _with(rule, part)
    return rule


def _with(rule: HitRule, part: str) -> HitRule:
    name, _, value = (piece.strip() for piece in part.partition("="))
    if rule.kind != EVIDENCE or name not in ("share", "together"):
        raise HitRuleError(f"The hit rule {rule.kind} takes no '{name}'; evidence takes share and together.")
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
