"""Spans of traces in the forms in which they are exported.

OpenTelemetry as JSON and protobuf, OpenInference as Phoenix exports it, Langfuse's traces and observations. The names
of OpenTelemetry's GenAI conventions, of OpenInference and of Langfuse count in all of them; a value may be JSON.
"""

import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_list, read_objects
from apps.common.files.json_tables import first_object, is_json
from apps.common.files.parquet import MAGIC, is_parquet, parquet_names, parquet_records
from apps.common.files.tabular import BLOCK_BYTES, CAPS, TableFile

RETRIEVER, RERANKER = "RETRIEVER", "RERANKER"
REQUEST_BYTES = 64_000_000
"""The most of one export request, which is read at once."""
PEOPLE = ("user.id", "enduser.id", "langfuse.user.id", "user_id", "userId")
CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "session_id", "sessionId")
Attributes = Mapping[str, Any]


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
        return _first_text(self.values, PEOPLE)

    @property
    def conversation(self) -> str:
        return _first_text(self.values, CONVERSATIONS)


def tree_of(values: Attributes) -> dict[str, Any]:
    """The attributes as nested objects: "a.b" and {"a": {"b": …}} are the same."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        outer, last = _steps(path)
        node = tree
        for name in outer:
            if type(inner := node.get(name)) is not dict:
                inner = node[name] = {}
            node = inner
        if isinstance(value, dict):
            earlier = node.get(last)
            value = {**(earlier if isinstance(earlier, dict) else {}), **tree_of(value)}
        node[last] = value
    return tree


@lru_cache(maxsize=10_000)
def _steps(path: str) -> tuple[Sequence[str], str]:
    *outer, last = path.split(".")
    return outer, last


def value_at(tree: Any, path: str) -> Any:
    outer, last = _steps(path)
    for name in (*outer, last):
        if not isinstance(tree, dict):
            return None
        tree = tree.get(name)
    return tree


def opened(value: Any) -> Any:
    """The value of a text that is JSON; any other value as it is."""
    if isinstance(value, str) and value[:1] in {"{", "[", '"'}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _first_text(values: Attributes, names: Iterable[str]) -> str:
    for value in filter(None, map(values.get, names)):
        if (text := _plain(value)) not in (None, ""):
            return str(text)
    return ""


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


_TRACES = ("traceId", "trace_id", "context.trace_id")
_OWN = ("spanId", "span_id", "context.span_id")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "timestamp")
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")
_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_FAILED = frozenset({"2", "ERROR", "STATUS_CODE_ERROR"})


def _field(record: Attributes, names: Iterable[str]) -> Any:
    for name in names:
        if (value := record.get(name)) is not None:
            return value
    return None


def _span(record: Attributes, values: Attributes, told: str = "", trace: str = "", own: Any = "") -> Span:
    """The span that a record of any form is. Of one that is no search only what joins it to its trace is made."""
    name = str(record.get("name") or "")
    kind = _kind(name, values, told)
    trace = str(_field(record, _TRACES) or trace)
    if kind != RETRIEVER and kind != RERANKER:
        return Span(trace, name, kind, values)
    status = record.get("status")
    inner = status if isinstance(status, dict) else {}
    codes = (inner.get("code"), inner.get("status_code"), record.get("status_code"), record.get("level"))
    start, end = (_nanoseconds(_field(record, names)) for names in (_STARTS, _ENDS))
    failed = any(str(code).upper() in _FAILED for code in codes)
    own = str(_field(record, _OWN) or own or "")
    return Span(trace, name, kind, {key: _plain(value) for key, value in values.items()}, start, end, failed, own)


def are_spans(source: TableFile) -> bool:
    """Whether a file is one of spans. The source is at its beginning, before and after."""
    head = source.head(4_096)
    if _protobuf_start(head) is not None:
        return True
    if is_json(source):
        return bool(_REQUEST.match(head) or _ANSWER.match(head) or _reader(first_object(source)))
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


def _reader(record: Attributes) -> Callable[[Attributes], Iterable[Span]] | None:
    """What reads a record of this form; None where it is none of spans."""
    if any(name in record for name in _RESOURCES):
        return spans_of_request
    context = record.get("context")
    if "context.trace_id" in record or (isinstance(context, dict) and "trace_id" in context):
        return _of_openinference
    if isinstance(record.get("observations"), list) or (
        {"traceId", "trace_id"} & set(record) and str(record.get("type")).isupper()
    ):
        return _of_langfuse
    return None


def read_spans(source: TableFile, errors: ErrorList) -> Iterator[Span]:
    """The spans in the order of the file. What cannot be read is added to `errors`."""
    source.caps = CAPS._replace(line_bytes=REQUEST_BYTES)
    start = _protobuf_start(source.head(4_096))
    messages = _messages(source, is_divided=start == 4)
    parts = map(spans_of_record, _records(source, errors)) if start is None else map(spans_of_bytes, messages)
    for number, spans in enumerate(parts, start=1):  # with `map` no request is kept while the next is read
        try:
            yield from spans
        except (ValueError, TypeError, AttributeError):
            errors.add(source.error(number, "", "", "these are no spans"))


def spans_of_record(record: Attributes) -> Iterator[Span]:
    """The spans that an object of any form has."""
    yield from (_reader(record) or _of_langfuse)(record)


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
    rows: Iterable[tuple[int, Attributes]]
    if is_parquet(head[: len(MAGIC)]):
        rows = parquet_records(source)
    elif not is_json(source):
        table = open_table(source, errors)
        rows = ((line, dict(zip(table.headings, cells, strict=True))) for line, cells in table.rows)
    elif (found := _REQUEST.match(head)) and not first_object(source):
        name = found[1].decode()
        rows = ((number, {name: [one]}) for number, one in read_list(source, errors, field=name))
    elif _ANSWER.match(head):
        rows = read_list(source, errors, field="data")
    elif head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        rows = _lines(source, errors)
    else:
        rows = read_objects(source, errors)
    return map(itemgetter(1), rows)


def _lines(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, Attributes]]:
    """An object a line. Doubled names do not matter here, and requests are long: so by the library alone."""
    number = 0
    while line := source.read_line(number := number + 1):
        try:
            if not line.isspace():
                yield number, json.loads(line)
        except (ValueError, RecursionError):
            errors.add(source.error(number, "", "", "this is not JSON"))


_KEY_AND_VALUE = itemgetter("key", "value")


def _attributes(listed: Sequence[Attributes]) -> Attributes:
    """Those of a span in OTLP's JSON, each value as it is written there."""
    try:
        return dict(map(_KEY_AND_VALUE, listed))
    except KeyError:
        return {one.get("key", ""): one.get("value") for one in listed}


