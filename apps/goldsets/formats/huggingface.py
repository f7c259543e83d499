"""A folder that `datasets.load_dataset` reads: Parquet files, and a data card that names configurations and splits.

The names of configurations and columns are those that retrieval benchmarks on the Hub use: `corpus`, `queries`, and
`default` for the grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from apps.goldsets.formats.content import Content, FrozenBlock, FrozenQuery, GradeRow, in_order
from apps.goldsets.formats.parquet_files import (
    BLOCKS,
    LONG,
    TEXT,
    TRIPLES,
    block_values,
    parquet_file,
    query_values,
    triple_values,
)
from apps.goldsets.formats.parquet_files import QUERIES as QUERY

FOLDER = "huggingface"
CORPUS = {"_id": TEXT, "title": TEXT, "text": TEXT, **{name: BLOCKS[name] for name in BLOCKS if name != "block_id"}}
QUERIES = {"_id": TEXT, "text": TEXT, "split": TEXT, **{name: QUERY[name] for name in QUERY if name != "query_id"}}
QRELS = {"query-id": TEXT, "corpus-id": TEXT, "score": LONG}
Config = tuple[str, list[str]]
"""The name of a configuration and its splits."""


def files(content: Content, facts: Mapping[str, Any]) -> Iterator[tuple[str, Iterator[bytes]]]:
    splits = sorted({row.split for row in content.queries()})
    graded = [split for split in splits if next(content.grades(split), None)]
    asked = sorted({row.split for row in content.triples()})
    configs: list[Config] = [("default", graded), ("corpus", ["corpus"]), ("queries", ["queries"]), ("triples", asked)]
    yield f"{FOLDER}/README.md", iter([card(facts, [config for config in configs if config[1]])])
    blocks = in_order(content.blocks(), lambda r: (r.block_id,))
    yield f"{FOLDER}/corpus/corpus.parquet", parquet_file(CORPUS, map(_document, blocks))
    for split in graded:
        grades = in_order(content.grades(split), lambda r: (r.query_id, r.block_id))
        yield f"{FOLDER}/default/{split}.parquet", parquet_file(QRELS, map(_qrel, grades))
    queries = in_order(content.queries(), lambda r: (r.query_id,))
    yield f"{FOLDER}/queries/queries.parquet", parquet_file(QUERIES, map(_query, queries))
    for split in asked:
        triples = (row for row in in_order(content.triples(), lambda r: (r.triple_id,)) if row.split == split)
        yield f"{FOLDER}/triples/{split}.parquet", parquet_file(TRIPLES, map(triple_values, triples))


def _document(row: FrozenBlock) -> dict[str, Any]:
    return {"_id": row.block_id, **block_values(row)}


def _query(row: FrozenQuery) -> dict[str, Any]:
    return {"_id": row.query_id, **query_values(row)}


def _qrel(row: GradeRow) -> dict[str, Any]:
    return {"query-id": row.query_id, "corpus-id": row.block_id, "score": row.grade}


def card(facts: Mapping[str, Any], configs: list[Config]) -> bytes:
    """The data card: what a program reads in front, what a person reads below it."""
    name = f"{_inner(facts, 'gold_set', 'name') or 'Gold set'} {facts.get('version', '')}".strip()
    front = {
        "pretty_name": name,
        "task_categories": ["text-retrieval"],
        "configs": [_config(config, is_first=place == 0) for place, config in enumerate(configs)],
    }
    head = yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{_words(name, facts, configs)}".encode()


def _config(config: Config, *, is_first: bool) -> dict[str, Any]:
    """One configuration; the first is the one that is loaded without a name."""
    name, splits = config
    files = [{"split": split, "path": f"{name}/{split}.parquet"} for split in splits]
    return {"config_name": name, **({"default": True} if is_first else {}), "data_files": files}


CONFIG_WORDS = {
    "default": "grades: `query-id`, `corpus-id`, `score`. A pair without a row was not judged; score 0 is a judgement.",
    "corpus": "passages: `_id`, `title`, `text`, and where they are from.",
    "queries": "queries: `_id`, `text`, `split`, and what is known of them.",
    "triples": "questions with the blocks that answer them, the expected answer, and the evidence in the block.",
}


def _words(name: str, facts: Mapping[str, Any], configs: list[Config]) -> str:
    counts = facts.get("export") or facts.get("counts") or {}
    lines = [f"# {name}", ""]
    if note := str(facts.get("note") or "").strip():
        lines += [note, ""]
    lines += ["| load_dataset(path, …) | splits | holds |", "| --- | --- | --- |"]
    lines += [f"| `{config}` | {', '.join(splits)} | {CONFIG_WORDS[config]} |" for config, splits in configs]
    lines += ["", "`metadata` is JSON in one cell.", ""]
    rows = [
        ("Queries", counts.get("queries")),
        ("Unanswerable queries", counts.get("unanswerable")),
        ("Judged pairs", counts.get("grades")),
        ("Questions with answers", counts.get("triples")),
        ("Grades of the scale", ", ".join(str(grade.get("grade")) for grade in _scale(facts))),
        ("Frozen", facts.get("frozen_at")),
        ("Digest of the version", facts.get("digest")),
        ("Digest of the texts", _inner(facts, "snapshot", "digest")),
    ]
    lines += [f"- {label}: {value}" for label, value in rows if value not in (None, "")]
    terms = [source for source in facts.get("sources") or [] if source.get("licence")]
    if terms:
        lines += ["", "## Terms", ""]
        lines += [f"- {source['source']}: {source['licence']} ({source['scope']} use)" for source in terms]
    return "\n".join(lines) + "\n"


def _scale(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    scale = facts.get("scale")
    return [grade for grade in scale if isinstance(grade, Mapping)] if isinstance(scale, list) else []


def _inner(facts: Mapping[str, Any], *names: str) -> Any:
    value: Any = facts
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
