"""A new edition with all that rests on it, for its page and the API: counts by kind, choices, work, and lists."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Exists, QuerySet

from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.editions import rules
from apps.editions.core.comparison import PassageChange
from apps.editions.enums import ChangeKind
from apps.editions.selectors.applied import as_before_question, stays_question, taken_question, to_run_question
from apps.editions.selectors.decisions import ChangedPassage, Work, changed_passages, decided_question, ranked_changes
from apps.editions.selectors.editions import Edition
from apps.editions.selectors.usage import (
    DependentVersion,
    KindRow,
    Usage,
    dependent_versions,
    live_question,
    rounds_on,
    rows_of,
    usage_of,
    versions_on,
)
from apps.goldsets.models import Version
from apps.judging.core.eta import TimePerPair
from apps.judging.models import Round
from apps.judging.selectors.plans import pace_question
from apps.judging.selectors.rounds import guidelines_in


class PlannedRound(NamedTuple):
    """The round that would be made, its people, and how long it takes one person."""

    former: Round | None
    people: list[str]
    refusal: str | None
    time_per_pair: TimePerPair


class ListedPassage(NamedTuple):
    """A passage in the list behind a count. `block_id` is None before the edition is taken, for a new one."""

    name: str
    former_name: str
    title: str
    text: str
    block_id: int | None
    grades: int
    triples: int


@dataclass(frozen=True)
class EditionSheet:
    """An edition, what rests on the passages before it, and what was asked of the project with it.

    `rounds` and `versions` are all of the corpus, `ranked` the changed passages, those with most grades first.
    """

    edition: Edition
    rounds: list[Round]
    versions: list[Version]
    usage: Usage
    dependents: list[DependentVersion]
    ranked: list[PassageChange]
    asked: Mapping[str, Any]

    @classmethod
    def of(cls, edition: Edition) -> "EditionSheet":
        before = edition.before
        rounds, versions = rounds_on(before.corpus), versions_on(before.corpus)
        project = before.corpus.project
        questions: dict[str, BatchedRead[Any]] = {
            "live": live_question(project),
            "decided": decided_question(before.corpus),
            "stays": stays_question(before, rounds),
            "pace": pace_question(project),
            "has_guideline": BatchedRead({"any": Exists(guidelines_in(project))}, lambda found: bool(found["any"])),
            "as_before": as_before_question(project, rounds),
        }
        if edition.after is not None:
            questions |= {"taken": taken_question(edition.after), "to_run": to_run_question(before, edition.after)}
        asked = answer_to(project, joined(questions))
        frozen = [version for version in versions if not version.is_draft]
        usage = usage_of(edition, rounds, asked["live"], frozen)
        dependents = dependent_versions(frozen, usage, edition.kinds)
        return cls(edition, rounds, versions, usage, dependents, ranked_changes(edition, usage), asked)

    @cached_property
    def weighty(self) -> list[PassageChange]:
        """The changed passages with grades, which a decision is about."""
        return [each for each in self.ranked if self.edition.old_of(each).version_id in self.usage.grades]

    @property
    def drafts(self) -> list[Version]:
        return [version for version in self.versions if version.is_draft]

    def passages(self, changes: Sequence[PassageChange]) -> list[ChangedPassage]:
        """These changed passages in the order given, with what was decided about them."""
        return changed_passages(self.edition, self.usage, changes, self.asked["decided"])

    @property
    def rows(self) -> list[KindRow]:
        """The figures that an edition was taken on; of one that is not taken, or was before they were kept, as it is
        now.
        """
        taken = self.asked.get("taken")
        if taken and "kinds" in taken.after:
            counts = self.edition.counts
            return [KindRow(kind, counts[kind], *taken.after["kinds"][kind]) for kind in ChangeKind]
        return rows_of(self.edition, self.usage, self.dependents)

    def round_for(self, work: Work) -> PlannedRound:
        as_before, pace = self.asked["as_before"], self.asked["pace"]
        pairs = len(work.to_judge)
        judgements = as_before.plan(0).preview(pairs).judgements
        share = judgements / pairs if pairs else 1
        has_guideline = self.asked["has_guideline"]
        refusal = rules.round_refusal(has_guideline=has_guideline, people=len(as_before.people))
        time = TimePerPair(pace.low * share, pace.high * share)
        return PlannedRound(as_before.former, [str(person) for person in as_before.people], refusal, time)

    def of_kind(self, kind: ChangeKind) -> QuerySet[SnapshotBlock] | list[PassageChange]:
        """What `listed` takes a page of: the passages of one kind, those that are the same as the snapshot has them."""
        if kind != ChangeKind.SAME:
            return self.edition.of(kind)
        same = self.edition.before.entries.exclude(version__in=list(self.edition.kinds))
        return same.order_by("position").select_related("version", "block")

    def listed(self, page: Iterable[SnapshotBlock | PassageChange]) -> list[ListedPassage]:
        rows = list(page)
        changes = [row for row in rows if isinstance(row, PassageChange)]
        if changes:
            return self._changed(changes)
        return [self._same(row) for row in rows if isinstance(row, SnapshotBlock)]

    def _same(self, entry: SnapshotBlock) -> ListedPassage:
        version = entry.version
        counts = self._counts(version.pk)
        return ListedPassage(entry.block.outside_id, "", version.title, version.text, entry.block_id, *counts)

    def _changed(self, changes: Collection[PassageChange]) -> list[ListedPassage]:
        edition = self.edition
        old = {change: edition.old_of(change) for change in changes if change.before is not None}
        versions = BlockVersion.objects.in_bulk([passage.version_id for passage in old.values()])
        texts = edition.new_texts([change.name for change in changes if change not in old])
        rows = []
        for change in changes:
            passage = old.get(change)
            text: Any = versions[passage.version_id] if passage else texts[change.name]
            former = change.before.name if change.before and change.before.name != change.name else ""
            stored = passage or edition.new.get(change.name)
            block = stored.block_id if stored else None
            counts = self._counts(passage and passage.version_id)
            rows.append(ListedPassage(change.name, former, text.title, text.text, block, *counts))
        return rows

    def _counts(self, version: int | None) -> tuple[int, int]:
        if version is None:
            return 0, 0
        return len(self.usage.grades.get(version, ())), len(self.usage.triples.get(version, ()))