def spans_of_request(request: Attributes) -> Iterator[Span]:
    """The spans of an ExportTraceServiceRequest in JSON."""
    for resource in _field(request, _RESOURCES) or ():
        for scope in _field(resource, _SCOPES) or ():
            for span in scope.get("spans", ()):
                yield _span(span, _attributes(span.get("attributes", ())))


_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def _protobuf_start(head: bytes) -> int | None:
    """Where the first request begins: at 0, or at 4 after its length, as the Collector writes; None in other files."""
    if not _NO_TEXT.search(head):  # a list may begin with empty lines
        return None
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


def spans_of_bytes(message: bytes) -> Iterator[Span]:
    """The spans of an ExportTraceServiceRequest in protobuf. Raises ValueError in the place of the first of them."""
    from google.protobuf.message import DecodeError  # most files are JSON
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(message)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from map(_of_message, scope.spans)


def spans_of_body(body: bytes, *, is_json: bool) -> Iterator[Span]:
    """The spans of an export request. Raises ValueError, with a sentence, for anything else, in place of a span."""
    try:
        yield from spans_of_request(json.loads(body)) if is_json else spans_of_bytes(body)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise ValueError(f"This is no ExportTraceServiceRequest in {'JSON' if is_json else 'protobuf'}.") from error


def as_response(rejected: int, reason: str) -> bytes:
    """An ExportTraceServiceResponse in protobuf; empty where all spans were taken."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans, answer.partial_success.error_message = rejected, reason
    content: bytes = answer.SerializeToString()
    return content


def _of_message(span: Any) -> Span:
    values = {one.key: _of_any(one.value) for one in span.attributes}
    times = (span.start_time_unix_nano, span.end_time_unix_nano)
    kind = _kind(span.name, values)
    return Span(span.trace_id.hex(), span.name, kind, values, *times, span.status.code == 2, span.span_id.hex())


def _of_any(value: Any) -> Any:
    name = value.WhichOneof("value")
    if name == "array_value":
        return [_of_any(one) for one in value.array_value.values]
    if name == "kvlist_value":
        return {one.key: _of_any(one.value) for one in value.kvlist_value.values}
    return getattr(value, name) if name and name != "bytes_value" else None


_ABOUT = (*_KINDS, *PEOPLE, *CONVERSATIONS)
_ROOTS = frozenset(name.partition(".")[0] for name in _ABOUT)


def _of_openinference(record: Attributes) -> Iterator[Span]:
    context, given = record.get("context"), opened(record.get("attributes"))
    values = dict(given) if isinstance(given, dict) else {}
    values |= {key[len("attributes.") :]: value for key, value in record.items() if key.startswith("attributes.")}
    values = {key: value for key, value in values.items() if value not in (None, "")}
    tree = tree_of({key: value for key, value in values.items() if key.partition(".")[0] in _ROOTS})
    values |= {key: value for key in _ABOUT if (value := value_at(tree, key)) not in (None, "")}
    trace, own = (context.get(name, "") if isinstance(context, dict) else "" for name in ("trace_id", "span_id"))
    yield _span(record, values, str(record.get("span_kind") or ""), trace, own)


def _of_langfuse(record: Attributes) -> Iterator[Span]:
    """A trace with its observations, or one of either."""
    inner = record.get("observations")
    if trace := str(_field(record, _TRACES) or ""):
        yield _of_observation(record, trace)
    else:
        trace = str(record.get("id", ""))
        yield Span(trace, str(record.get("name") or ""), "TRACE", record)
    for one in inner if isinstance(inner, list) else ():
        if isinstance(one, dict):  # an export without its observations names them by id
            yield _of_observation(one, trace)


def _of_observation(record: Attributes, trace: str) -> Span:
    metadata = opened(record.get("metadata"))
    attributes = opened(metadata.get("attributes")) if isinstance(metadata, dict) else None
    values = dict(attributes) if isinstance(attributes, dict) else {}
    values |= {name: value for name in _KEPT if (value := record.get(name)) not in (None, "")}
    return _span(record, values, str(record.get("type") or ""), trace, record.get("id"))


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
