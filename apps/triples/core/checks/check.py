"""The result of a check: its level, its sentence, and the key of its answer."""

from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

STOP, WARN, PASS = "stop", "warn", "pass"

# Every check that can warn, by its code, as the settings page names it. A lead may make each of them stop.
CAN_WARN = {
    "figures": "An acronym of the answer is not in the evidence",
    "longer": "The answer says more than its evidence",
    "copied": "Part of the question is copied from a passage",
    "duplicate": "Nearly the same question exists",
    "other_block": "Another passage may answer as well",
}
ALWAYS_STOPS = (
    "A part is missing, or no evidence is marked",
    "The evidence is not in the pinned text",
    "A number, unit, version or date of the answer is not in the evidence",
    "Four fifths of the question are copied from a passage",
)


class Check(NamedTuple):
    """`code` is stable; `sentence` is for people; `detail` is what was compared, where that helps.

    `quote` is a text somebody wrote (a question that exists already), `ref` names what the check is about (a triple, a
    block, a figure), `block` the id of a block to open, `of` the expected block that was checked, `where` the same when
    there are several and the sentence has to name it. `in_answer` and `in_evidence` are the two spellings of a
    figure. `answer` is the author's reason for a warning.
    """

    level: str
    code: str
    sentence: str
    detail: str = ""
    quote: str = ""
    ref: str = ""
    in_answer: str = ""
    in_evidence: str = ""
    block: int | None = None
    where: str = ""
    answer: str = ""
    of: str = ""

    @property
    def key(self) -> str:
        """The key of an answer: the same check about the same thing. A new thing needs a new answer.

        The block is part of it even while it is the only one: a second one must not take the answer away.
        """
        return ":".join(part for part in (self.code, self.ref, self.of) if part)

    def answer_in(self, answers: Mapping[str, str]) -> str:
        """The answer to it. Earlier drafts named the block only when there were several."""
        if self.key in answers or self.where:
            return answers.get(self.key, "").strip()
        return answers.get(self._replace(of="").key, "").strip()

    @property
    def slug(self) -> str:
        """The key as part of an element's id."""
        return f"{self.code}-{crc32(self.key.encode()):08x}"

    @property
    def is_missing(self) -> bool:
        """Whether something is not entered yet: it stops, but is no fault."""
        return self.code.startswith("no_")

    @property
    def needs_reason(self) -> bool:
        """Whether the author has to give a reason, and has not."""
        return self.level == WARN and not self.answer

    @property
    def added(self) -> str:
        """The part of the evidence's figure after the answer's figure: "-GCM" for AES-256 and AES-256-GCM."""
        if not self.in_answer or not self.in_evidence.startswith(self.in_answer):
            return ""
        return self.in_evidence.removeprefix(self.in_answer)


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 word", "0 words"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
