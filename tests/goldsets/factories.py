"""Gold sets and versions for tests, walked to their state by the real actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.db import connection

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.database import triggers
from apps.corpus.models import Snapshot
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.goldsets.models import GoldSet, Version
from apps.judging.models import Round, Seat
from apps.queries.enums import PermissionScope, SourceKind
from apps.queries.models import Permission, Query, Source
from apps.retrieval.models import Pool, PoolRun, Run
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import judge_all, make_pool, make_round, people_of
from tests.retrieval.factories import import_lines, trec
from tests.review.factories import make_accepted
from tests.triples.factories import TEXTS, make_snapshot


@dataclass
class Bench:
    """A project with judged pairs and an accepted triple on one snapshot: all that a version is cut from."""

    project: Project
    snapshot: Snapshot
    pool: Pool
    round: Round
    source: Source

    @property
    def lead(self) -> User:
        return lead_of(self.project)


def make_source(project: Project, name: str = "Query log", *, permitted: bool = True) -> Source:
    source = Source.objects.create(
        project=project, slug=name.lower().replace(" ", "-"), name=name, kind=SourceKind.QUERY_LOG, created_at=AT
    )
    if permitted:
        permit(source)
    return source


def permit(source: Source, **fields) -> Permission:
    return Permission.objects.create(
        **{
            "source": source,
            "owner": "Search team",
            "scope": PermissionScope.INTERNAL,
            "licence": "CC-BY-4.0",
            "granted_at": AT,
            **fields,
        }
    )


def by_block(seat: Seat) -> int:
    """A grade that everybody gives alike: 2 for access, 3 for backups, 0 for rotation."""
    return len(seat.entry.version.block.outside_id) % 4


def make_bench(
    *,
    queries: int = 4,
    grade_of: Callable[[Seat], int] = by_block,
    triples: int = 1,
    judge: bool = True,
    texts: dict[str, str] = TEXTS,
    reconcile: bool = False,
    **given: str,
) -> Bench:
    project = make_project()
    snapshot = make_snapshot(project, texts)
    source = make_source(project)
    pool = make_pool(project, queries=queries, snapshot=snapshot)
    Query.objects.filter(project=project).update(source=source)
    round_ = make_round(project, pool=pool, annotators=2, overlap=1.0, reconcile=reconcile)
    if judge:
        for place in round_.annotators.select_related("annotator").order_by("pk"):
            judge_all(round_, place.annotator, grade_of, **given)
    for _ in range(2):
        make_member(project, Role.REVIEWER, name="Reviewer")
    for _ in range(triples):
        make_accepted(project, snapshot=snapshot)
    return Bench(project, snapshot, pool, round_, source)


def make_bench_of(project: Project, snapshot: Snapshot, queries: int, grade: int = 2) -> Bench:
    """One person's grades of each block for each query."""
    pool = make_pool(project, queries=queries, snapshot=snapshot)
    round_ = make_round(project, pool=pool, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0], lambda seat: grade)
    return Bench(project, snapshot, pool, round_, make_source(project))


DENSE = {"0": {"access": -1.5, "backups": -2.0}}
LEXICAL = {"0": {"rotation": 9.25, "access": 3.0}, "1": {"backups": 1.0}}


def make_ranked_bench(**runs: Mapping[str, Mapping[str, float]]) -> Bench:
    """A bench whose pool took the first run, each by the scores of each query's number."""
    bench = make_bench(queries=2, triples=0)
    names = sorted(bench.pool.pool_queries.values_list("query__outside_id", flat=True))
    made = [
        make_uploaded_run(bench, tag, {names[int(query)]: scores for query, scores in by_query.items()})
        for tag, by_query in runs.items()
    ]
    PoolRun.objects.create(pool=bench.pool, run=made[0])
    return bench


def make_uploaded_run(bench: Bench, tag: str, rankings: Mapping[str, Mapping[str, float]]) -> Run:
    rows = [(query, block, score) for query, scores in rankings.items() for block, score in scores.items()]
    return import_lines(bench.project, bench.snapshot, trec(rows), tag=tag).run


def make_gold_set(project: Project, name: str = "Handbook") -> GoldSet:
    return create_gold_set(project=project, name=name, actor=lead_of(project), at=AT)


def draft(bench: Bench, gold_set: GoldSet | None = None, **inputs) -> Version:
    gold_set = gold_set or bench.project.gold_sets.first() or make_gold_set(bench.project)
    return draft_version(
        gold_set_id=gold_set.pk,
        actor=bench.lead,
        at=AT,
        **{"snapshot": bench.snapshot, "rounds": [bench.round], "seed": 7, **inputs},
    )


def make_version(state: VersionState = VersionState.DRAFT, bench: Bench | None = None, **inputs) -> Version:
    bench = bench or make_bench()
    version = draft(bench, **inputs)
    if state == VersionState.DRAFT:
        return version
    version = freeze_version(version_id=version.pk, actor=bench.lead, at=AT)
    if state == VersionState.FROZEN:
        return version
    version = release_version(version_id=version.pk, actor=bench.lead, at=AT)
    if state == VersionState.SUPERSEDED:
        make_version(VersionState.RELEASED, bench)
        version.refresh_from_db()
    return version


def make_viewer(project: Project) -> User:
    return make_member(project, Role.VIEWER)


def write_by_machine(project: Project) -> None:
    """Make the accepted triple one that a machine wrote and one of its two reviewers adopted: that stops a freeze."""
    past_the_guards(
        project, is_machine_written=True, adopted_by=project.triples.get().current.verdicts.first().reviewer
    )


def words_past_the_guards(words: Mapping[int, str]) -> None:
    """Give used queries other words, which the guards refuse, as an import from before the guards might have."""
    connection.check_constraints()
    statements = triggers.drop_all(connection)
    for pk, text in words.items():
        Query.objects.filter(pk=pk).update(text=text)
    connection.check_constraints()
    triggers.restore_all(connection, statements)


def past_the_guards(project: Project, **values) -> None:
    """Write what no row holds while the guards stand, to see that a freeze looks for itself."""
    connection.check_constraints()  # PostgreSQL alters no table with checks of foreign keys still to come
    statements = triggers.drop_all(connection)
    project.triples.update(**values)
    connection.check_constraints()
    triggers.restore_all(connection, statements)
