"""Runs of passages of a system's own on a corpus whose words are all different, so that every share is known."""

from collections.abc import Mapping, Sequence

from apps.retrieval.models import Run
from tests.evaluation.factories import Scene, make_scene, qrels_of
from tests.retrieval.factories import import_results

WORDS = 20
"""So many words each block has."""


def piece(block: str, first: int = 1, last: int = WORDS) -> str:
    """The words of a block from one to another, such as "a3 a4 a5"."""
    return " ".join(f"{block}{number}" for number in range(first, last + 1))


TEXTS = {name: piece(name) for name in ("a", "b", "c", "d")}
ELSEWHERE = "these eight words are in no document at"
Passages = Mapping[str, Sequence[str]]


def make_text_scene(queries: int = 6, test_share: float = 0.0, **options) -> Scene:
    """Block a has grade 3, b grade 1 and c grade 0 for every query, and d none. There is no run yet."""
    return make_scene(**{"qrels": qrels_of(queries), "runs": {}, "test_share": test_share, "texts": TEXTS, **options})


def add_cut_run(scene: Scene, tag: str, passages: Passages) -> Run:
    """A complete run that returned these passages, best first, by query."""
    rows = [
        {"qid": query, "rank": rank, "text": text}
        for query, texts in passages.items()
        for rank, text in enumerate(texts, 1)
    ]
    run = import_results(scene.project, scene.snapshot, *rows, tag=tag).run
    scene.runs[tag] = run
    return run


def add_same(scene: Scene, tag: str, *texts: str) -> Run:
    """A run that returned the same passages for every query."""
    names = scene.version.queries.values_list("outside_id", flat=True)
    return add_cut_run(scene, tag, dict.fromkeys(names, texts))
