"""Taking an edition of an import or a snapshot: grades come along, the rest becomes a pool and a round, drafts move."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.common.errors import InputErrors, Refusal
from apps.common.files.tabular import open_source
from apps.corpus.execution import import_reading
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.execution.import_reading import apply_import
from apps.corpus.execution.jobs import follow_import
from apps.corpus.imports.documents import CorpusImport
from apps.corpus.models import Corpus, Import, Snapshot
from apps.corpus.selectors.corpora import snapshot_before
from apps.editions import rules
from apps.editions.enums import ChangeKind, Choice
from apps.editions.selectors.applied import TAKEN, as_before_question, taken_event
from apps.editions.selectors.decisions import (
    Decided,
    PairInNew,
    Work,
    changed_passages,
    choices_of,
    decided_question,
    ranked_changes,
    work_of,
)
from apps.editions.selectors.editions import Edition, between, planned
from apps.editions.selectors.usage import (
    KindRow,
    Usage,
    dependent_versions,
    live_question,
    rounds_on,
    rows_of,
    usage_of,
    versions_on,
)
from apps.goldsets.actions.versions import change_draft
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.judging.actions.propagation import GradeToCarry, carry_along
from apps.judging.actions.rounds import open_round
from apps.judging.models import Round
from apps.judging.selectors.plans import pairs_to_plan, split_by_grade
from apps.judging.selectors.rounds import free_pool_name, latest_guideline
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool


def corpus_of(item: Import) -> Corpus | None:
    """The corpus of an import of passages; None for other kinds, and for a corpus that does not exist yet."""
    return CorpusImport().corpus(item.project, item.options) if item.kind == CorpusImport.name else None


def snapshot_before_import(item: Import) -> Snapshot | None:
    """The snapshot that an import is compared with: the latest of its corpus."""
    before = CorpusImport().earlier(item.project, item.options) if item.kind == CorpusImport.name else None
    if before is not None:
        before.corpus.project = item.project
    return before


def import_edition_refusal(item: Import) -> str | None:
    """Why this import has no edition to show."""
    return rules.import_refusal(item, snapshot_before_import(item))


def planned_edition(item: Import, before: Snapshot) -> Edition:
    """The edition that an import makes beside this snapshot, where `import_refusal` has nothing against it.

    Reads its file.
    """
    with open_source(item.upload.file_here(), name=item.upload.filename) as source:
        rows = CorpusImport().rows(source, item.options)
        return planned(before, before.corpus, rows, item.options["mode"])


SEED_DIGITS = 7
"""Of the mark, in base 16: a seed is below 2 ** 31."""


class EditionRefused(Refusal):
    """The edition cannot be taken now."""


class TakeOrder(NamedTuple):
    """What a lead decided. `decided` is by block; all others are as `rest`, or as they start on the page.

    `shown` is the mark of the changes on the page; "" for whatever they are.
    """

    decided: Mapping[int, Choice]
    rest: Choice | None = None
    with_round: bool = True
    shown: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "decided": {str(block): str(choice) for block, choice in self.decided.items()}}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "TakeOrder":
        decided = {int(block): Choice(word) for block, word in stored["decided"].items()}
        rest = Choice(stored["rest"]) if stored["rest"] else None
        return cls(**{**stored, "decided": decided, "rest": rest})


class Taken(NamedTuple):
    """What came of it. Without pairs to judge there is no pool, without grades to carry no carried round."""

    snapshot: Snapshot
    carried: Round | None
    pool: Pool | None
    round: Round | None
    drafts: Sequence[Version]


@transaction.atomic
def take_import(*, import_id: int, order: TakeOrder, actor: User, at: datetime) -> Taken:
    """Apply an import, freeze its corpus and take the edition. Raises InputErrors; then nothing has changed."""
    item = apply_import(import_id=import_id, actor=actor, at=at)
    corpus = corpus_of(item)
    assert corpus is not None  # the import went into it
    snapshot = freeze_snapshot(corpus_id=corpus.pk, actor=actor, at=at)
    return take(snapshot_id=snapshot.pk, order=order, actor=actor, at=at)


@transaction.atomic
def take(*, snapshot_id: int, order: TakeOrder, actor: User, at: datetime) -> Taken:
    """Take the edition that a snapshot is beside the one before it. Raises EditionRefused."""
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=snapshot_id)
    project = Project.objects.select_for_update(no_key=True).get(pk=snapshot.corpus.project_id)
    before = snapshot_before(snapshot)
    EditionRefused.raise_for(rules.take_refusal(before, taken_event(snapshot)), code="edition_refused")
    assert before is not None
    edition = between(before, snapshot)
    EditionRefused.raise_for(rules.shown_refusal(order.shown, edition.mark), code="edition_changed")
    asked: dict[str, BatchedRead[Any]] = {"live": live_question(project), "decided": decided_question(before.corpus)}
    found = answer_to(project, joined(asked))
    frozen = [version for version in versions_on(before.corpus) if not version.is_draft]
    usage = usage_of(edition, rounds_on(before.corpus), found["live"], frozen)
    rows = rows_of(edition, usage, dependent_versions(frozen, usage, edition.kinds))
    work = work_of(edition, usage, _choices(edition, usage, found["decided"], order))
    versions = _versions(edition, [*work.carried, *work.to_judge])
    carried = _carry(edition, work.carried, versions, actor, at)
    pool = _pool(project, edition, work, versions, actor, at)
    round_ = _round(edition, pool, actor, at) if pool is not None and order.with_round else None
    drafts = _move_drafts(edition, [each for each in (carried, round_) if each is not None], actor, at)
    taken = Taken(snapshot, carried, pool, round_, drafts)
    _record(project, edition, rows, work, taken, actor, at)
    return taken


def _choices(edition: Edition, usage: Usage, decided: Decided, order: TakeOrder) -> dict[int, Choice]:
    graded = [each for each in ranked_changes(edition, usage) if edition.old_of(each).version_id in usage.grades]
    return choices_of(changed_passages(edition, usage, graded, decided), order.decided, order.rest)


def _versions(edition: Edition, pairs: Iterable[PairInNew]) -> dict[str, int]:
    texts = edition.new_texts(sorted({pair.name for pair in pairs}))
    return {name: text.version_id for name, text in texts.items() if text.version_id is not None}


def _carry(
    edition: Edition, pairs: Sequence[PairInNew], versions: Mapping[str, int], actor: User, at: datetime
) -> Round | None:
    if not pairs:
        return None
    snapshot = edition.after
    assert snapshot is not None
    grades = [
        GradeToCarry(
            pair.query_id,
            versions[pair.name],
            pair.grade,
            _note(pair, edition.before),
            is_changed=pair.kind == ChangeKind.CHANGED,
            facets=pair.facets,
        )
        for pair in pairs
        if pair.grade is not None
    ]
    return carry_along(
        snapshot=snapshot,
        name=free_pool_name(snapshot.corpus.project, f"Came along to {snapshot.name}"),
        grades=grades,
        origin=f"Given on {edition.before.name}; taken along to {snapshot.name}",
        actor=actor,
        at=at,
    )


def _note(pair: PairInNew, before: Snapshot) -> str:
    if pair.kind == ChangeKind.RENAMED:
        return f"Carried along from {pair.origin} in {before.name}: the same text under another id."
    return f"Carried along from {before.name}, where the text was another: a lead decided that the grade still holds."


def _pool(
    project: Project, edition: Edition, work: Work, versions: Mapping[str, int], actor: User, at: datetime
) -> Pool | None:
    if not work.to_judge:
        return None
    snapshot = edition.after
    assert snapshot is not None
    return choose_pairs(
        project=project,
        snapshot=snapshot,
        name=free_pool_name(project, f"Changed and new in {snapshot.name}"),
        pairs=[(pair.query_id, versions[pair.name]) for pair in work.to_judge],
        origin=f"Changed and new passages of {snapshot.name} beside {edition.before.name}",
        plan={"how": "edition", "before": edition.before.pk},
        actor=actor,
        at=at,
    )


def _round(edition: Edition, pool: Pool, actor: User, at: datetime) -> Round | None:
    """The round that judges the pool as the round before it was judged; None when every pair is being judged already.

    Its seed comes from the changes, so that the same edition opens the same round. Raises EditionRefused without a
    guideline or without people, and RoundRefused.
    """
    rounds = rounds_on(pool.snapshot.corpus)
    as_before = answer_to(pool.project, as_before_question(pool.project, rounds))
    guideline = latest_guideline(pool.project)
    if reason := rules.round_refusal(has_guideline=guideline is not None, people=len(as_before.people)):
        raise EditionRefused(reason, code="no_round")
    assert guideline is not None
    if not split_by_grade(pairs_to_plan(pool, only_new=False))[0].exists():
        return None
    return open_round(
        project=pool.project,
        actor=actor,
        pool=pool,
        guideline=guideline,
        annotators=as_before.people,
        plan=as_before.plan(int(edition.mark[:SEED_DIGITS], 16)),
        at=at,
    )


def _move_drafts(edition: Edition, rounds: Sequence[Round], actor: User, at: datetime) -> list[Version]:
    """Move the drafts on older snapshots to this one; all drafts get the new rounds, also those on later snapshots."""
    snapshot = edition.after
    assert snapshot is not None
    # Locked before they are read: one that is being frozen is no draft any more, and stays as it is.
    locked = Version.objects.select_for_update(of=("self",)).filter(state=VersionState.DRAFT)
    list(locked.filter(snapshot__corpus=snapshot.corpus_id).order_by("pk").values_list("pk"))
    drafts = [version for version in versions_on(snapshot.corpus) if version.is_draft]
    return [
        change_draft(
            version_id=draft.pk,
            snapshot=max(snapshot, draft.snapshot, key=lambda each: each.number),
            rounds=[*draft.rounds.select_related("pool__snapshot"), *rounds],
            actor=actor,
            at=at,
            test_share=draft.test_share,
            seed=draft.seed,
            group_by=draft.group_by,
            note=draft.note,
        )
        for draft in drafts
    ]


def _record(
    project: Project,
    edition: Edition,
    rows: Sequence[KindRow],
    work: Work,
    taken: Taken,
    actor: User,
    at: datetime,
) -> None:
    """`rows` are the figures of the page, which stay what they were when it was taken."""
    after = {
        "before": edition.before.digest,
        "passages": {str(row.kind): row.passages for row in rows},
        "kinds": {str(row.kind): [row.grades, row.triples, row.versions] for row in rows},
        "along": work.along,
        "carried": len(work.carried),
        "again": len(work.again),
        "new": len(work.new),
        "gone": work.gone,
        "carried_round": taken.carried.pk if taken.carried else None,
        "pool": taken.pool.pk if taken.pool else None,
        "round": taken.round.pk if taken.round else None,
        "drafts": [str(draft) for draft in taken.drafts],
    }
    record(project=project, actor=actor, action=TAKEN, obj=taken.snapshot, after=after, at=at)


TAKE = "editions.take"
TAKE_IMPORT = "editions.take_import"


@job_kind(TAKE, title="Take an edition", page=("corpus:snapshot", "snapshot_id"))
def take_job(ctx: JobContext) -> dict[str, Any] | None:
    order = TakeOrder.from_json(ctx.params["order"])
    assert ctx.actor is not None  # a person asked for it
    with ctx.finish() as result:
        taken = take(snapshot_id=ctx.params["snapshot_id"], order=order, actor=ctx.actor, at=ctx.at)
        result.update(_figures(taken))
    return None


@job_kind(TAKE_IMPORT, title="Import and take an edition", follower=follow_import, page=("corpus:import", "import_id"))
def take_import_job(ctx: JobContext) -> dict[str, Any] | None:
    order = TakeOrder.from_json(ctx.params["order"])
    assert ctx.actor is not None  # a person asked for it
    try:
        with ctx.finish() as result:
            taken = take_import(import_id=ctx.params["import_id"], order=order, actor=ctx.actor, at=ctx.at)
            result.update(_figures(taken))
    except InputErrors as errors:
        with ctx.finish() as result:
            import_reading.note_faults(import_id=ctx.params["import_id"], errors=errors)
            result.update(errors=len(errors.errors))
    return None


def _figures(taken: Taken) -> dict[str, Any]:
    return {"snapshot_id": taken.snapshot.pk, "round_id": taken.round.pk if taken.round else None}
