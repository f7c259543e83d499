"""Pairs that nobody has judged yet: assigned in a round, or in the pool of an edition without one."""

from typing import NamedTuple

from apps.corpus.models import Corpus
from apps.corpus.selectors.corpora import TextKey
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Seat
from apps.retrieval.models import PoolEntry

ROWS = 5_000


class WaitingIn(NamedTuple):
    """The round in which a pair waits."""

    round_id: int
    name: str


class PooledIn(NamedTuple):
    """The pool of an edition that has a pair."""

    pool_id: int
    name: str


def pairs_of_editions(corpus: Corpus) -> dict[tuple[int, TextKey], PooledIn]:
    """The latest pool of changed and new passages that has each query and text, judged or not."""
    entries = PoolEntry.objects.filter(pool__snapshot__corpus=corpus, pool__plan__how="edition").order_by("pool", "pk")
    rows = entries.values_list("query_id", "version__block_id", "version__text_digest", "pool_id", "pool__name")
    return {
        (query, TextKey(block, digest)): PooledIn(pool_id, name)
        for query, block, digest, pool_id, name in rows.iterator(chunk_size=ROWS)
    }


def waiting_pairs(corpus: Corpus) -> dict[tuple[int, TextKey], WaitingIn]:
    """The latest open round of each query and text that still has no answer there."""
    seats = Seat.objects.filter(round__pool__snapshot__corpus=corpus, pass_number=1)
    seats = seats.exclude(state=SeatState.DONE).exclude(round__state=RoundState.CLOSED).order_by("round__number")
    rows = seats.values_list(
        "query_id", "entry__version__block_id", "entry__version__text_digest", "round_id", "round__name"
    )
    return {
        (query, TextKey(block, digest)): WaitingIn(round_id, name)
        for query, block, digest, round_id, name in rows.iterator(chunk_size=ROWS)
    }
