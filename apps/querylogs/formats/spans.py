"""Spans of traces in the forms in which they are exported, and what each tells of a search.

OpenTelemetry as JSON and protobuf, OpenInference as Phoenix exports it, Langfuse's traces and observations. The names
of OpenTelemetry's GenAI conventions, of OpenInference and of Langfuse count in all of them; a value may be JSON.
"""

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_list, read_objects
from apps.common.files.json_tables import first_object, is_json
from apps.common.files.parquet import MAGIC, is_parquet, parquet_names, parquet_records
from apps.common.files.tabular import BLOCK_BYTES, CAPS, TableFile, read_lines

RETRIEVER, RERANKER = "RETRIEVER", "RERANKER"
MOST_PASSAGES, MOST_LETTERS, MOST_DEPTH = 100, 100_000, 6
REQUEST_BYTES = 64_000_000
"""The most of one export request, which is read at once."""
Attributes = Mapping[str, Any]


class Passage(NamedTuple):
    """One result of a search. `id` or `text` is "" where it was not sent; `score` is None where there is none."""

    id: str
    text: str
    score: float | None = None


class Span(NamedTuple):
    """One step of a trace. Times are nanoseconds since 1970, 0 where they are not known; `id` is "" where none is."""

    trace: str
    name: str
    kind: str
    values: Attributes
    start: int = 0
    end: int = 0
    failed: bool = False
    id: str = ""

    @property
    def person(self) -> str:
        return _first_text(self.values, ("user.id", "enduser.id", "langfuse.user.id", "user_id", "userId"))

    @property
    def conversation(self) -> str:
        names = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "session_id", "sessionId")
        return _first_text(self.values, names)


class Retrieval(NamedTuple):
    """What a retriever or a reranker was asked and returned, best first; None where no list of passages was sent.

    `before` is what a reranker was given, where its span says so.
    """

    query: str
    passages: Sequence[Passage] | None
    before: Sequence[Passage] | None = None


def retrieval_of(span: Span) -> Retrieval:
    """What the span of a retriever or a reranker tells."""
    tree = _tree(span.values)
    if span.kind == RERANKER:
        passages = _first_list(tree, ("reranker.output_documents", "gen_ai.rerank.documents", *OUTPUTS))
        query = _first_words(tree, ("reranker.query", *QUERIES))
        return Retrieval(query, passages, _first_list(tree, ("reranker.input_documents",)))
    passages = _first_list(tree, ("retrieval.documents", "gen_ai.retrieval.documents"))
    told = _first_list(tree, OUTPUTS)
    if passages is None:
        passages = told
    elif told and len(told) == len(passages) and not any(one.id for one in passages):
        passages = [one._replace(id=other.id) for one, other in zip(passages, told, strict=True)]
    return Retrieval(_first_words(tree, QUERIES), passages)


QUERIES = (
    "gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "retrieval.query", "input.value",
    "langfuse.observation.input", "gen_ai.input.messages", "input",
)  # fmt: skip
OUTPUTS = ("output.value", "langfuse.observation.output", "output")
_WORDS = (
    "query_str", "query", "question", "search_query", "input", "text", "q", "prompt", "content", "query_bundle",
    "value", "messages", "parts",
)  # fmt: skip
_LISTS = (
    "documents", "results", "hits", "matches", "nodes", "source_nodes", "chunks", "passages", "contexts", "points",
    "output", "data", "value",
)  # fmt: skip
_WITHIN = ("document", "node", "payload", "_source", "chunk", "passage")
_PLAIN = frozenset({"id", "content", "score"})
_IDS = ("id", "doc_id", "document_id", "chunk_id", "id_", "_id", "node_id", "key")
_TEXTS = ("content", "page_content", "text", "body", "chunk_text", "passage_text")
_SCORES = ("score", "relevance_score", "similarity", "_score")


