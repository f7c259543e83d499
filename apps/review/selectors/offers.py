"""A person's possible actions on a triple, and why the others are refused: the buttons of the triple's page."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.review import rules
from apps.review.models import MissNote
from apps.review.selectors.candidate_blocks import has_answered_about
from apps.review.selectors.participation import Participation
from apps.triples import rules as writing
from apps.triples.enums import State
from apps.triples.models import Triple


class Offer(NamedTuple):
    """`refusal` is the sentence of the rule, or None when it is allowed."""

    name: str
    key: str
    title: str
    meaning: str
    refusal: str | None

    @property
    def text(self) -> str:
        return self.refusal or self.meaning


def _disputed(triple: Triple, participation: Participation) -> list[Offer]:
    flagged_by = f"{participation.flagger} flagged it." if participation.flagger else ""
    return [
        Offer(
            "revise",
            "r",
            "Revise",
            f"Opens revision {triple.revision.number + 1} and a new round; both reviewers see the difference.",
            rules.revise_refusal(triple, participation),
        ),
        Offer(
            "split",
            "s",
            "Split",
            "Two to six claims, each a draft with its own evidence; this one keeps the links.",
            rules.split_refusal(triple, participation),
        ),
        Offer(
            "drop",
            "d",
            "Drop",
            "Needs a reason. It goes to the quality log.",
            rules.drop_refusal(triple, participation),
        ),
        Offer(
            "withdraw",
            "w",
            "Withdraw the flag",
            f"{flagged_by} A policy settles it, and the Q&A is accepted as it is.".strip(),
            rules.withdraw_flag_refusal(triple, participation),
        ),
        Offer(
            "adjudicate",
            "a",
            "Adjudicate",
            "Accept it, send it to another round, or drop it. The reason is kept.",
            rules.adjudicate_refusal(triple, participation),
        ),
    ]


def _accepted(triple: Triple, participation: Participation, doubts: Sequence[MissNote]) -> list[Offer]:
    offers = [
        Offer(
            "retire",
            "x",
            "Retire",
            "Leaves the gold set for good; versions that contain it keep it.",
            writing.retire_refusal(participation.roles, triple),
        )
    ]
    if triple.is_stale:
        repin = rules.repin_refusal(triple, participation)
        pin = "Keeps evidence that is unchanged; a new round opens."
        anew = "Opens the editor with the new text; a new round follows."
        offers = [
            Offer("re_pin", "p", "Pin to the new text", pin, repin),
            Offer("revise", "r", "Rewrite it", anew, repin),
            *offers,
        ]
    elif doubts:
        refusal = rules.reword_refusal(
            triple,
            participation,
            is_doubted=True,
            has_answered=has_answered_about(triple, participation.person),
        )
        meaning = "Opens the editor; it stays accepted until you submit, then two reviewers check it again."
        offers = [Offer("revise", "r", "Reword the question", meaning, refusal), *offers]
    return offers


def offers_for(triple: Triple, participation: Participation, doubts: Sequence[MissNote] = ()) -> list[Offer]:
    """Every action in this state, allowed ones first; none when the triple has ended for good.

    `doubts` are those about the question that the person may see.
    """
    if triple.state == State.DISPUTED:
        offers = _disputed(triple, participation)
    elif triple.state == State.ACCEPTED:
        offers = _accepted(triple, participation, doubts)
    elif triple.state == State.DROPPED:
        offers = [
            Offer(
                "reopen",
                "r",
                "Reopen as a new draft",
                "Starts a new revision that only you see until you submit it.",
                writing.reopen_refusal(participation.person, participation.roles, triple),
            )
        ]
    else:
        return []
    return sorted(offers, key=lambda offer: offer.refusal is not None)
