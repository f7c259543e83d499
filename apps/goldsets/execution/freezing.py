"""Copies the items of a version into its own rows, and computes its digest and its manifest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.conf import settings

from apps.agreement.selectors import agreement
from apps.agreement.selectors.agreement import GradeAgreement
from apps.common.database.bulk import chunks, insert_rows
from apps.common.digests import canonical_json, digest_of, digest_of_lines, plain_numbers
from apps.common.text.wording import utc_second
from apps.goldsets.enums import Split
from apps.goldsets.formats import jsonl
from apps.goldsets.models import Version, VersionGrade, VersionLoss, VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import Gathered, JudgedPair
from apps.goldsets.selectors.content import VersionContent, query_rows, triple_rows
from apps.goldsets.selectors.exclusions import losses_facts
from apps.goldsets.selectors.freeze_policy import LeadCheck
from apps.goldsets.selectors.manifest_facts import (
    NumberedDraft,
    checks_facts,
    disagreement_facts,
    elsewhere_facts,
    unused_targets,
    waiting_facts,
)
from apps.queries.models import Permission, Source
from apps.retrieval.selectors.pools import RELEVANT_FROM

BATCH = 1_000
GRADES_AT_ONCE = 10_000
GRADE_COLUMNS = (
    "version_id",
    "query_id",
    "block_version_id",
    "block_id",
    "position",
    "grade",
    "resolution",
    "judges",
    "facets",
)
FORMAT = "karat-gold-set/1"


def copy_items(gathered: Gathered) -> None:
    """Write the queries, grades and triples of a draft. The version must still be a draft: guards refuse others."""
    queries = VersionQuery.objects.bulk_create(query_rows(gathered), batch_size=BATCH)
    keys = {row.query_id: row.pk for row in queries}
    for pairs in chunks(gathered.pairs, GRADES_AT_ONCE):
        insert_rows(VersionGrade, GRADE_COLUMNS, (_grade_values(gathered.version, keys, pair) for pair in pairs))
    VersionTriple.objects.bulk_create(triple_rows(gathered), batch_size=BATCH)
    losses = (VersionLoss(version=gathered.version, **loss.as_row()) for loss in gathered.losses)
    VersionLoss.objects.bulk_create(losses, batch_size=BATCH)


def _grade_values(version: Version, queries: Mapping[int, int], pair: JudgedPair) -> tuple[Any, ...]:
    """The row of a judged pair, in the order of GRADE_COLUMNS; `queries` are the version's, by their keys outside."""
    place = pair.place
    named = (place.version_id, place.outside_id, place.position)
    facets = None if pair.facets is None else json.dumps(pair.facets)
    return version.pk, queries[pair.query.pk], *named, pair.grade, pair.resolution, pair.judges, facets


def items_digest(version: Version, content: VersionContent | None = None) -> str:
    """SHA-256 over the frame of the version and the lines of its items, in bytewise order."""
    return digest_of_lines(_lines(version, content or VersionContent(version)))


def manifest_digest(manifest: dict[str, Any]) -> str:
    return digest_of(plain_numbers(manifest))


def _lines(version: Version, content: VersionContent) -> Iterator[str]:
    """First the context without which items have no meaning; the digest of the snapshot covers the texts."""
    scale, guideline = version.gold_set.project.scale, _guideline_facts(version)
    frame = {
        "snapshot": version.snapshot.digest,
        "scale": scale,
        "guideline": guideline["digest"] if guideline else None,
    }
    yield canonical_json(frame).decode()
    for path, lines in jsonl.files(content):
        if path != jsonl.CORPUS:
            yield path
            yield from (line.decode().removesuffix("\n") for line in lines)


def _guideline_facts(version: Version) -> dict[str, Any] | None:
    guideline = version.guideline
    if guideline is None:
        return None
    digest = digest_of({"markdown": guideline.markdown, "grades": guideline.grades})
    return {"number": guideline.number, "digest": digest}


def manifest_of(
    gathered: Gathered, draft: NumberedDraft, checks: Iterable[LeadCheck], *, digest: str, at: datetime
) -> dict[str, Any]:
    """The facts of a version that is being frozen, with what the checks of the project found. It names no person."""
    version = gathered.version
    project, snapshot = version.gold_set.project, version.snapshot
    grades = agreement.grade_agreement(project, gathered.rounds, {pair.key for pair in gathered.pairs})
    return {
        "format": FORMAT,
        "project": {"slug": project.slug, "name": project.name},
        "gold_set": {"slug": version.gold_set.slug, "name": version.gold_set.name},
        "version": version.label,
        "numbered": {**draft.numbered._asdict(), "since": gathered.former.label if gathered.former else ""},
        "changelog": draft.changelog,
        "note": version.note,
        "digest": digest,
        "frozen_at": utc_second(at),
        "snapshot": {
            "name": snapshot.name,
            "corpus": snapshot.corpus.slug,
            "digest": snapshot.digest,
            "blocks": snapshot.block_count,
            "documents": snapshot.document_count,
        },
        "scale": project.scale,
        "guideline": _guideline_facts(version),
        "counts": _counts(gathered),
        "splits": split_facts(gathered),
        "query_types": query_types(gathered),
        "left_out": losses_facts(gathered.losses),
        "agreement": _agreement_facts(gathered, grades),
        "disagreements": disagreement_facts(gathered, grades.ratings),
        "waiting": waiting_facts(version),
        **elsewhere_facts(gathered),
        "checks": checks_facts(checks),
        "sources": source_facts(gathered),
        "unused_targets": unused_targets(gathered),
        "software": {"name": "karat", "version": settings.VERSION},
    }