def _tree(values: Attributes) -> dict[str, Any]:
    """The attributes as nested objects: "a.b" and {"a": {"b": …}} are the same."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *outer, last = path.split(".")
        node = tree
        for name in outer:
            inner = node.get(name)
            if type(inner) is not dict:
                inner = node[name] = {}
            node = inner
        if isinstance(value, dict):
            earlier = node.get(last)
            value = {**(earlier if isinstance(earlier, dict) else {}), **_tree(value)}
        node[last] = value
    return tree


def _at(tree: Any, path: str) -> Any:
    for name in path.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _opened(value: Any) -> Any:
    """The value of a text that is JSON; any other value as it is."""
    if isinstance(value, str) and value[:1] in {"{", "[", '"'}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _first_text(values: Attributes, names: Iterable[str]) -> str:
    for name in names:
        if name in values and (value := _plain(values[name])) not in (None, ""):
            return str(value)
    return ""


def _first_words(tree: Attributes, paths: Iterable[str]) -> str:
    return next((words for path in paths if (words := _words(_at(tree, path)))), "")


def _words(value: Any, depth: int = 0) -> str:
    """The words of a search: a text, or what the usual field of an object has; of messages, the last of a person."""
    value = _opened(value)
    if isinstance(value, str):
        return "" if value[:1] in {"{", "["} and value[1:2] in {'"', "{", "["} else " ".join(value.split())
    if depth > MOST_DEPTH:
        return ""
    if isinstance(value, list):
        asked = [one for one in value if not isinstance(one, dict) or one.get("role", "user") in {"user", "human"}]
        return next((words for one in reversed(asked) if (words := _words(one, depth + 1))), "")
    if isinstance(value, dict):
        found = next((words for name in _WORDS if (words := _words(value.get(name), depth + 1))), "")
        return found or (_words(next(iter(value.values())), depth + 1) if len(value) == 1 else "")
    return ""


def _first_list(tree: Attributes, paths: Iterable[str]) -> list[Passage] | None:
    return next((found for path in paths if (found := _listed(_at(tree, path))) is not None), None)


def _listed(value: Any, depth: int = 0) -> list[Passage] | None:
    """The passages of a list, of an object that has one, or whose names are numbers; None for anything else."""
    value = _opened(value)
    if isinstance(value, dict) and value and all(name.isdecimal() for name in value):
        value = [value[name] for name in sorted(value, key=int)]
    if isinstance(value, list):
        return [_passage(one) for one in value[:MOST_PASSAGES] if one is not None]
    if isinstance(value, dict) and depth < MOST_DEPTH:
        return next((found for name in _LISTS if (found := _listed(value.get(name), depth + 1)) is not None), None)
    return None


def passages_in(cell: str) -> list[Passage]:
    """The passages of a cell: a list in JSON, or ids divided by semicolons."""
    found = _listed(cell)
    if found is None:
        return [Passage(one.strip()[:300], "") for one in cell.split(";")[:MOST_PASSAGES] if one.strip()]
    return found


def _passage(value: Any) -> Passage:
    """A result as a text, an object, or an object with its score beside it."""
    known = value.get("document") if isinstance(value, dict) else None
    if isinstance(known, dict) and known.keys() <= _PLAIN and isinstance(text := known.get("content"), str):
        return Passage(str(known.get("id", ""))[:300], text[:MOST_LETTERS], _number(known.get("score")))
    score, value = None, _opened(value)
    if isinstance(value, list) and len(value) == 2:
        value, score = value[0], value[1]
    if isinstance(value, str):
        return Passage(
            "", "" if value.startswith("<") and value.endswith(">") else value[:MOST_LETTERS], _number(score)
        )
    if not isinstance(value, dict):
        return Passage("", "")
    value = _tree(value) if any("." in str(name) for name in value) else value
    inner = next((one for name in _WITHIN if isinstance(one := _opened(value.get(name)), dict)), {})
    metadata = _opened(inner.get("metadata") or value.get("metadata"))
    places = [inner, value, metadata if isinstance(metadata, dict) else {}]
    found = next((str(one[name]) for one in places for name in _IDS if isinstance(one.get(name), str | int)), "")
    text = next((one[name] for one in places[:2] for name in _TEXTS if isinstance(one.get(name), str)), "")
    scores = (_number(one.get(name)) for one in (inner, value) for name in _SCORES)
    return Passage(found[:300], text[:MOST_LETTERS], next((one for one in scores if one is not None), _number(score)))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value == value else None


_ANY = frozenset(f"{kind}{end}" for kind in ("string", "int", "double", "bool") for end in ("Value", "_value"))


def _plain(value: Any) -> Any:
    """A value of OTLP's JSON as it was given; any other value as it is."""
    if type(value) is not dict or len(value) != 1:
        return value
    name = next(iter(value))
    inner = value[name]
    if name in _ANY:
        return inner
    if name in {"arrayValue", "array_value"}:
        return [_plain(one) for one in inner.get("values", ())]
    if name in {"kvlistValue", "kvlist_value"}:
        return {one.get("key", ""): _plain(one.get("value")) for one in inner.get("values", ())}
    return value


