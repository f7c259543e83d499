"""The answers of a pair's judges under letters, for those who decide it."""

from typing import NamedTuple

from apps.judging.core.seeded_order import shuffled
from apps.judging.models import Judgement, Round
from apps.judging.selectors.pairs import JudgedPair

LETTERS = "ABCDEFGHI"


class Voice(NamedTuple):
    """One judge's answer, under a letter for a name."""

    letter: str
    judgement: Judgement
    spans: list[list[int]]


def voices(round_: Round, judged: JudgedPair) -> list[Voice]:
    """The answers under letters; who is A changes from pair to pair."""
    mixed = shuffled(judged.judgements, seed=round_.seed, who=f"voices {judged.entry_id}", key=lambda j: j.annotator_id)
    return [Voice(letter, judgement, judgement.spans) for letter, judgement in zip(LETTERS, mixed, strict=False)]
