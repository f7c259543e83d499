"""A corpus judged on its first edition, and the file of a second one: what becomes of a text is in its name."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.models import Project, User
from apps.corpus.actions.imports import start_import
from apps.corpus.models import Corpus, Import, Snapshot
from apps.editions.actions.apply import take_imported, take_snapshot
from apps.editions.enums import Choice
from apps.editions.execution.apply import Taken, TakeOrder
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Round
from tests.corpus.factories import import_text, make_corpus
from tests.corpus.factories import make_snapshot as freeze
from tests.factories import AT, lead_of, make_project
from tests.judging.editions import grade_of, pool_of_everything
from tests.judging.factories import give, judge_all, make_round, people_of
from tests.retrieval.factories import make_queries

LATER = AT + timedelta(days=30)
QUERIES = {"Q01": "how long are archives kept", "Q02": "who rotates the signing keys", "Q03": "where do visitors wait"}
STAYS = {f"b{n:02}": f"Passage {n} stays as it is." for n in range(1, 15)}
SPRING = {
    **STAYS,
    "b15": "Archives are kept for 30 days. Older ones are deleted.",
    "b16": "Signing keys are rotated by hand.",
    "b17": "Visitors wait in the lobby.",
    "b18": "This text gets another id.",
    "b19": "This text only moves.",
    "b20": "This text goes away.",
}
AUTUMN = {
    **STAYS,
    "b15": "Archives are kept for 30 days. Older ones are moved to tape.",
    "b16": "Signing keys are rotated by a machine.",
    "b17": "Visitors wait in the garden.",
    "r18": "This text gets another id.",
    "b19": "This text only moves.",
    "b21": "Archives on tape are kept for ten years.",
    "b22": "The canteen opens at noon.",
}
CHANGED, KEPT_BY_ID = {"b15", "b16", "b17"}, {*STAYS, "b19"}


def as_file(texts: dict[str, str], *, page: int = 1) -> str:
    """The passages as JSONL. Passage b19 is on the page given, all others on the first."""
    rows = [
        {"block_id": name, "document_id": "d1", "title": "", "text": text, "page_start": page if name == "b19" else 1}
        for name, text in texts.items()
    ]
    return "\n".join(json.dumps(row) for row in rows)


@dataclass
class Story:
    """The first edition with its judged round, and what is done with the second."""

    project: Project
    corpus: Corpus
    spring: Snapshot
    first: Round
    people: list[User] = field(default_factory=list)

    @property
    def judge(self) -> User:
        return people_of(self.first)[0]

    def begin_import(self, texts: dict[str, str] = AUTUMN) -> Import:
        return begin_import(self.corpus, as_file(texts, page=2))

    def decide(self, **choices: str) -> dict[int, Choice]:
        """The choices by block: `decide(b15="carry")`."""
        blocks = dict(self.corpus.blocks.values_list("outside_id", "pk"))
        return {blocks[name]: Choice(word) for name, word in choices.items()}

    def take(self, texts: dict[str, str] = AUTUMN, *, decided=None, **order) -> Taken:
        item = self.begin_import(texts)
        wanted = TakeOrder(decided or {}, **order)
        taken = take_imported(import_id=item.pk, order=wanted, actor=lead_of(self.project), at=LATER).taken
        assert taken is not None
        return taken

    def freeze_autumn(self, texts: dict[str, str] = AUTUMN) -> Snapshot:
        import_text(self.corpus, as_file(texts, page=2), at=LATER)
        return freeze(corpus=self.corpus)

    def take_frozen(self, snapshot: Snapshot, **order) -> Taken:
        wanted = TakeOrder(order.pop("decided", {}), **order)
        taken = take_snapshot(snapshot_id=snapshot.pk, order=wanted, actor=lead_of(self.project), at=LATER).taken
        assert taken is not None
        return taken


def begin_import(corpus: Corpus, content: str, *, mode: str = "replace") -> Import:
    options = {"format": "jsonl", "ids": "file", "corpus": corpus.slug, "name": "", "mode": mode}
    file = SimpleUploadedFile("autumn.jsonl", content.encode())
    actor = lead_of(corpus.project)
    return start_import(project=corpus.project, kind="corpus", file=file, options=options, actor=actor, at=LATER)


EVIDENCE = {"b15": "Archives are kept for 30 days.", "b16": "Signing keys are rotated by hand."}
"""What a judge marks; of b15 it is in the second edition too, of b16 it is not."""


def judge_with_evidence(round_: Round, judge: User) -> None:
    """The same grades, with the evidence marked in two passages."""
    while seats := claim_seats(round_=round_, annotator=judge, n=10, at=AT):
        for seat in seats:
            quote = EVIDENCE.get(seat.entry.version.block.outside_id, "")
            give(seat, judge, grade_of(seat), spans=[[0, len(quote)]] if quote else [])


def make_story(*, close: bool = True, spring: dict[str, str] = SPRING, marked: bool = False) -> Story:
    """Sixty grades: three queries with twenty passages, by one person; `marked` with evidence in two of them."""
    story = make_first_edition(spring, QUERIES, annotators=1, overlap=0.0)
    if marked:
        judge_with_evidence(story.first, story.judge)
    else:
        judge_all(story.first, story.judge, grade_of)
    if close:
        story.first = close_round(round_id=story.first.pk, actor=lead_of(story.project), at=AT)
    return story


def make_first_edition(spring: dict[str, str], queries: dict[str, str], **plan) -> Story:
    """The first edition with its open round on every pair, which nobody has judged."""
    project = make_project()
    corpus = make_corpus(project, {})
    make_queries(project, queries)
    import_text(corpus, as_file(spring))
    snapshot = freeze(corpus=corpus)
    return Story(project, corpus, snapshot, make_round(project, pool=pool_of_everything(project, snapshot), **plan))