_KINDS = ("openinference.span.kind", "langfuse.observation.type", "gen_ai.operation.name")
_OF_OPENINFERENCE = frozenset({RETRIEVER, RERANKER, "LLM", "CHAIN", "EMBEDDING", "TOOL", "AGENT"})
_SAME = {"RETRIEVAL": RETRIEVER, "RETRIEVE": RETRIEVER, "RERANK": RERANKER, "RERANKING": RERANKER}


def _kind(name: str, values: Attributes, told: str = "") -> str:
    """What a span does, in capitals: RETRIEVER, RERANKER, LLM, EMBEDDING and so on; SPAN where nothing says so."""
    for key in _KINDS:
        if key in values:
            told = str(_plain(values[key]))
            break
    kind = told if told in _OF_OPENINFERENCE else _SAME.get(told := told.upper().rpartition(".")[2], told)
    if kind not in _OF_OPENINFERENCE and any(key.startswith("gen_ai.retrieval.") for key in values):
        kind = RETRIEVER
    if kind in {RETRIEVER, "SPAN"} and "rerank" in name.lower():
        kind = RERANKER
    return kind if kind.isidentifier() and len(kind) < 24 else "SPAN"


def are_spans(source: TableFile) -> bool:
    """Whether a file is one of spans. The source is at its beginning, before and after."""
    head = source.head(4_096)
    if _protobuf_start(head) is not None:
        return True
    if is_json(source):
        return bool(_REQUEST.match(head) or _ANSWER.match(head) or _shape(first_object(source)))
    if is_parquet(head[: len(MAGIC)]):
        return _are_columns(parquet_names(source))
    if b"race" not in head.split(b"\n", 1)[0]:
        return False
    try:
        return _are_columns(open_table(source, ErrorList(limit=0)).headings)
    except InputError:
        return False
    finally:
        source.rewind()


def _are_columns(names: Sequence[str]) -> bool:
    known = set(names)
    return "context.trace_id" in known or bool({"traceId", "trace_id"} & known and {"input", "output", "type"} <= known)


_REQUEST = re.compile(rb'\s*\{\s*"(resource_?[sS]pans)"')
_ANSWER = re.compile(rb'\s*\{\s*"data"\s*:\s*\[\s*\{.*"(?:traceId|trace_id|observations)"', re.DOTALL)


def _shape(record: Attributes) -> str:
    if "resourceSpans" in record or "resource_spans" in record:
        return "otlp"
    if "context.trace_id" in record or isinstance(record.get("context"), dict):
        return "openinference"
    if isinstance(record.get("observations"), list) or ({"traceId", "trace_id"} & set(record) and "type" in record):
        return "langfuse"
    return ""


def read_spans(source: TableFile, errors: ErrorList) -> Iterator[Span]:
    """The spans in the order of the file. What cannot be read is added to `errors`."""
    source.caps = CAPS._replace(line_bytes=REQUEST_BYTES)
    start = _protobuf_start(source.head(4_096))
    if start is not None:
        for message in _messages(source, is_divided=start > 0):
            yield from spans_of_protobuf(message, source, errors)
        return
    for record in _records(source, errors):
        yield from spans_of_record(record)


def spans_of_record(record: Attributes) -> Iterator[Span]:
    """The spans that an object of any form has."""
    shape = _shape(record)
    if shape == "otlp":
        yield from spans_of_request(record)
    elif shape == "openinference":
        yield _of_openinference(record)
    else:
        yield from _of_langfuse(record)


def as_record(span: Span) -> dict[str, Any]:
    """The span as the reader of OpenInference has it; of one that is no search only what joins it to its trace."""
    record = {"name": span.name, "context": {"trace_id": span.trace, "span_id": span.id}, "span_kind": span.kind}
    if span.kind not in {RETRIEVER, RERANKER}:
        about = {"user.id": span.person, "session.id": span.conversation}
        return {**record, "attributes": {name: value for name, value in about.items() if value}}
    times = {"start_time": span.start, "end_time": span.end, "status_code": "ERROR" if span.failed else "OK"}
    return {**record, **times, "attributes": dict(span.values)}