def _counts(gathered: Gathered) -> dict[str, Any]:
    grades = Counter(pair.grade for pair in gathered.pairs)
    return {
        "queries": len(gathered.queries),
        "grades": len(gathered.pairs),
        "triples": len(gathered.triples),
        "queries_without_source": sum(query.source_id is None for query in gathered.queries.values()),
        "machine_written_triples": sum(triple.is_machine_written for triple in gathered.triples),
        "by_grade": {str(grade): grades[grade] for grade in sorted(grades)},
        "by_resolution": dict(sorted(Counter(pair.resolution for pair in gathered.pairs).items())),
        **_facet_counts(gathered),
        **({"unanswerable": len(gathered.unanswerable)} if gathered.unanswerable else {}),
    }


def _facet_counts(gathered: Gathered) -> dict[str, int]:
    """Nothing for a version without subtopics."""
    queries = sum(bool(query.facets) for query in gathered.queries.values())
    pairs = sum(pair.facets is not None for pair in gathered.pairs)
    return {"queries_with_facets": queries, "grades_with_facets": pairs} if queries else {}


def split_facts(gathered: Gathered) -> dict[str, Any]:
    """The counts of each split, by its name, and how the split was made.

    `boundary` is the time from which on free questions are in test; `undated` counts items whose date cannot be read;
    `shared` what is relevant in both splits.
    """
    version = gathered.version
    counters: dict[str, Counter[str]] = {split: Counter() for split in Split.values}
    for query in gathered.queries.values():
        counted = counters[gathered.split_of_query(query)]
        counted["queries"] += 1
        counted["grades"] += len(gathered.by_query.get(query.pk, ()))
    for triple in gathered.triples:
        counters[gathered.split_of_triple(triple)]["triples"] += 1
    kinds = ("queries", "grades", "triples")
    counts = {split: {kind: counted[kind] for kind in kinds} for split, counted in counters.items()}
    return {
        **counts,
        "seed": version.seed,
        "test_share": version.test_share,
        "group_by": sorted(version.group_by),
        "by": version.split_by,
        "boundary": utc_second(gathered.boundary) if gathered.boundary else None,
        "undated": sum(time.at is None for time in gathered.times.values()),
        "leaks": len(gathered.leaks),
        "shared": {
            "documents": len(gathered.shared.documents),
            "passages": gathered.shared.passages,
            "from_grade": RELEVANT_FROM,
        },
        "training": {
            "manifests": [{"name": m.name, "digest": m.digest, "entries": m.size} for m in gathered.manifests],
            "in_dev": sum(gathered.splits[name] == Split.DEV for name in gathered.known.questions),
        },
    }


def query_types(gathered: Gathered) -> dict[str, dict[str, int]]:
    """How many queries of each type are in each split, by the types of either; "" for those without one."""
    queries = gathered.queries.values()
    counted = Counter((gathered.split_of_query(query), query.query_type) for query in queries)
    types = sorted({query.query_type for query in queries})
    return {split: {name: counted[split, name] for name in types} for split in Split.values}


def _agreement_facts(gathered: Gathered, grades: GradeAgreement) -> dict[str, Any]:
    """The agreement on the items of the version, and on nothing else."""
    project = gathered.version.gold_set.project
    verdicts = agreement.verdicts_on(project, [triple.pk for triple in gathered.triples])
    return {
        "annotators": len(grades.ratings.people),
        "pairs_judged_twice": grades.ratings.shared,
        "grades": agreement.as_facts(grades.overall),
        "by_pair_of_annotators": [agreement.as_facts(pair.kappa) for pair in grades.pairs],
        "verdicts": agreement.as_facts(verdicts),
    }


def source_facts(gathered: Gathered) -> list[dict[str, Any]]:
    """Each source's share of the queries and of the Q&As, its target, and the terms of its use; by its short name."""
    queries = Counter(query.source for query in gathered.queries.values())
    triples = Counter(triple.counted_source for triple in gathered.triples)
    sources = sorted(filter(None, {*queries, *triples}), key=attrgetter("slug"))
    terms = _terms(sources)
    return [
        {
            "source": source.slug,
            "kind": source.kind,
            "queries": queries[source],
            "share": _share(queries[source], queries.total()),
            "triples": triples[source],
            "share_of_triples": _share(triples[source], triples.total()),
            "target_share": source.target_share,
            **terms.get(source.pk, {"scope": "", "licence": ""}),
        }
        for source in sources
    ]


def _share(part: int, whole: int) -> float | None:
    """None of none has no share."""
    return part / whole if whole else None


def _terms(sources: Iterable[Source]) -> dict[int, dict[str, str]]:
    rows = Permission.objects.filter(source__in=sources, revoked_at=None).order_by("granted_at", "pk")
    return {row.source_id: {"scope": row.scope, "licence": row.licence} for row in rows}
