"""Markdown as it was written. Front matter becomes the document's title and metadata and leaves the text."""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import yaml

from apps.corpus.core.documents import Document
from apps.corpus.core.outline import first_title
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.texts import text_of

FRONT_MATTER_BYTES = 20_000
FIELDS = 50
NESTING = 8
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def read_markdown(file: SourceFile) -> Iterator[Document]:
    """The file as one document. Front matter that is not YAML, or too large, stays part of the text."""
    decoded = text_of(file)
    fields, text = front_matter(decoded.text)
    title = fields.pop("title", "")
    if not isinstance(title, str) or not title.strip():
        title = first_title(text)
    yield Document(file.path, "markdown", " ".join(title.split()), text, fields, note=decoded.note)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """(fields, the text after them). Fields are plain JSON; dates are written as ISO writes them."""
    found = _FRONT_MATTER.match(text)
    if found is None or len(found["yaml"]) > FRONT_MATTER_BYTES:
        return {}, text
    try:
        values = yaml.load(found["yaml"], Loader=_PlainLoader)
        fields = _plain(values)
        json.dumps(fields, allow_nan=False, ensure_ascii=False).encode()
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    if not isinstance(fields, dict) or len(fields) > FIELDS:
        return {}, text
    return fields, text[found.end() :]


class _PlainLoader(yaml.SafeLoader):
    """Without aliases: nested ones grow without bounds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def _plain(value: Any, depth: int = 0) -> Any:
    """The value as plain JSON. Raises ValueError when it is nested too deeply."""
    if depth > NESTING:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.replace("\0", "")
    return value
