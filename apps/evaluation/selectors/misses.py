"""Missed questions: what was expected, what the run returned instead, and what people said about it since."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from django.db.models import BigIntegerField, F, Q, Value

from apps.accounts.selectors import Member
from apps.common.digests import sha256_hex
from apps.corpus.models import SnapshotBlock
from apps.evaluation import rules
from apps.evaluation.core.misses import (
    Held,
    Likeness,
    Span,
    Step,
    finding,
    held_of,
    known_of,
    ladder,
    likeness,
    shared_spans,
    telling_words,
)
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.evaluations import on_ground, ranks_by_system
from apps.evaluation.selectors.expected import question_of
from apps.goldsets.models import VersionTriple
from apps.metrics.expected.hits import Words
from apps.metrics.expected.rules import HitRule, Question, Returned
from apps.retrieval.models import Run
from apps.retrieval.selectors.blinding import hidden_queries
from apps.retrieval.selectors.runs import returned_of
from apps.review.enums import CandidateState, NoteKind
from apps.review.models import CandidateBlock, MissNote
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.triples import asked_queries

NOTE, CANDIDATE, EXPECTED = range(3)
MOST_OFFERED = 6
MOST_COMPARED = 300
OTHERS_NAMED = 3


class SaidSince:
    """What is known of these triples now, read in one statement.

    Notes on misses count for the wording that they are about, unless they were taken back. The blocks that a triple
    expects now may be more than the released ones.
    """

    def __init__(self, triple_ids: Collection[int]) -> None:
        self._wrong: dict[tuple[int, str], list[str]] = defaultdict(list)
        self._doubted: set[tuple[int, str]] = set()
        self._states: dict[int, dict[int, str]] = defaultdict(dict)
        self._expected: dict[int, set[int]] = defaultdict(set)
        for _, what, triple, version, word, passage, question in sorted(_rows(triple_ids), key=itemgetter(0)):
            if what == EXPECTED:
                self._expected[triple].add(version)
            elif what == CANDIDATE:
                self._states[triple][version] = word
            elif word == NoteKind.WRONG:
                self._wrong[triple, question].append(passage)
            elif word == NoteKind.UNCLEAR:
                self._doubted.add((triple, question))

    def about(self, row: VersionTriple, digest: str, version_id: int | None) -> str:
        """What is known about a passage, for the question as released; "" when nobody has said anything.

        The passage is named by the digest of its text, and by the block version that it is, if any.
        """
        return known_of(
            digest,
            version_id,
            wrong=self._wrong.get(_wording(row), []),
            expected=self._expected.get(row.triple_id, set()),
            states=self._states.get(row.triple_id, {}),
        )

    def doubts(self, row: VersionTriple) -> bool:
        """Whether somebody finds the question as released unclear."""
        return _wording(row) in self._doubted


def _wording(row: VersionTriple) -> tuple[int, str]:
    return row.triple_id, row.content["question"]


def _rows(triple_ids: Collection[int]) -> list[tuple]:
    """Key, NOTE or another, triple, block version, kind or state, passage, question."""
    nothing, none = Value(""), Value(None, output_field=BigIntegerField())
    notes = MissNote.objects.filter(triple__in=triple_ids, withdrawn_at=None)
    candidates = CandidateBlock.objects.filter(triple__in=triple_ids).exclude(state=CandidateState.WITHDRAWN)
    expected = ExpectedBlock.objects.filter(revision__triple__in=triple_ids, revision=F("revision__triple__current"))
    return list(
        notes.order_by()
        .values_list("pk", Value(NOTE), "triple", none, "kind", "passage", "revision__question")
        .union(
            candidates.order_by().values_list("pk", Value(CANDIDATE), "triple", "version", "state", nothing, nothing),
            expected.order_by().values_list(
                "pk", Value(EXPECTED), "revision__triple", "version", nothing, nothing, nothing
            ),
            all=True,
        )
    )


@dataclass(frozen=True)
class ReadPassage:
    """The returned passage that is being read. `entry` is the block that it is; None for one that a system cut."""

    rank: int
    returned: Returned
    entry: SnapshotBlock | None
    text: str

    @property
    def name(self) -> str:
        if self.entry is not None:
            return self.entry.name
        return self.returned.id or self.returned.document_id or f"Passage {self.rank}"

    @property
    def version_id(self) -> int | None:
        return self.entry.version_id if self.entry else None

    @property
    def digest(self) -> str:
        """What a note about it names."""
        return self.entry.version.text_digest if self.entry else sha256_hex(self.text.encode() or self.name.encode())


@dataclass(frozen=True)
class Rung:
    """One line of the ladder as a page shows it."""

    step: Step
    name: str
    is_expected: bool
    is_read: bool


class Miss:
    """One question without a hit within the cutoff, as one person reads it; `read` is the rank of the passage read."""

    def __init__(
        self, evaluation: Evaluation, row: VersionTriple, *, hit_rank: int, cutoff: int, read: int, member: Member
    ) -> None:
        self.evaluation = evaluation
        self.row = row
        self.member = member
        self.hit_rank = hit_rank
        self.cutoff = cutoff
        self.wanted = read

    @property
    def rule(self) -> HitRule:
        rule = self.evaluation.rule
        assert rule is not None
        return rule

    @property
    def question(self) -> str:
        return self.row.content["question"]

    @property
    def answer(self) -> str:
        return self.row.content["expected_answer"]

    @cached_property
    def _query(self) -> int | None:
        asked = asked_queries([self.row.revision_id]).get(self.row.revision_id)
        return asked.query_id if asked else None

    @cached_property
    def hidden(self) -> str:
        """Why ranks of this question are hidden from the person for now; "" where they are not."""
        if self._query is None:
            return ""
        return rules.ranking_refusal(self.member.user, self._query, self.evaluation.version.snapshot) or ""

    # Expected

    @cached_property
    def expected(self) -> list[ExpectedBlock]:
        blocks = ExpectedBlock.objects.filter(revision=self.row.revision_id).order_by("order", "pk")
        return list(blocks.select_related("version__block__document"))

    @cached_property
    def _asked(self) -> Question:
        return question_of(self.row)

    # Returned

    @cached_property
    def returned(self) -> list[Returned]:
        """What the run returned, best first; texts only of passages that the system cut itself."""
        if self._query is None:
            return []
        run = self.evaluation.run
        found = dict(returned_of(run, [self._query], with_text=run.returns_passages))
        return found.get(self._query, [])

    @cached_property
    def read(self) -> ReadPassage | None:
        """The passage at the wanted rank, or the last one; None where nothing was returned."""
        if not self.returned:
            return None
        rank = min(max(self.wanted, 1), len(self.returned))
        return _read(rank, self.returned[rank - 1], self._entries)

    @cached_property
    def _steps(self) -> list[Step]:
        count = len(self.returned)
        return ladder(count, self.cutoff, self.hit_rank, min(max(self.wanted, 1), count))

    @cached_property
    def _entries(self) -> dict[str, SnapshotBlock]:
        """The blocks of the ladder by outside id, as the run's snapshot has them."""
        ids = {self.returned[step.first - 1].id for step in self._steps if not step.is_gap and not step.is_cutoff}
        return _entries(self.evaluation.run, ids)

    @cached_property
    def ladder(self) -> list[Rung]:
        return [self._rung(step) for step in self._steps]

    def _rung(self, step: Step) -> Rung:
        if step.is_gap or step.is_cutoff:
            return Rung(step, "", False, False)
        passage = self.returned[step.first - 1]
        entry = self._entries.get(passage.id)
        name = entry.name if entry else passage.id or passage.text.strip()[:60] or passage.document_id
        is_read = self.read is not None and self.read.rank == step.first
        return Rung(step, name or "without a name", step.first == self.hit_rank, is_read)

    # What they have in common

    @property
    def lit(self) -> list[Span]:
        """Where the passage read has words of the question or of the expected answer."""
        text = self.read.text if self.read else ""
        return shared_spans(text, telling_words(f"{self.question} {self.answer}"))

    @property
    def held(self) -> Held | None:
        if self.read is None or not self.read.text:
            return None
        return held_of((block.evidence for block in self._asked.expected), self.read.text, self.rule.share)

    @property
    def likeness(self) -> Likeness:
        return likeness(self.answer, self.read.text if self.read else "")

    # What is known since

    @cached_property
    def _since(self) -> SaidSince:
        return SaidSince([self.row.triple_id])

    @property
    def known(self) -> str:
        """What is known about the passage read, for this question; "" when nobody has said anything."""
        if self.read is None:
            return ""
        return self._since.about(self.row, self.read.digest, self.read.version_id)

    @property
    def is_unclear(self) -> bool:
        return self._since.doubts(self.row)

    @property
    def also_right_refusal(self) -> str:
        """Why the passage read cannot be proposed, before the action decides; "" where it can."""
        return rules.also_right_refusal(self.read.entry if self.read else None, self.known)

    @cached_property
    def offered(self) -> list[SnapshotBlock]:
        """Blocks of ours that a passage cut by the system is likely to come from, most words in common first."""
        if self.read is None or self.read.entry is not None:
            return []
        snapshot, cut = self.evaluation.run.snapshot_id, Words(self.read.text).distinct
        if not self.read.returned.document_id:
            return []
        inside = Q(block__document__outside_id=self.read.returned.document_id)
        pages = self.read.returned.pages
        if pages is not None:
            inside &= Q(version__page_start=None) | Q(
                version__page_start__lte=pages[1], version__page_end__gte=pages[0]
            )
        rows = SnapshotBlock.objects.filter(inside, snapshot=snapshot).select_related(
            "version__block__document", "block"
        )
        found = list(rows.order_by("position")[:MOST_COMPARED])
        found.sort(key=lambda entry: (-len(cut & Words(entry.version.text).distinct), entry.position))
        return found[:MOST_OFFERED]

    @cached_property
    def others(self) -> list[tuple[str, int]]:
        """Other systems on the same questions by the same rule: the rank of their first hit; 0 for none."""
        own = self.evaluation
        rows = on_ground(own.version, own.split, own.hit).exclude(run=own.run_id).exclude(scored_at=None)
        return ranks_by_system(rows, self.row.label, most=OTHERS_NAMED)


