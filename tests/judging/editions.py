"""A corpus in two editions: sixty pairs judged on the first, and a pool of the same queries on the second."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.accounts.models import Project, User
from apps.corpus.actions.corpora import freeze_snapshot
from apps.corpus.models import Corpus, Snapshot
from apps.judging.actions.rounds import close_round
from apps.judging.models import Round, Seat
from apps.judging.selectors.pairs import resolved_grades
from apps.queries.models import Query
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool
from tests.corpus.factories import import_text, make_corpus
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import make_queries

QUERIES = {f"Q{n:02}": f"what is thing {n}" for n in range(1, 4)}
FIRST = {f"b{n:02}": (f"Thing {n} is described here.", n) for n in range(1, 21)}
CHANGED = {f"b{n:02}" for n in range(1, 6)}
GONE = {"b06", "b07"}
MOVED = {"b08", "b09"}
"""Their text is the same, on another page."""


@dataclass
class Editions:
    """What two editions share: the project, its corpus, and the round on the first of them."""

    project: Project
    corpus: Corpus
    spring: Snapshot
    autumn: Snapshot
    first: Round

    @property
    def judge(self) -> User:
        return people_of(self.first)[0]

    @property
    def kept(self) -> set[str]:
        """The blocks whose text is the same in both."""
        return set(FIRST) - CHANGED - GONE


def make_editions(*, close: bool = True) -> Editions:
    """Sixty grades on the spring edition; in autumn five texts are others, two are gone, two moved and one is new."""
    project = make_project()
    corpus = make_corpus(project, {})
    make_queries(project, QUERIES)
    spring = make_edition(corpus, FIRST)
    pool = pool_of_everything(project, spring)
    first = make_round(project, pool=pool, annotators=1, overlap=0.0)
    judge_all(first, people_of(first)[0], grade_of)
    if close:
        first = close_round(round_id=first.pk, actor=lead_of(project), at=AT)
    autumn = make_edition(corpus, second_texts(), at=AT + timedelta(days=1))
    return Editions(project, corpus, spring, autumn, first)


def grade_of(seat: Seat) -> int:
    """A grade that tells the pair: 0 to 3 by the numbers of query and block."""
    return (int(seat.query.outside_id[1:]) + int(seat.entry.version.block.outside_id[1:])) % 4


def second_texts() -> dict[str, tuple[str, int]]:
    texts = {name: (f"{text} It is new." if name in CHANGED else text, page) for name, (text, page) in FIRST.items()}
    texts = {name: (text, page + (100 if name in MOVED else 0)) for name, (text, page) in texts.items()}
    return {name: value for name, value in texts.items() if name not in GONE} | {"b21": ("Thing 21 is new.", 21)}


def make_edition(corpus: Corpus, texts: dict[str, tuple[str, int]], *, at: datetime = AT) -> Snapshot:
    lines = [
        json.dumps({"block_id": name, "document_id": "d1", "title": "", "text": text, "page_start": page})
        for name, (text, page) in texts.items()
    ]
    import_text(corpus, "\n".join(lines), at=at)
    return freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(corpus.project), at=at)


def pool_of_everything(project: Project, snapshot: Snapshot, name: str = "", **more) -> Pool:
    """Every query with every block of the snapshot."""
    return pool_of(project, snapshot, name or f"Everything on {snapshot.name}", **more)


def pool_of(project: Project, snapshot: Snapshot, name: str, *, queries=None, blocks=None, **more) -> Pool:
    """These queries with these blocks of the snapshot; all of them where none are named."""
    asked_for, held = Query.objects.filter(project=project), snapshot.entries.all()
    if queries is not None:
        asked_for = asked_for.filter(outside_id__in=queries)
    if blocks is not None:
        held = held.filter(block__outside_id__in=blocks)
    versions = list(held.values_list("version", flat=True))
    pairs = [(query, version) for query in asked_for.values_list("pk", flat=True) for version in versions]
    actor = lead_of(project)
    return choose_pairs(project=project, snapshot=snapshot, name=name, pairs=pairs, actor=actor, at=AT, **more)


def asked(round_: Round) -> set[tuple[str, str]]:
    """The pairs that somebody is asked to judge, by query and block."""
    seats = Seat.objects.filter(round=round_)
    return set(seats.values_list("query__outside_id", "entry__version__block__outside_id"))


def graded(snapshot: Snapshot) -> dict[tuple[str, str], int | None]:
    """The grades that a version on this snapshot could have, by query and block."""
    queries = dict(Query.objects.values_list("pk", "outside_id"))
    names = dict(snapshot.entries.values_list("version", "block__outside_id"))
    pairs = resolved_grades(snapshot)
    return {(queries[pair.query_id], names[pair.version_id]): pair.grade for pair in pairs}
