"""The description of a public release in Croissant 1.1, which search engines for data sets and loaders read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from apps.goldsets.formats.public.card import BY_KEY

FILE = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "source": "cr:source",
    "transform": "cr:transform",
}
TEXT, NUMBER = "sc:Text", "sc:Integer"
KEYS = {"corpus": "block_id", "queries": "query_id", "triples": "id"}
REFERENCES = {"judgements/query_id": "queries/query_id", "judgements/block_id": "corpus/block_id"}
"""Of grades alone, which always find both: a loader joins the tables, and a Q&A need not be one of the queries."""
NESTED = {
    "queries": {"split": ("metadata", "split")},
    "triples": {
        "expected_block_id": ("expected_block", "block_id"),
        "domain": ("metadata", "domain"),
        "difficulty": ("metadata", "difficulty"),
        "split": ("metadata", "split"),
    },
}
"""Values within an object, by the name of the field: the column, and the path in it."""


def description(
    *,
    name: str,
    about: str,
    holder: str,
    licence: str,
    version: str,
    frozen: str,
    schemas: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, tuple[int, str]],
) -> bytes:
    """`schemas` are those of the lines, `files` the size and the SHA-256 of each file of lines, both by table.

    A file without lines has no records to describe.
    """
    facts = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "description": about,
        "license": BY_KEY[licence].url,
        "creator": {"@type": "sc:Organization", "name": holder},
        "citeAs": f"{holder}: {name}",
        "version": version,
        "dateCreated": frozen,
        "isLiveDataset": False,
        "distribution": [_file(table, *files[table]) for table in schemas],
        "recordSet": [_records(table, schema) for table, schema in schemas.items() if files[table][0]],
    }
    return json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"


def _file(table: str, size: int, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{table}.jsonl",
        "name": f"{table}.jsonl",
        "contentUrl": f"jsonl/{table}.jsonl",
        "contentSize": f"{size} B",
        "encodingFormat": "application/jsonlines",
        "sha256": digest,
    }


def _records(table: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The texts, numbers and lists of texts that every line has, and the values within an object that are of use."""
    required = schema.get("required", ())
    fields = list(_flat_fields(table, {name: one for name, one in schema["properties"].items() if name in required}))
    fields += [_field(table, name, TEXT, column, path) for name, (column, path) in NESTED.get(table, {}).items()]
    key = {"key": {"@id": f"{table}/{KEYS[table]}"}} if table in KEYS else {}
    return {"@type": "cr:RecordSet", "@id": table, "name": table, **key, "field": fields}


def _flat_fields(table: str, properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, about in properties.items():
        kinds = about.get("type", "string" if "enum" in about else [])
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        is_empty = about.get("maxItems") == 0 or about.get("const") == ""
        if is_empty or "object" in kinds or about.get("items", {}).get("type") == "object":
            continue
        words = about.get("description", "")
        yield _field(table, name, NUMBER if "integer" in kinds else TEXT, name, is_list="array" in kinds, words=words)


def _field(
    table: str, name: str, kind: str, column: str, path: str = "", *, is_list: bool = False, words: str = ""
) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": f"{table}.jsonl"}, "extract": {"column": column}}
    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table}/{name}",
        "name": name,
        **({"description": words} if words else {}),
        "dataType": kind,
        **({"isArray": True, "arrayShape": "-1"} if is_list else {}),
        "source": source | ({"transform": {"jsonPath": path}} if path else {}),
    }
    to = REFERENCES.get(found["@id"])
    return found | ({"references": {"field": {"@id": to}}} if to else {})