def block_of_run(run: Run, outside_id: str) -> SnapshotBlock | None:
    """The passage of ours with this id, as the run's snapshot has it; None where it has none."""
    rows = SnapshotBlock.objects.filter(snapshot=run.snapshot_id, block__outside_id=outside_id)
    return rows.select_related("version").first()


class Missed(NamedTuple):
    """A question without a hit within the cutoff: its place from 1, its triple, the rank of its first hit or 0."""

    place: int
    row: VersionTriple
    hit_rank: int
    cutoff: int


@dataclass(frozen=True)
class MissRow:
    """A missed question. Where ranks are hidden from the person, it has nothing of what was returned."""

    missed: Missed
    is_hidden: bool
    returned: int | None = None
    first: ReadPassage | None = None
    known: str = ""
    is_unclear: bool = False

    @property
    def first_right_rank(self) -> int | None:
        return None if self.is_hidden else self.missed.hit_rank or None

    @property
    def finding(self) -> str:
        """Why it is a miss, as one sentence; "" where that is hidden."""
        if self.returned is None:
            return ""
        return finding(returned=self.returned, hit_rank=self.missed.hit_rank, cutoff=self.missed.cutoff)

    @property
    def expected_blocks(self) -> list[str]:
        return [block["block_id"] for block in self.missed.row.content["blocks"]]