def _records(source: TableFile, errors: ErrorList) -> Iterator[Attributes]:
    head = source.head(4_096)
    if is_parquet(head[: len(MAGIC)]):
        yield from (record for _, record in parquet_records(source))
    elif not is_json(source):
        table = open_table(source, errors)
        yield from (dict(zip(table.headings, cells, strict=True)) for _, cells in table.rows)
    elif (found := _REQUEST.match(head)) and not first_object(source):
        name = found[1].decode()
        yield from ({name: [one]} for _, one in read_list(source, errors, field=name))
    elif _ANSWER.match(head):
        yield from (record for _, record in read_list(source, errors, field="data"))
    else:
        yield from (
            _lines(source, errors)
            if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
            else (record for _, record in read_objects(source, errors))
        )


def _lines(source: TableFile, errors: ErrorList) -> Iterator[Attributes]:
    """An object a line. Doubled names do not matter here, and requests are long: so by the library alone."""
    for number, line in read_lines(source):
        try:
            record = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            errors.add(source.error(number, "", "", "this is not JSON"))
            continue
        if isinstance(record, dict):
            yield record


def _field(record: Attributes, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def spans_of_request(request: Attributes) -> Iterator[Span]:
    """The spans of an ExportTraceServiceRequest in JSON."""
    for resource in _field(request, "resourceSpans", "resource_spans") or ():
        for scope in _field(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans") or ():
            for span in scope.get("spans", ()):
                values = {one.get("key", ""): one.get("value") for one in span.get("attributes", ())}
                name, kind = str(span.get("name", "")), ""
                kind = _kind(name, values)
                if kind != RETRIEVER and kind != RERANKER:
                    yield Span(str(span.get("traceId") or span.get("trace_id") or ""), name, kind, values)
                    continue
                values = {key: _plain(value) for key, value in values.items()}
                yield Span(
                    str(_field(span, "traceId", "trace_id") or ""),
                    name,
                    kind,
                    values,
                    _nanoseconds(_field(span, "startTimeUnixNano", "start_time_unix_nano")),
                    _nanoseconds(_field(span, "endTimeUnixNano", "end_time_unix_nano")),
                    str((span.get("status") or {}).get("code", "")) in {"2", "STATUS_CODE_ERROR"},
                    str(_field(span, "spanId", "span_id") or ""),
                )


def _protobuf_start(head: bytes) -> int | None:
    """Where the first request begins: at 0, or at 4 after its length, as the Collector writes; None in other files."""
    for start in (0, 4):
        if head[start : start + 1] == b"\x0a" and (start == 0 or head[0] < 4):
            place = start + 1
            while place < len(head) and head[place] & 0x80:
                place += 1
            if head[place + 1 : place + 2] in {b"\x0a", b"\x12"} and place - start < 6:
                return start
    return None


def _messages(source: TableFile, *, is_divided: bool) -> Iterator[bytes]:
    """The requests of a file: one alone, or each after its length in four bytes."""
    if not is_divided:
        yield b"".join(source.blocks(REQUEST_BYTES))
        return
    waiting = bytearray()
    with closing(source.blocks()) as blocks:
        for block in blocks:
            waiting += block
            while len(waiting) >= 4 and len(waiting) - 4 >= (size := struct.unpack_from(">I", waiting)[0]):
                yield bytes(waiting[4 : 4 + size])
                del waiting[: 4 + size]
            if len(waiting) > REQUEST_BYTES + BLOCK_BYTES:
                raise source.error(None, "", "", f"a request is larger than {REQUEST_BYTES:,} bytes")
    if waiting:
        raise source.error(None, "", "", "the file is cut off")


class NotProtobuf(ValueError):
    """The bytes are no ExportTraceServiceRequest."""


def spans_of_bytes(message: bytes) -> Iterator[Span]:
    """The spans of an ExportTraceServiceRequest in protobuf. Raises NotProtobuf before the first of them."""
    from google.protobuf.message import DecodeError  # most files are JSON
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(message)
    except DecodeError as error:
        raise NotProtobuf("This is no ExportTraceServiceRequest in protobuf.") from error
    return (_of_message(span) for res in request.resource_spans for scope in res.scope_spans for span in scope.spans)


def spans_of_body(body: bytes, *, is_json: bool) -> Iterator[Span]:
    """The spans of an export request. Raises ValueError, with a sentence, for anything else."""
    if not is_json:
        return spans_of_bytes(body)
    try:
        request = json.loads(body)
        return iter(list(spans_of_request(request)))
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise ValueError("This is no ExportTraceServiceRequest in JSON.") from error


def as_response(rejected: int, reason: str) -> bytes:
    """An ExportTraceServiceResponse in protobuf; empty where all spans were taken."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans, answer.partial_success.error_message = rejected, reason
    content: bytes = answer.SerializeToString()
    return content


def spans_of_protobuf(message: bytes, source: TableFile, errors: ErrorList) -> Iterator[Span]:
    """The same of a file, where what cannot be read is counted."""
    try:
        yield from spans_of_bytes(message)
    except NotProtobuf as error:
        errors.add(source.error(None, "", "", str(error)))


def _of_message(span: Any) -> Span:
    values = {one.key: _of_any(one.value) for one in span.attributes}
    kind = _kind(span.name, values)
    times = (span.start_time_unix_nano, span.end_time_unix_nano)
    return Span(span.trace_id.hex(), span.name, kind, values, *times, span.status.code == 2, span.span_id.hex())


def _of_any(value: Any) -> Any:
    name = value.WhichOneof("value")
    if name == "array_value":
        return [_of_any(one) for one in value.array_value.values]
    if name == "kvlist_value":
        return {one.key: _of_any(one.value) for one in value.kvlist_value.values}
    return getattr(value, name) if name and name != "bytes_value" else None


def _of_openinference(record: Attributes) -> Span:
    context = record.get("context")
    context = context if isinstance(context, dict) else {}
    given = _opened(record.get("attributes"))
    values = dict(given) if isinstance(given, dict) else {}
    prefix = "attributes."
    values |= {key.removeprefix(prefix): value for key, value in record.items() if key.startswith(prefix)}
    values = {key: value for key, value in values.items() if value not in (None, "")}
    status = record.get("status")
    code = record.get("status_code") or (status.get("status_code") if isinstance(status, dict) else "")
    name, tree = str(record.get("name", "")), _tree(values)
    told = _at(tree, "openinference.span.kind") or record.get("span_kind") or ""
    flat = {key: value for key in (*NAMES_OF_PEOPLE, *_KINDS[1:]) if (value := _at(tree, key)) not in (None, "")}
    return Span(
        str(record.get("context.trace_id") or context.get("trace_id") or ""),
        name,
        _kind(name, flat | values, str(told)),
        flat | values,
        _nanoseconds(record.get("start_time")),
        _nanoseconds(record.get("end_time")),
        str(code).upper() in {"ERROR", "STATUS_CODE_ERROR"},
        str(record.get("context.span_id") or context.get("span_id") or ""),
    )


NAMES_OF_PEOPLE = ("user.id", "enduser.id", "session.id", "gen_ai.conversation.id")


def _of_langfuse(record: Attributes) -> Iterator[Span]:
    """A trace with its observations, or one of either."""
    inner = record.get("observations")
    if not (trace := str(_field(record, "traceId", "trace_id") or "")):
        trace = str(record.get("id", ""))
        yield Span(trace, str(record.get("name") or ""), "TRACE", record)
    else:
        yield _of_observation(record, trace)
    for one in inner if isinstance(inner, list) else ():
        if isinstance(one, dict):  # an export without its observations names them by id
            yield _of_observation(one, str(_field(one, "traceId", "trace_id") or trace))


def _of_observation(record: Attributes, trace: str) -> Span:
    metadata = _opened(record.get("metadata"))
    attributes = _opened(metadata.get("attributes")) if isinstance(metadata, dict) else None
    values = dict(attributes) if isinstance(attributes, dict) else {}
    values |= {name: value for name in _KEPT if (value := record.get(name)) not in (None, "")}
    name = str(record.get("name") or "")
    return Span(
        trace,
        name,
        _kind(name, values, str(record.get("type") or "")),
        values,
        _nanoseconds(_field(record, "startTime", "start_time", "timestamp")),
        _nanoseconds(_field(record, "endTime", "end_time")),
        str(record.get("level", "")).upper() == "ERROR",
        str(record.get("id") or ""),
    )


_KEPT = ("input", "output", "userId", "user_id", "sessionId", "session_id")


def _nanoseconds(value: Any) -> int:
    """A time since 1970 in any usual form; 0 for none."""
    if isinstance(value, datetime):
        return int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1_000_000) * 1_000
    if isinstance(value, str) and not value.isdecimal():
        try:
            return _nanoseconds(datetime.fromisoformat(value.removesuffix(" UTC")))
        except (ValueError, OverflowError):
            return 0
    try:
        number = int(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0
    for factor in (1, 1_000, 1_000_000, 1_000_000_000):  # nanoseconds, or a larger unit
        if number * factor > 10**17:
            return number * factor if number * factor < 10**19 else 0
    return 0
