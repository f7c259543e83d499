"""Versions, runs and scores for tests, walked to by the real actions."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.accounts.models import Project, User
from apps.common.files.tabular import TableFile as File
from apps.corpus.models import Snapshot
from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.models import Evaluation
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.judging.actions.imports import import_judgements
from apps.judging.execution.judgement_import import JudgementDraft, read_draft
from apps.judging.formats.judgements import RATINGS, columns_of
from apps.queries.core.strata import CONTEXT
from apps.queries.models import Query, Source
from apps.retrieval.models import Run
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_source
from tests.retrieval.factories import import_lines, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

Qrels = Mapping[str, Mapping[str, int]]
Results = Mapping[str, Mapping[str, float]]
Ratings = Mapping[str, Qrels]

BLOCKS = {name: f"Text of block {name}" for name in ("a", "b", "c", "d", "é")}
DOMAINS = ("access", "backups")


def qrels_of(queries: int) -> Qrels:
    """Query n finds block a relevant at grade 3, b at grade 1, and c not relevant."""
    return {f"Q{n:02}": {"a": 3, "b": 1, "c": 0} for n in range(1, queries + 1)}


GOOD = {"a": 9.0, "b": 8.0, "c": 7.0, "d": 6.0}
BAD = {"d": 9.0, "c": 8.0, "b": 7.0, "a": 6.0}


@dataclass
class Scene:
    """A released version and runs on its snapshot, by tag."""

    project: Project
    snapshot: Snapshot
    version: Version
    runs: dict[str, Run] = field(default_factory=dict)

    @property
    def lead(self) -> User:
        return lead_of(self.project)


def make_scene(
    *,
    qrels: Qrels | None = None,
    runs: Mapping[str, Results] | None = None,
    queries: int = 12,
    test_share: float = 0.5,
    state: VersionState = VersionState.RELEASED,
    ratings: Ratings | None = None,
    metadata: Mapping[str, Mapping[str, str]] | None = None,
    documents: Mapping[str, str] | None = None,
    texts: Mapping[str, str] = BLOCKS,
    block_metadata: Mapping[str, Mapping[str, object]] | None = None,
    context: Mapping[str, Mapping[str, str]] | None = None,
) -> Scene:
    """A version cut from imported judgements, with the runs "base" and "better" unless others are given.

    `ratings` are several people's grades of pairs that stand in `qrels`, which then are what was decided. `metadata`
    is written on the queries named, and so is their `context` (expertise and so on); `block_metadata` on blocks.
    `documents` are those of blocks, where there is more than one; `texts` are theirs.
    """
    qrels = qrels_of(queries) if qrels is None else qrels
    if runs is None:
        runs = {"base": dict.fromkeys(qrels, BAD), "better": dict.fromkeys(qrels, GOOD)}
    project = make_project()
    snapshot = make_snapshot(project, texts, documents=documents, metadata=block_metadata)
    queries_made = make_queries(project, {name: f"What about {name}" for name in qrels})
    _describe(queries_made, make_source(project), metadata or {}, context or {})
    draft = _rated(project, snapshot, qrels, ratings) if ratings else judged(project, snapshot, qrels)
    version = _version(project, snapshot, draft, test_share, state)
    scene = Scene(project, snapshot, version)
    for tag, results in runs.items():
        scene.runs[tag] = add_run(scene, tag, results)
    return scene


def _describe(
    queries: list[Query],
    source: Source,
    metadata: Mapping[str, Mapping[str, str]],
    context: Mapping[str, Mapping[str, str]],
) -> None:
    """Give the queries a permitted source and domains in turn."""
    for number, query in enumerate(sorted(queries, key=lambda query: query.outside_id)):
        query.source, query.domain = source, DOMAINS[number % len(DOMAINS)]
        query.metadata = dict(metadata.get(query.outside_id, {}))
        for name, value in context.get(query.outside_id, {}).items():
            setattr(query, name, value)
    Query.objects.bulk_update(queries, ["source", "domain", "metadata", *CONTEXT])


def judged(project: Project, snapshot: Snapshot, qrels: Qrels) -> JudgementDraft:
    lines = [f"{query} 0 {block} {grade}" for query, row in qrels.items() for block, grade in row.items()]
    file = File("old.qrels", io.BytesIO("\n".join(lines).encode()))
    return read_draft(file, project=project, snapshot=snapshot, format="qrels")


def _rated(project: Project, snapshot: Snapshot, qrels: Qrels, ratings: Ratings) -> JudgementDraft:
    rows = [
        f"{query},{block},{person},{grade},{qrels[query][block]}"
        for person, theirs in ratings.items()
        for query, row in theirs.items()
        for block, grade in row.items()
    ]
    file = File("ratings.csv", io.BytesIO("\n".join(["q,d,who,g,final", *rows]).encode()))
    columns = columns_of(RATINGS, "q=query_id, d=doc_id, who=annotator, g=grade, final=final")
    return read_draft(file, project=project, snapshot=snapshot, format=RATINGS, columns=columns)


def _version(
    project: Project, snapshot: Snapshot, draft: JudgementDraft, test_share: float, state: VersionState
) -> Version:
    lead = lead_of(project)
    done = import_judgements(project=project, snapshot=snapshot, draft=draft, actor=lead, at=AT)
    gold_set = create_gold_set(project=project, name="Handbook", actor=lead, at=AT)
    version = draft_version(
        gold_set_id=gold_set.pk,
        snapshot=snapshot,
        rounds=[done.round],
        seed=7,
        test_share=test_share,
        actor=lead,
        at=AT,
    )
    if state != VersionState.DRAFT:
        version = freeze_version(version_id=version.pk, actor=lead, at=AT)
    if state == VersionState.RELEASED:
        version = release_version(version_id=version.pk, actor=lead, at=AT)
    return version


def add_run(scene: Scene, tag: str, results: Results, *, snapshot: Snapshot | None = None, **options) -> Run:
    rows = [(query, block, score) for query, found in results.items() for block, score in found.items()]
    return import_lines(scene.project, snapshot or scene.snapshot, trec(rows, tag), **options).run


def ask(scene: Scene, tag: str, **options) -> Evaluation:
    """An evaluation that waits for its job."""
    return request_evaluation(
        **{
            "project": scene.project,
            "run_id": scene.runs[tag].pk,
            "version_id": scene.version.pk,
            "actor": scene.lead,
            "at": AT,
            **options,
        }
    )


def score(scene: Scene, tag: str, **options) -> Evaluation:
    """A finished evaluation."""
    evaluation = ask(scene, tag, **options)
    run_jobs()
    evaluation.refresh_from_db()
    assert evaluation.is_scored, evaluation.job.error
    return evaluation
