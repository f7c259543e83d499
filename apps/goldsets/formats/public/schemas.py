"""JSON Schema of every file of JSON lines in a public release. The fields named here are all that there are."""

from __future__ import annotations

import json
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: dict[str, Any] = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
PAGE = {"type": ["integer", "null"], "minimum": 0}
SPLIT = {"enum": ["dev", "test"]}
EMPTY = {"type": "object", "maxProperties": 0}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def _said(schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"description": words, **schema}


PAGES = {"type": ["array", "null"], "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
PLACE = {"block_id": TEXT, "document_id": {"type": ["string", "null"]}, "page_range": PAGES}
EXPECTED = _object({**PLACE, "evidence": _said(TEXTS, "The words of the passage that give the answer.")})

SCHEMAS: dict[str, dict[str, Any]] = {
    "corpus": _object(
        {
            "block_id": _said(TEXT, "The id of the passage, which systems return."),
            "document_id": TEXT,
            "document_title": TEXT,
            "title": TEXT,
            "section": _said(TEXTS, "Headings above the passage, outermost first."),
            "page_start": PAGE,
            "page_end": PAGE,
            "text": TEXT,
            "metadata": EMPTY,
        }
    ),
    "queries": _object(
        {
            "query_id": TEXT,
            "text": TEXT,
            "label": _said({"const": ""}, "Not public."),
            "intent": _said(TEXT, "What the asker needs."),
            "description": TEXT,
            "source": _said(TEXT, "The kind of source."),
            "difficulty": TEXT,
            "domain": TEXT,
            "query_type": TEXT,
            "group": _said({"const": ""}, "Not public."),
            "tags": _said({"type": "array", "maxItems": 0}, "Not public."),
            "metadata": _object({"split": SPLIT}),
        }
    ),
    "judgements": _object(
        {
            "query_id": TEXT,
            "block_id": TEXT,
            "grade": _said(
                {"type": "integer", "minimum": 0}, "Without a line a pair was not judged; 0 is a judgement."
            ),
            "resolution": TEXT,
            "judges": _said({"type": "integer", "minimum": 0}, "People whose answers the grade rests on."),
            "split": SPLIT,
        }
    ),
    "triples": _object(
        {
            "id": TEXT,
            "query_id": {"type": ["string", "null"]},
            "question": TEXT,
            "expected_block": _said(_object(PLACE), "The first of the expected passages."),
            "expected_blocks": {"type": "array", "items": EXPECTED, "minItems": 1},
            "match": _said({"enum": ["any", "all"]}, "Whether any expected passage will do, or all are needed."),
            "expected_answer": TEXT,
            "metadata": _object(
                {
                    "domain": TEXT,
                    "difficulty": TEXT,
                    "added_by": _said(TEXT, "A pseudonym."),
                    "added_at": _said(TEXT, "Year and month."),
                    "reviewed_by": _said(TEXTS, "Pseudonyms."),
                    "resolution": TEXT,
                    "machine_written": {"type": "boolean"},
                    "split": SPLIT,
                }
            ),
        }
    ),
}
"""By the name of the file in the folder jsonl."""


def schema_bytes(name: str) -> bytes:
    schema = {"$schema": DIALECT, "title": f"A line of jsonl/{name}.jsonl", **SCHEMAS[name]}
    return json.dumps(schema, ensure_ascii=False, indent=2).encode() + b"\n"
