"""The triples as YAML, as their import and `karat export triples` have it."""

from __future__ import annotations

from collections.abc import Iterator

from apps.goldsets.formats.content import Content, in_order
from apps.goldsets.formats.jsonl import triple_entry
from apps.triples.formats import yaml


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    triples = in_order(content.triples(), lambda r: (r.triple_id,))
    yield "yaml/triples.yaml", yaml.write(map(triple_entry, triples))