def miss_rows(evaluation: Evaluation, missed: Sequence[Missed], member: Member) -> list[MissRow]:
    """The misses with what was returned, in a number of queries that does not depend on how many they are."""
    triple_ids = [one.row.triple_id for one in missed]
    asked = asked_queries(one.row.revision_id for one in missed)
    rows_asked = [one.row for one in missed if one.row.revision_id in asked]
    query_of = {row.triple_id: asked[row.revision_id].query_id for row in rows_asked}
    from_them = hidden_queries(member.user, evaluation.version.snapshot, query_of.values())
    hidden = {triple for triple, query in query_of.items() if query in from_them}
    shown = {triple: query for triple, query in query_of.items() if triple not in hidden}
    run = evaluation.run
    returned = dict(returned_of(run, list(shown.values()), with_text=run.returns_passages))
    tops = {triple: returned[query][0] for triple, query in shown.items() if returned.get(query)}
    entries = _entries(run, {top.id for top in tops.values()})
    since = SaidSince(triple_ids)
    rows = []
    for one in missed:
        triple = one.row.triple_id
        if triple in hidden:
            rows.append(MissRow(one, is_hidden=True))
            continue
        first = _read(1, tops[triple], entries) if triple in tops else None
        count = len(returned.get(shown.get(triple, 0), []))
        known = since.about(one.row, first.digest, first.version_id) if first else ""
        rows.append(MissRow(one, False, count, first, known, since.doubts(one.row)))
    return rows


def _entries(run: Run, ids: Collection[str]) -> dict[str, SnapshotBlock]:
    """Blocks by their outside ids, as the run's snapshot has them."""
    rows = SnapshotBlock.objects.filter(snapshot=run.snapshot_id, block__outside_id__in=ids)
    rows = rows.select_related("version__block__document", "block__document")
    return {entry.block.outside_id: entry for entry in rows}


def _read(rank: int, passage: Returned, entries: dict[str, SnapshotBlock]) -> ReadPassage:
    entry = entries.get(passage.id)
    return ReadPassage(rank, passage, entry, entry.version.text if entry and not passage.text else passage.text)
