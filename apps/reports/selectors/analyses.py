"""Reports of analyses, scoped to a project and to what a member may see, and which systems found each pair."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.evaluation.selectors.rankings import AT_ONCE
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.reports.core.bias import BY_CHANCE, Finds
from apps.reports.core.unjudged_priority import Top
from apps.reports.models import NegativesReport, Report
from apps.reports.rules import ReportHidden, people_refusal
from apps.retrieval.core import ranking
from apps.retrieval.core.sampling import EASY, RANDOM
from apps.retrieval.enums import INDEXED
from apps.retrieval.models import PoolEntry, PoolRun, Ranking, Run, System

# The ways in which a pair is sampled at random into a pool: see `PoolEntry.sampled`.
CHANCE = frozenset({EASY, RANDOM})


def top_of(run: Run, numbers: dict[int, int], depth: int) -> Top:
    """The first `depth` results of a run for the numbered queries."""
    queries, blocks, ranks = [], [], []
    rows = Ranking.objects.filter(run=run).values_list("query_id", "packed")
    for query_id, packed in rows.iterator(chunk_size=AT_ONCE):
        if query_id in numbers:
            positions = ranking.unpack(bytes(packed))[0][:depth].astype(np.int64)
            queries.append(np.full(len(positions), numbers[query_id], dtype=np.int64))
            blocks.append(positions)
            ranks.append(np.arange(len(positions)))
    empty = np.empty(0, dtype=np.int64)
    return Top(*(np.concatenate([empty, *columns]) for columns in (queries, blocks, ranks)))


def finds_by_rank(runs: Sequence[Run], tops: Sequence[Top], depth: int) -> Finds:
    """Each run found what it ranks 1 to `depth`."""
    near = [top.rank < depth for top in tops]
    systems = [np.full(int(is_near.sum()), run.system_id) for run, is_near in zip(runs, near, strict=True)]
    empty = np.empty(0, dtype=np.int64)
    return Finds(
        np.concatenate([empty, *(top.query[is_near] for top, is_near in zip(tops, near, strict=True))]),
        np.concatenate([empty, *(top.block[is_near] for top, is_near in zip(tops, near, strict=True))]),
        np.concatenate([empty, *systems]),
    )


def finds_of_pools(version: Version, numbers: dict[int, int]) -> Finds:
    """The systems of the runs recorded in the pools of the version's rounds; BY_CHANCE where a pair was sampled too."""
    table = np.array(list(_recorded(version, numbers)), dtype=np.int64).reshape(-1, 3)
    return Finds(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())


def families_in(project: Project) -> dict[int, int]:
    """By system that searches an index in Karat the first one of its kind: variants of BM25 find much the same.

    Other systems are families of their own: Karat does not know what is in them.
    """
    families: dict[int, int] = {}
    first: dict[str, int] = {}
    for key, kind in System.objects.filter(project=project, kind__in=INDEXED).order_by("pk").values_list("pk", "kind"):
        families[key] = first.setdefault(kind, key)
    return families


def has_finders(version: Version) -> bool:
    """Whether the pools of the version's rounds were made from runs, and so record which run found which pair."""
    return PoolRun.objects.filter(pool__in=version.rounds.values("pool")).exists()


def _recorded(version: Version, numbers: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Query number, block position and system of every find."""
    positions = dict(version.snapshot.entries.values_list("block_id", "position").iterator(chunk_size=AT_ONCE))
    systems = dict(Run.objects.filter(project=version.gold_set.project).values_list("pk", "system_id"))
    pools = version.rounds.values("pool")
    rows = PoolEntry.objects.filter(pool__in=pools, query__in=version.queries.values("query"))
    columns = rows.values_list("query_id", "version__block_id", "found_by", "sampled")
    for query, block, found_by, sampled in columns.iterator(chunk_size=AT_ONCE):
        number, position = numbers.get(query), positions.get(block)
        if number is None or position is None:
            continue
        for run, _ in found_by:
            yield number, position, systems[run]
        if sampled and sampled.get("how") in CHANCE:
            yield number, position, BY_CHANCE


AnyReport = TypeVar("AnyReport", bound=Report)


def reports_on(kind: type[AnyReport], version: Version) -> QuerySet[AnyReport]:
    """The reports of one kind on a version, newest first."""
    return _with_related(kind._default_manager.filter(version=version)).order_by("-pk")


def report_in(kind: type[AnyReport], project: Project, pk: int) -> AnyReport:
    """A report of the project. Raises Http404."""
    report = _with_related(kind._default_manager.filter(project=project, pk=pk)).first()
    if report is None:
        raise Http404(f"No such {kind._meta.verbose_name}.")
    return report


def _with_related(reports: QuerySet[AnyReport]) -> QuerySet[AnyReport]:
    return reports.select_related("version__gold_set__project", "version__snapshot__corpus", "job", "requested_by")


def visible_report(kind: type[AnyReport], member: Member, pk: int) -> AnyReport:
    """A report that the member may see. Raises Http404 and ReportHidden."""
    report = report_in(kind, member.project, pk)
    if reason := people_refusal(member, report):
        raise ReportHidden(reason, code="round_open")
    return report


def runs_of(report: Report) -> list[Run]:
    """The runs of a report, ascending by key."""
    return list(Run.objects.filter(pk__in=report.runs).select_related("system").order_by("pk"))


def latest_version_of_pool(pool_id: int, project: Project) -> Version | None:
    """Of the versions with a round on the pool, the one frozen last."""
    versions = scorable_versions(project).filter(rounds__pool=pool_id)
    return versions.order_by("-frozen_at", "-pk").first()


def negatives_reports(version: Version) -> QuerySet[NegativesReport]:
    """The reports on hard negatives of a version with their baselines, computed or not, newest first."""
    return reports_on(NegativesReport, version).select_related("baseline")


def latest_negatives(version: Version) -> dict[str, NegativesReport]:
    """The newest computed report on hard negatives of each split."""
    return latest_by_split(negatives_reports(version).filter(computed_at__isnull=False))


def latest_by_split(reports: Iterable[NegativesReport]) -> dict[str, NegativesReport]:
    """The newest computed one of each split among these."""
    computed = (report for report in reports if report.computed_at is not None)
    return {report.split: report for report in sorted(computed, key=lambda report: report.pk)}
