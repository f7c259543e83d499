"""The corpus, its snapshots and the queries of the demo."""

import io
import json
from datetime import timedelta

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.actions.corpora import create_corpus, import_blocks
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.formats import read_blocks
from apps.corpus.models import Corpus, Snapshot
from apps.dashboard.execution.demo import material
from apps.dashboard.execution.demo.material import HandbookSection
from apps.dashboard.execution.demo.stage import Stage
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.models import Guideline
from apps.queries.actions import create_query, create_source, grant_permission


def import_first_version(stage: Stage) -> Snapshot:
    corpus = create_corpus(project=stage.project, name="Handbooks", actor=stage.lead, at=stage.at(0.2))
    return _take_in(stage, corpus, material.first_version(), "handbooks-spring.jsonl", "Spring", 0.3)


def import_second_version(stage: Stage, *, day: float) -> Snapshot:
    corpus = stage.frozen().corpus
    return _take_in(stage, corpus, material.second_version(), "handbooks-autumn.jsonl", "Autumn", day)


def _take_in(
    stage: Stage, corpus: Corpus, sections: list[HandbookSection], filename: str, name: str, day: float
) -> Snapshot:
    errors = ErrorList()
    source = File(filename, io.BytesIO(_as_jsonl(sections)))
    import_blocks(
        corpus_id=corpus.pk,
        rows=read_blocks(source, errors, format="jsonl"),
        source=source,
        errors=errors,
        actor=stage.lead,
        at=stage.at(day),
    )
    return freeze_snapshot(corpus_id=corpus.pk, actor=stage.lead, at=stage.at(day + 0.1), name=name)


def _as_jsonl(sections: list[HandbookSection]) -> bytes:
    lines = []
    for section in sections:
        row = section._asdict()
        row["section"] = [section.section, section.title]
        lines.append(json.dumps(row, ensure_ascii=False))
    return ("\n".join(lines) + "\n").encode()


def write_queries(stage: Stage) -> None:
    sources = {}
    for entry in material.sources():
        source = create_source(
            project=stage.project,
            name=entry["name"],
            kind=entry["kind"],
            slug=entry["slug"],
            target_share=entry["target"],
            actor=stage.lead,
            at=stage.at(0.5),
        )
        expires_in = entry.get("expires_in_days")
        grant_permission(
            source_id=source.pk,
            owner=entry["owner"],
            scope=entry["scope"],
            evidence=entry["evidence"],
            actor=stage.lead,
            at=stage.at(0.5),
            expires_at=stage.at(49 + expires_in) + timedelta(hours=1) if expires_in else None,
        )
        sources[entry["slug"]] = source
    for query in material.queries():
        create_query(
            project=stage.project,
            outside_id=query["id"],
            text=query["text"],
            intent=query["intent"],
            source=sources[query["source"]],
            query_type=query["type"],
            domain=query["domain"],
            difficulty=query["difficulty"],
            actor=stage.lead,
            at=stage.at(0.6),
        )


def publish_rules(stage: Stage) -> Guideline:
    words = material.guideline()
    return publish_guideline(
        project=stage.project,
        actor=stage.lead,
        grades=words["grades"],
        markdown=words["markdown"],
        at=stage.at(0.8),
    )
