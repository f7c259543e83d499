"""Readers of the queries of test collections: TREC topics, and SMART queries in the record form of the corpus reader.

TREC topics are `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`, closed by `</top>`. Inner tags may stay open, as in
most collections. The title is the query's text, the description its description, and the narrative, which defines what
is relevant, its intent. The file is not XML: characters are not unescaped.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.corpus.formats.smart import joined, one_line, read_records
from apps.queries.formats.records import QueryRow, rows_from

_TAG = re.compile(r"\s*<(/?)(top|num|title|desc|narr)>", re.IGNORECASE)
_HEAD = {
    "num": re.compile(r"\A\s*Number:\s*", re.IGNORECASE),
    "title": re.compile(r"\A\s*Topic:\s*", re.IGNORECASE),
    "desc": re.compile(r"\A\s*Description:\s*", re.IGNORECASE),
    "narr": re.compile(r"\A\s*Narrative:\s*", re.IGNORECASE),
}


class Topic(NamedTuple):
    line: int
    parts: dict[str, list[str]]


def read_topics(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, _records(source, errors), _topic_row, id_field="num")


def _records(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    for topic in _topics(source, errors):
        texts = {name: _text_of(name, lines) for name, lines in topic.parts.items()}
        yield topic.line, texts


def _topics(source: TableFile, errors: ErrorList) -> Iterator[Topic]:
    topic: Topic | None = None
    part: list[str] | None = None
    for number, line in read_lines(source):
        rest = line
        while tag := _TAG.match(rest):
            closing, name, rest = bool(tag.group(1)), tag.group(2).lower(), rest[tag.end() :]
            if name == "top" and not closing:
                if topic:
                    errors.add(source.error(topic.line, "top", "", "the topic is not closed by </top>"))
                topic, part = Topic(number, {}), None
            elif topic is None:
                raise source.error(number, name, line, "the tag is outside a <top>")
            elif name == "top":
                yield topic
                topic = part = None
            elif closing:
                part = None
            elif name in topic.parts:
                errors.add(source.error(number, name, line, f"<{name}> appears twice in one topic"))
            else:
                part = topic.parts.setdefault(name, [])
        if part is not None:
            part.append(re.sub(r"</(num|title|desc|narr)>\s*$", "", rest, flags=re.IGNORECASE))
        elif rest.strip():
            errors.add(source.error(number, "", rest, "text outside the fields of a topic"))
    if topic:
        raise source.error(topic.line, "top", "", "the topic is not closed by </top>")


def _text_of(name: str, lines: list[str]) -> str:
    text = _HEAD[name].sub("", "\n".join(lines), count=1) if lines else ""
    return " ".join(text.split())


def _topic_row(fields: Fields) -> QueryRow:
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("num"),
        text=fields.text("title", required=True),
        description=fields.text("desc") or None,
        intent=fields.text("narr") or None,
    )


def read_smart_queries(source: TableFile, errors: ErrorList, *, ids: str) -> Iterator[QueryRow]:
    """`.I id`, then `.W text`. `ids` is "file", or "position" with the file's number in `metadata.file_id`."""
    records = (
        (
            record.line,
            {
                "id": record.record_id,
                "text": one_line(record.fields.get("text", [])),
                "description": joined(record.fields.get("title", [])),
                "file_id": record.file_id,
            },
        )
        for record in read_records(source, errors, ids=ids)
    )
    return rows_from(source, errors, records, _smart_row, id_field="id")


def _smart_row(fields: Fields) -> QueryRow:
    query_id, file_id = fields.outside_id("id"), fields.text("file_id")
    return QueryRow(
        line=fields.line,
        query_id=query_id,
        text=fields.text("text", required=True),
        description=fields.text("description") or None,
        metadata=None if file_id == query_id else {"file_id": file_id},
    )
