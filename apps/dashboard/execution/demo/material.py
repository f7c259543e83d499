"""The content of the demo from the data files in this folder, and importing it."""

import io
import json
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.actions.corpora import create_corpus, import_blocks
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.formats import read_blocks
from apps.corpus.models import Corpus, Snapshot
from apps.dashboard.execution.demo.stage import Stage
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.models import Guideline
from apps.queries.actions.queries import create_query
from apps.queries.actions.sources import create_source, grant_permission

DATA = Path(__file__).parent / "data"
HANDBOOKS = ("security.yaml", "platform.yaml")


class HandbookSection(NamedTuple):
    """One block of a handbook, as imported."""

    block_id: str
    document_id: str
    document_title: str
    section: str
    title: str
    page_start: int
    page_end: int
    text: str
    metadata: dict[str, Any]


@cache
def read(name: str) -> Any:
    return yaml.load((DATA / name).read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def first_version() -> list[HandbookSection]:
    """Every block of both handbooks, in reading order."""
    sections = []
    for name in HANDBOOKS:
        handbook = read(name)
        for chapter in handbook["chapters"]:
            for block in chapter["blocks"]:
                sections.append(_section(block, handbook, chapter["heading"], chapter))
    return sections


def second_version() -> list[HandbookSection]:
    """The handbooks half a year later: some blocks changed, some removed, some new."""
    news = read("second-version.yaml")
    handbooks = {handbook["document"]: handbook for handbook in map(read, HANDBOOKS)}
    remaining = [section for section in first_version() if section.block_id not in news["gone"]]
    changed = [
        section._replace(text=news["changed"].get(section.block_id, section.text).strip()) for section in remaining
    ]
    about = {"date": news["date"]}
    added = [_section(block, handbooks[block["document"]], block["section"], about) for block in news["new"]]
    return changed + added


def _section(block: dict[str, Any], handbook: dict[str, Any], heading: str, about: dict[str, Any]) -> HandbookSection:
    """`about` has the date of the block and, where not everybody may see it, its audience."""
    audience = {"audience": about["audience"]} if "audience" in about else {}
    return HandbookSection(
        block_id=block["id"],
        document_id=handbook["document"],
        document_title=handbook["title"],
        section=heading,
        title=block["title"],
        page_start=block["pages"][0],
        page_end=block["pages"][1],
        text=block["text"].strip(),
        metadata={name: handbook[name] for name in ("provider", "type")} | {"date": about["date"]} | audience,
    )


def sources() -> list[dict[str, Any]]:
    return read("queries.yaml")["sources"]


def queries() -> list[dict[str, Any]]:
    return read("queries.yaml")["queries"]


def triples() -> list[dict[str, Any]]:
    return read("triples.yaml")["triples"]


def guideline() -> dict[str, Any]:
    return read("guideline.yaml")


def ledger() -> dict[str, dict[str, str]]:
    """By system: what was tried (the note of the run too), with which configuration, the verdict, and the cost."""
    return read("runs.yaml")["ledger"]


def gates() -> list[dict[str, Any]]:
    return read("runs.yaml")["gates"]


def careful_grade(query_id: str, block_id: str) -> int:
    """The careful reader's grade on the first version; unlisted pairs are not relevant."""
    grades = {query["id"]: query["grades"] for query in queries()}
    return grades[query_id].get(block_id, 0)


def careful_facets(query_id: str, block_id: str) -> list[str] | None:
    """The subtopics of a query that a block answers, as the careful reader sees it; None without subtopics."""
    facets = next((query.get("facets") for query in queries() if query["id"] == query_id), None)
    return None if facets is None else [facet["id"] for facet in facets if block_id in facet["blocks"]]


def careful_view(query_id: str, text: str, block_id: str) -> int:
    """As `careful_grade`; for a query that is the question of a Q&A, the Q&A's passages are the answer."""
    views = _asked_for()
    return views[text].get(block_id, 0) if text in views else careful_grade(query_id, block_id)


@cache
def _asked_for() -> dict[str, dict[str, int]]:
    """By question of a Q&A without a query, its passages at the highest grade."""
    rows = [entry for entry in triples() if "query" not in entry]
    return {entry["question"]: dict.fromkeys([entry["block"], *entry.get("also", {})], 3) for entry in rows}


def import_first_version(stage: Stage) -> Snapshot:
    corpus = create_corpus(project=stage.project, name="Handbooks", actor=stage.lead, at=stage.at(0.2))
    return _take_in(stage, corpus, first_version(), "handbooks-spring.jsonl", "Spring", 0.3)


def import_second_version(stage: Stage, *, day: float) -> Snapshot:
    corpus = stage.frozen().corpus
    return _take_in(stage, corpus, second_version(), "handbooks-autumn.jsonl", "Autumn", day)


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
    by_slug = {}
    for entry in sources():
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
        by_slug[entry["slug"]] = source
    for query in queries():
        create_query(
            project=stage.project,
            outside_id=query["id"],
            text=query["text"],
            intent=query["intent"],
            source=by_slug[query["source"]],
            query_type=query["type"],
            domain=query["domain"],
            difficulty=query["difficulty"],
            facets=[{name: facet[name] for name in ("id", "words")} for facet in query.get("facets", ())],
            actor=stage.lead,
            at=stage.at(0.6),
        )


def publish_rules(stage: Stage) -> Guideline:
    words = guideline()
    return publish_guideline(
        project=stage.project,
        actor=stage.lead,
        grades=words["grades"],
        markdown=words["markdown"],
        at=stage.at(0.8),
    )
