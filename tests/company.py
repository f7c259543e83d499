"""A company with a set of some thousand Q&As: its people, its handbook in two editions, and its Q&As as files.

Every passage is two sentences about one thing; its Q&As mark the first as evidence. The new edition changes passages of
what another department has kept, and the last of those about which a Q&A is written in the year.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.review.models import Verdict
from apps.triples.models import Triple
from tests.factories import lead_of, make_member, make_project

SYLLABLES = ("bal", "cor", "dim", "fen", "gul", "hop", "jas", "kel", "mur", "nod")
THINGS = ["".join(parts) for parts in product(SYLLABLES, repeat=3)]
ASKS = (
    "How many days may {} stay with the desk?",
    "After how long does {} have to be handed back?",
    "What is the limit in days for keeping {}?",
    "When does the time for {} run out?",
)
WRITTEN = (
    "Who minds {} when I take it home, and for how long may I?",
    "My colleague still has {}. Is that too long?",
    "Can I hold on to {} over the summer?",
    "What happens once {} is due?",
    "I need {} for a month: is that allowed?",
    "Which desk do I call about {}, and what is the longest loan?",
    "Does the loan of {} end by itself?",
    "Until when can visitors use {}?",
    "Where does {} go back to after the last day?",
    "How soon must I return {} to its hall?",
    "Is there a deadline for bringing {} back?",
    "Whom do I ask for more time with {}?",
    "Are two weeks with {} within the rules?",
    "Our team shares {}: what limit applies to us?",
    "From which hall is {} lent, and until when?",
    "I lost track of {}; when was it due?",
    "May a trainee keep {} for a whole course?",
    "What is the rule for long loans of {}?",
    "Say I borrow {} today. When is the last day?",
    "Does anybody check how long {} is away?",
)
REVIEWERS = ["Mara Quill", "Sef Arden"]
CUSTOMER = "acme"
ENDS = [("accepted", "policy:numeric"), ("split", ""), ("accepted", "revised"), ("dropped", ""), ("dropped", "")]
"""How those Q&As end of which the first is settled by a policy, the others split, revised, dropped and wrong."""
ALONE = "The desk of hall {} answers for it."


class Size(NamedTuple):
    """How many Q&As of each kind. The customer asked `asked` of those that were `reviewed` elsewhere; a new edition
    changes the passages of `stale`, and of `lost` of them the evidence too."""

    reviewed: int
    kept: int
    drawn: int
    written: int
    asked: int
    stale: int
    lost: int
    slice: int


FULL = Size(reviewed=1_200, kept=780, drawn=120, written=20, asked=40, stale=186, lost=8, slice=60)
SMALL = Size(reviewed=60, kept=40, drawn=6, written=6, asked=4, stale=13, lost=4, slice=9)


class Company:
    """The people, and the files that they bring."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.project = make_project("Help desk")
        self.lead = lead_of(self.project)
        self.second = make_member(self.project, Role.LEAD, name="Otto Venn")
        self.author = make_member(self.project, Role.ANNOTATOR, name="Jun Hallam")
        names = ("Ria Sund", "Tom Vale", "Uma Rehn")
        self.reviewers = [make_member(self.project, Role.REVIEWER, name=name) for name in names]

    @property
    def people(self) -> list[User]:
        return [self.lead, self.second, self.author, *self.reviewers]

    @cached_property
    def things(self) -> list[str]:
        """What the passages are about: one passage for four Q&As, and one for each that is written in the year."""
        return THINGS[: (self.size.reviewed + self.size.kept) // len(ASKS) + self.size.written]

    def days(self, thing: str) -> int:
        return 3 + THINGS.index(thing)

    def evidence(self, thing: str) -> str:
        return f"Every {thing} stays with the desk for {self.days(thing)} days at most."

    def first_edition(self) -> bytes:
        return self._edition({})

    def second_edition(self) -> bytes:
        """Some passages get another sentence beside the evidence of their Q&As, fewer lose the evidence itself."""
        changed = self._changed()
        lost = changed[: self.size.lost // len(ASKS)]
        texts = {thing: f"{self.evidence(thing)} Longer only in writing." for thing in changed}
        return self._edition(texts | {thing: f"Nobody keeps {thing} any more." for thing in lost})

    def reviewed(self) -> bytes:
        """The set of the help desk, with who reviewed each; the last ones came from the customer."""
        rows = self._entries(0, self.size.reviewed)
        for row in rows[-self.size.asked :]:
            row["metadata"]["source"] = CUSTOMER
        return _lines(rows)

    def kept(self) -> bytes:
        """The set that another department has kept for years."""
        return _lines(self._entries(self.size.reviewed, self.size.kept))

    def to_write(self) -> list[dict[str, Any]]:
        """Wordings that the author writes in the year, as the body of a draft."""
        told = {"source": "desk", "domain": "loans", "difficulty": "standard"}
        written = []
        for asked, thing in zip(WRITTEN, self.things[-self.size.written :], strict=False):
            hall = ALONE.format(self.things.index(thing))
            wording = {
                "question": asked.format(thing),
                "answer": f"For {self.days(thing)} days at most; {hall[0].lower()}{hall[1:]}",
                "blocks": [{"block_id": f"P-{thing}", "quotes": [self.evidence(thing), hall]}],
            }
            written.append(wording | told)
        return written

    def triples(self, **wanted: Any) -> list[int]:
        return list(
            Triple.objects.filter(project=self.project, **wanted).order_by("number").values_list("pk", flat=True)
        )

    def to_read(self) -> list[int]:
        """What is reviewed in the year: what was written, then what was drawn."""
        written = self.triples(state="in_review", sampled_at=None)
        drawn = self.triples(state="in_review", sampled_at__isnull=False)
        return [*written, *drawn]

    def flagger(self, triple: int) -> User:
        return Verdict.objects.get(revision__triple=triple, choice="flag").reviewer

    def ends(self, *triples: int) -> list[tuple[str, str]]:
        ended = Triple.objects.in_bulk(triples)
        return [(ended[pk].state, ended[pk].resolution) for pk in triples]

    def _changed(self) -> Sequence[str]:
        passages, written = divmod(self.size.stale, len(ASKS))
        first = self.size.reviewed // len(ASKS)
        return [*self.things[first : first + passages], *self.things[len(self.things) - written :]]

    def _entries(self, first: int, number: int) -> list[dict[str, Any]]:
        return [self._entry(at) for at in range(first, first + number)]

    def _entry(self, at: int) -> dict[str, Any]:
        thing = self.things[at // len(ASKS)]
        said = {"added_by": "Ann Older", "reviewed_by": REVIEWERS, "resolution": "consensus", "source": "desk"}
        return {
            "question": ASKS[at % len(ASKS)].format(thing),
            "expected_block": {"block_id": f"P-{thing}", "evidence": self.evidence(thing)},
            "expected_answer": f"{self.days(thing)} days at most.",
            "metadata": said | {"domain": "loans", "difficulty": "easy"},
        }

    def _edition(self, texts: dict[str, str]) -> bytes:
        return _lines(
            {
                "block_id": f"P-{thing}",
                "document_id": f"hall-{number // 20}",
                "title": f"On {thing}",
                "text": texts.get(thing, self.evidence(thing)) + " " + ALONE.format(number),
            }
            for number, thing in enumerate(self.things)
        )


def _lines(rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
