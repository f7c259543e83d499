"""The Q&As alone: as YAML, and as samples for frameworks that evaluate generated answers.

`rag/SPLIT.jsonl` has the fields that most of them agree on, `ragas/SPLIT.jsonl` those of a sample of ragas and no
others. The contexts are the whole texts of the expected blocks. Only triples have an answer, so queries with grades
alone are in none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from apps.goldsets.formats.content import Content, TripleRow, in_order
from apps.goldsets.formats.jsonl import triple_entry
from apps.triples.formats import yaml
from apps.triples.formats.entry import as_line

Texts = dict[str, str]


def rag_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    return _by_split(content, "rag", _sample)


def ragas_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    return _by_split(content, "ragas", _ragas_sample)


def _by_split(
    content: Content, folder: str, values: Callable[[TripleRow, Texts], dict[str, Any]]
) -> Iterator[tuple[str, Iterator[bytes]]]:
    texts = _expected_texts(content)
    for split in sorted({row.split for row in content.triples()}):
        yield f"{folder}/{split or 'all'}.jsonl", _lines(content, split, texts, values)


def _lines(
    content: Content, split: str, texts: Texts, values: Callable[[TripleRow, Texts], dict[str, Any]]
) -> Iterator[bytes]:
    for row in in_order(content.triples(), lambda r: (r.triple_id,)):
        if row.split == split:
            yield as_line(values(row, texts))


def _expected_texts(content: Content) -> Texts:
    """The text of every expected block: as many as people wrote triples for, however large the corpus is."""
    expected = {block.block_id for row in content.triples() for block in row.blocks}
    if not expected:
        return {}
    return {block.block_id: block.text for block in content.blocks() if block.block_id in expected}


def _sample(row: TripleRow, texts: Texts) -> dict[str, Any]:
    ids = [block.block_id for block in row.blocks]
    return {
        "id": row.triple_id,
        "query_id": row.query_id or None,
        "question": row.question,
        "contexts": [texts.get(block_id, "") for block_id in ids],
        "ground_truth": row.expected_answer,
        "context_ids": ids,
        "evidence": [list(block.evidence) for block in row.blocks],
        "match": row.match,
        "metadata": {
            "domain": row.domain,
            "difficulty": row.difficulty,
            "machine_written": row.is_machine_written,
            "split": row.split,
        },
    }


def _ragas_sample(row: TripleRow, texts: Texts) -> dict[str, Any]:
    ids = [block.block_id for block in row.blocks]
    return {
        "user_input": row.question,
        "reference": row.expected_answer,
        "reference_contexts": [texts.get(block_id, "") for block_id in ids],
        "reference_context_ids": ids,
    }


def yaml_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    triples = in_order(content.triples(), lambda r: (r.triple_id,))
    yield "yaml/triples.yaml", yaml.write(map(triple_entry, triples))
