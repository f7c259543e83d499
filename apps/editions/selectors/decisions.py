"""The work that an edition brings, and its changed passages one by one, with what happens to their grades."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from apps.common.database.batched_reads import BatchedRead, ListOf
from apps.common.text.blocktext import is_cut
from apps.common.text.worddiff import Piece, changed_spans, word_diff
from apps.common.text.wording import plural
from apps.corpus.models import BlockVersion, Corpus
from apps.corpus.selectors.corpora import TextKey
from apps.editions.core.comparison import PassageChange, likely_pairs
from apps.editions.enums import KEEPS_ITS_TEXT, ChangeKind, Choice
from apps.editions.models import Decision
from apps.editions.selectors.editions import Edition, NewText
from apps.editions.selectors.usage import Span, Usage, evidence_on
from apps.triples.core.evidence import placed


class PairInNew(NamedTuple):
    """A query and a passage of the new edition; with the grade and subtopics that it would get, and from which passage
    of the old one.
    """

    query_id: int
    name: str
    grade: int | None = None
    origin: str = ""
    kind: ChangeKind = ChangeKind.NEW
    facets: list[str] | None = None


class Work(NamedTuple):
    """The pairs of an edition. Those of texts that stay as they are need nothing, and are only counted.

    `carried` have no grade of their own yet, `again` and `new` are for people to judge. A pair that was judged on the
    new text already, in whichever round, is in none of them.
    """

    kept: int
    carried: list[PairInNew]
    again: list[PairInNew]
    new: list[PairInNew]
    gone: int

    @property
    def along(self) -> int:
        """All grades that the new edition has."""
        return self.kept + len(self.carried)

    @property
    def to_judge(self) -> list[PairInNew]:
        return [*self.again, *self.new]


def work_of(edition: Edition, usage: Usage, choices: Mapping[int, Choice]) -> Work:
    """The work under these choices for changed passages, by old block version."""
    kept = gone = 0
    carried: list[PairInNew] = []
    again: list[PairInNew] = []
    moving = {
        edition.old_of(change).version_id: change
        for change in edition.changes
        if change.kind in {ChangeKind.RENAMED, ChangeKind.CHANGED}
    }
    texts = _text_keys(edition)
    for version, grades in usage.grades.items():
        kind = edition.kinds.get(version, ChangeKind.SAME)
        if kind == ChangeKind.GONE:
            gone += len(grades)
        elif version not in moving:
            kept += len(grades)
        else:
            change = moving[version]
            assert change.before is not None
            is_carried = kind in KEEPS_ITS_TEXT or choices[version] == Choice.CARRY
            for query, grade in grades.items():
                if (query, texts.get(change.name)) in usage.settled:
                    kept += 1
                elif is_carried:
                    carried.append(
                        PairInNew(
                            query, change.name, grade, change.before.name, kind, usage.facets.get((version, query))
                        )
                    )
                else:
                    again.append(PairInNew(query, change.name, kind=kind))
    return Work(kept, sorted(carried), sorted(again), _new_pairs(edition, usage, texts), gone)


def _text_keys(edition: Edition) -> dict[str, TextKey]:
    """The text of each changed or renamed passage of the new edition, where its block exists already."""
    blocks = {name: passage.block_id for name, passage in edition.old.items()}
    blocks |= {name: passage.block_id for name, passage in edition.new.items()}
    return {
        change.name: TextKey(blocks[change.name], change.after.text)
        for change in edition.changes
        if change.after is not None and change.name in blocks
    }


def _new_pairs(edition: Edition, usage: Usage, texts: Mapping[str, TextKey]) -> list[PairInNew]:
    names = [change.name for change in edition.of(ChangeKind.NEW)]
    if not names:
        return []
    judged = usage.queries
    queries = {pk: text for pk, text in usage.live.items() if pk in judged}
    passages = {name: f"{new.title} {new.text}" for name, new in edition.new_texts(names).items()}
    pairs = likely_pairs(queries, passages)
    return [PairInNew(*pair) for pair in pairs if (pair[0], texts.get(pair[1])) not in usage.settled]


MAX_COMPARED = 20_000


@dataclass(frozen=True)
class ChangedPassage:
    """A changed passage with the grades and Q&As on its old text.

    `spans` is the evidence marked in the old text, `moved` each of its places in the new one, None where it is gone;
    `decided` what a lead chose already.
    """

    change: PassageChange
    old: BlockVersion
    new: NewText
    grades: int
    triples: int
    spans: tuple[Span, ...]
    moved: tuple[Span | None, ...]
    decided: Choice | None = None

    @property
    def block_id(self) -> int:
        return self.old.block_id

    @property
    def start(self) -> Choice:
        """Carry along when there is marked evidence and all of it is in the new text."""
        return Choice.CARRY if self.spans and None not in self.moved else Choice.AGAIN

    def choice(self, rest: Choice | None = None) -> Choice:
        """As decided, else `rest` or its start."""
        return self.decided or rest or self.start

    @property
    def kept(self) -> list[Span]:
        return [span for span in self.moved if span is not None]

    @property
    def is_comparable(self) -> bool:
        return not self.old.redacted_at and len(self.old.text) + len(self.new.text) <= MAX_COMPARED

    @cached_property
    def pieces(self) -> list[Piece]:
        """The word difference; empty for texts that are too long to compare on a page, or redacted."""
        return word_diff(self.old.text, self.new.text) if self.is_comparable else []

    @cached_property
    def title_pieces(self) -> list[Piece]:
        return word_diff(self.old.title, self.new.title) if self.old.title != self.new.title else []

    @property
    def removed(self) -> list[Span]:
        return changed_spans(self.pieces, "del")

    @property
    def added(self) -> list[Span]:
        return changed_spans(self.pieces, "ins")

    @property
    def shown_before(self) -> list[Span]:
        """What is read of the old text: the paragraphs with a change or marked evidence."""
        return [*self.removed, *self.spans]

    @property
    def shown_after(self) -> list[Span]:
        return [*self.added, *self.kept]

    @cached_property
    def is_cut(self) -> bool:
        """Whether this leaves out something."""
        old, new = self.old.text, self.new.text
        as_written = self.old.is_as_written
        return is_cut(old, self.shown_before, as_written=as_written) or is_cut(
            new, self.shown_after, as_written=as_written
        )

    @property
    def why(self) -> str:
        """How much changed, and what became of the evidence: "1 word of 96, evidence untouched"."""
        if self.spans and None in self.moved:
            return "marked evidence changed"
        evidence = "evidence untouched" if self.spans else "no evidence marked"
        return f"{self._extent}, {evidence}" if self._extent else evidence

    @property
    def _extent(self) -> str:
        new = sum(len(piece.text.split()) for piece in self.pieces if piece.kind == "ins")
        gone = sum(len(piece.text.split()) for piece in self.pieces if piece.kind == "del")
        if not new and not gone:
            return "" if not self.title_pieces else "only the title"
        if not gone:
            return f"{plural(new, 'word')} new"
        if not new:
            return f"{plural(gone, 'word')} gone"
        return f"{plural(max(new, gone), 'word')} of {len(self.old.text.split()):,}"


def ranked_changes(edition: Edition, usage: Usage) -> list[PassageChange]:
    """The changed passages: most grades first, then most Q&As, then by id."""

    def weight(change: PassageChange) -> tuple[int, int, str]:
        version = edition.old_of(change).version_id
        return -len(usage.grades.get(version, ())), -len(usage.triples.get(version, ())), change.name

    return sorted(edition.of(ChangeKind.CHANGED), key=weight)


Decided = Mapping[tuple[int, str], Choice]
"""What was decided about texts of the corpus, by the old block version and the digest of the new text."""


def changed_passages(
    edition: Edition, usage: Usage, changes: Sequence[PassageChange], decided: Decided
) -> list[ChangedPassage]:
    """These changed passages with their texts and evidence, in the order given."""
    keys = [edition.old_of(change).version_id for change in changes]
    versions = edition.versions(keys)
    texts = edition.new_texts([change.name for change in changes])
    evidence = evidence_on(usage, versions)
    return [
        _passage(
            change,
            versions[key],
            texts[change.name],
            usage,
            tuple(evidence.get(key, ())),
            decided.get(_texts(edition, change)),
        )
        for change, key in zip(changes, keys, strict=True)
    ]


def decided_question(corpus: Corpus) -> BatchedRead[Decided]:
    decisions = Decision.objects.filter(version__block__corpus=corpus)
    rows = ListOf(decisions.values_list("version_id", "text_digest", "choice"))
    return BatchedRead(
        {"decided": rows},
        lambda found: {(version, digest): Choice(choice) for version, digest, choice in found["decided"]},
    )


def _texts(edition: Edition, change: PassageChange) -> tuple[int, str]:
    assert change.after is not None
    return edition.old_of(change).version_id, change.after.text


def _passage(
    change: PassageChange,
    old: BlockVersion,
    new: NewText,
    usage: Usage,
    spans: tuple[Span, ...],
    decided: Choice | None,
) -> ChangedPassage:
    moved = tuple(placed(old.text, spans, new.text)) if spans else ()
    grades, triples = len(usage.grades.get(old.pk, ())), len(usage.triples.get(old.pk, ()))
    return ChangedPassage(change, old, new, grades, triples, spans, moved, decided)


def choices_of(
    passages: Collection[ChangedPassage], decided: Mapping[int, Choice], rest: Choice | None = None
) -> dict[int, Choice]:
    """The choice for each changed passage, by its old block version.

    As `decided` by block; else as a lead decided before, else `rest` or its start.
    """
    return {passage.old.pk: decided.get(passage.block_id, passage.choice(rest)) for passage in passages}
