"""Context of the page of a draft: its items, what it leaves out, and what blocks its freeze."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.urls import reverse

from apps.common.text.wording import plural
from apps.goldsets import rules
from apps.goldsets.core.splits import kept_together, on_both_sides, split_words
from apps.goldsets.enums import BlockerKind, CheckLevel, Split
from apps.goldsets.execution.freezing import query_types, source_facts, split_facts
from apps.goldsets.forms import ChangelogForm
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.assembly import Gathered, gather
from apps.goldsets.selectors.exclusions import Loss, losses_by_cure, losses_facts
from apps.goldsets.selectors.freeze_checks import Blocker, find_blockers, find_warnings, listed
from apps.goldsets.selectors.freeze_policy import find_lead_checks
from apps.goldsets.selectors.manifest_facts import number_of

SHOWN = 50


class LossGroup(NamedTuple):
    """Losses for the same reason and with the same cure."""

    losses: list[Loss]

    @property
    def first(self) -> Loss:
        return self.losses[0]

    @property
    def some(self) -> list[Loss]:
        """Those that are listed on the page."""
        return self.losses[:SHOWN]

    @property
    def total(self) -> int:
        return len(self.losses)

    @property
    def counted(self) -> str:
        """How many in words: "3 judged pairs"."""
        return rules.counted_losses(losses_facts(self.losses))


def draft_facts(version: Version, *, at: datetime) -> dict[str, Any]:
    gathered = gather(version)
    checks = find_lead_checks(gathered)
    blockers = find_blockers(gathered, checks, at=at)
    facts = split_facts(gathered)
    numbered = number_of(gathered)
    losses = losses_facts(gathered.losses)
    return {
        "version": version,
        "left_out": rules.counted_losses(losses),
        "losses": [LossGroup(losses) for losses in losses_by_cure(gathered.losses)],
        "losses_total": len(gathered.losses),
        "rounds": gathered.rounds,
        "content": gathered,
        "splits": [(split, facts[split]) for split in Split.values],
        "split_words": split_words(facts),
        "kept_together": kept_together(facts),
        "on_both_sides": on_both_sides(facts),
        "dates": _dates(gathered),
        "query_types": type_rows(query_types(gathered)),
        "sources": source_facts(gathered),
        "blockers": _by_kind(version, blockers),
        "counted": rules.counted(blockers),
        "warnings": find_warnings(gathered),
        "checks": [check for check in checks if check.answer is CheckLevel.WARN],
        "manifests": gathered.manifests,
        "training": _training(gathered),
        "former": gathered.former,
        "numbered": numbered.numbered,
        "changelog": ChangelogForm(initial={"changelog": numbered.changelog}),
        "waiting": versions.triples_on_their_way(version),
    }


def type_rows(counted: Mapping[str, Mapping[str, int]]) -> list[tuple[str, list[int]]]:
    """The types of queries, each with its number in dev and in test; empty where no query has a type."""
    types = list(counted.get(Split.DEV, {}))
    return [(name, [counted[split][name] for split in Split.values]) for name in types] if any(types) else []


def _dates(gathered: Gathered) -> str:
    """Where the times of a split by time come from: "12 as asked, 3 as added here"; empty for one by group."""
    kinds = Counter(
        "unreadable" if time.at is None else "as asked" if time.is_asked else "as added"
        for time in gathered.times.values()
    )
    return ", ".join(f"{kinds[word]:,} {word}" for word in ("as asked", "as added", "unreadable") if kinds[word])


def _training(gathered: Gathered) -> list[str]:
    """What the training manifests have of the draft and what follows from it, as sentences."""
    if not gathered.manifests:
        return []
    names = [name.partition(" ")[2] for name in gathered.known.questions if gathered.splits[name] == Split.DEV]
    sentences = []
    if names:
        is_ = plural(len(names), "item known from training is", "items known from training are")
        sentences.append(f"{is_} in dev: {listed(names)}.")
    if beside := [name.partition(" ")[2] for name in gathered.held if name not in gathered.known.questions]:
        go = plural(len(beside), "item goes to dev with it", "items go to dev with them")
        sentences.append(f"{go}, since no group is divided: {listed(beside)}.")
    if not gathered.known.questions:
        sentences.append("No item of this draft is known from training.")
    for manifest, items in gathered.known.passages.items():
        expect = plural(len(items), "item expects", "items expect")
        sentences.append(
            f"{expect} a passage that “{manifest}” has. That is no leak: systems are trained on the corpus."
        )
    return sentences


def _by_kind(version: Version, blockers: Sequence[Blocker]) -> list[dict[str, Any]]:
    slug = version.gold_set.project.slug
    return [
        {
            "heading": rules.counted(listed),
            "is_undecided": any(one.kind == BlockerKind.UNRESOLVED and one.object_id is not None for one in listed),
            "blockers": [(one.sentence, _place(slug, one)) for one in listed],
        }
        for listed in (list(group) for _, group in groupby(blockers, key=lambda blocker: blocker.kind))
    ]


def _place(slug: str, blocker: Blocker) -> str:
    """The URL of the page that resolves a blocker; empty without one."""
    if blocker.place:
        return blocker.place
    if blocker.kind in {BlockerKind.STALE, BlockerKind.NOT_ACCEPTED, BlockerKind.MACHINE}:
        return reverse("review:triple", args=[slug, blocker.object_id])
    if blocker.kind == BlockerKind.UNRESOLVED and blocker.object_id is not None:
        return reverse("judging:adjudicate-pair", args=[slug, blocker.round_id, blocker.object_id])
    if blocker.kind == BlockerKind.UNRESOLVED:
        return reverse("judging:round", args=[slug, blocker.round_id])
    if blocker.kind == BlockerKind.PERMISSION and blocker.object_id is not None:
        return reverse("queries:source", args=[slug, blocker.object_id])
    if blocker.kind in {BlockerKind.PERMISSION, BlockerKind.LEAK}:
        return reverse("queries:list", args=[slug])
    return ""
