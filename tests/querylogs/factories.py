"""Search logs for tests: rows as people search, and logs drawn from them by the real import."""

import base64
import csv
import gzip
import io
import json
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pyarrow
import pyarrow.parquet as parquet
from django.core.files.uploadedfile import SimpleUploadedFile
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from apps.accounts.models import Project
from apps.corpus.actions import imports
from apps.corpus.models import Import
from apps.querylogs.models import QueryLog
from tests.factories import AT, lead_of

HEADINGS = ("q", "uid", "ts", "hits", "clicked", "ip")
OPTIONS = {
    "name": "Search log, August",
    "source": "",
    "people": 5,
    "wanted": 20,
    "plan": "balanced",
    "seed": 7,
    "first_row": "",
}
TERMS = ("key", "archive", "invoice", "badge", "laptop", "policy", "visitor", "password", "backup", "contract")
VERBS = ("rotate", "open", "reset", "return", "find", "change", "lose", "renew")
START = datetime(2026, 8, 4, 9)


def searches(number: int, *, seed: int = 1, people: int = 40) -> list[list[str]]:
    """Rows of a log: few queries often and many seldom; one query in eight finds nothing."""
    chance = random.Random(seed)
    asked = [f"{verb} {term}" for term in TERMS for verb in VERBS]
    shares = [1 / (place + 1) for place in range(len(asked))]
    rows = []
    for place, query in enumerate(chance.choices(asked, shares, k=number)):
        hits = 0 if asked.index(query) % 8 == 3 else chance.randint(1, 40)
        at = START + timedelta(minutes=place)
        person = f"u{chance.randrange(people)}"
        rows.append([query, person, at.isoformat(), str(hits), "", f"10.0.0.{chance.randrange(250)}"])
    return rows


def as_csv(rows: Iterable[Sequence[str]], headings: Sequence[str] = HEADINGS) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([headings, *rows])
    return out.getvalue().encode()


def upload(project: Project, content: bytes, *, name: str = "searches.csv", kind: str = "log", **options) -> Import:
    return imports.start_import(
        project=project,
        kind=kind,
        file=SimpleUploadedFile(name, content),
        options=OPTIONS | options,
        actor=lead_of(project),
        at=AT,
    )


def draw(item: Import) -> QueryLog:
    applied = imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    assert not applied.failure, applied.failure
    return QueryLog.objects.filter(project=item.project, created_at=applied.applied_at).latest("pk")


def make_log(project: Project, *, rows: int = 900, **options) -> QueryLog:
    return draw(upload(project, as_csv(searches(rows)), **options))


class Searched:
    """One search of a system in a trace, which every form of spans can tell."""

    def __init__(self, query: str, passages, *, person="", conversation="", trace="", at=START, reranked=None):
        self.query, self.passages, self.reranked = query, passages, reranked
        self.person, self.conversation, self.at = person, conversation, at
        self.trace = trace or f"{abs(hash((query, person, at))):032x}"

    @property
    def start(self) -> int:
        return int(self.at.replace(tzinfo=UTC).timestamp()) * 10**9

    def documents(self, passages) -> list[dict]:
        return [
            {"document.id": name, "document.content": text, "document.score": 1 / (rank + 1)}
            for rank, (name, text) in enumerate(passages)
        ]

    def spans(self) -> list[dict]:
        """As OpenInference names it: a root that knows the person, the retriever, the reranker, a language model."""
        kind = "openinference.span.kind"
        found = [
            {"name": "ask", kind: "CHAIN", "user.id": self.person, "session.id": self.conversation},
            {
                "name": "assist-search",
                kind: "RETRIEVER",
                "input.value": self.query,
                "retrieval.documents": self.documents(self.passages),
            },
            {"name": "answer", kind: "LLM", "input.value": self.query},
        ]
        if self.reranked is not None:
            given = {"reranker.query": self.query, "reranker.output_documents": self.documents(self.reranked)}
            found.append({"name": "assist-rerank", kind: "RERANKER", **given})
        return [{name: value for name, value in span.items() if value not in ("", None)} for span in found]


def _numbered(values: dict) -> dict:
    """The attributes as a span has them: a key for each field of each document."""
    flat = {}
    for name, value in values.items():
        if isinstance(value, list):
            flat |= {f"{name}.{place}.{key}": one for place, item in enumerate(value) for key, one in item.items()}
        else:
            flat[name] = value
    return flat


def _any(value) -> dict:
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def otlp_request(searched: Iterable[Searched]) -> dict:
    """An ExportTraceServiceRequest in JSON."""
    spans = []
    for one in searched:
        for place, values in enumerate(one.spans()):
            name = values.pop("name")
            spans.append(
                {
                    "traceId": one.trace,
                    "spanId": f"{place:016x}",
                    "name": name,
                    "startTimeUnixNano": str(one.start + place),
                    "endTimeUnixNano": str(one.start + place + 84_000_000),
                    "attributes": [{"key": key, "value": _any(value)} for key, value in _numbered(values).items()],
                    "status": {"code": 1},
                }
            )
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "tests"}, "spans": spans}]}]}


def otlp_json(searched: Iterable[Searched]) -> bytes:
    return json.dumps(otlp_request(searched)).encode()


def otlp_lines(searched: Sequence[Searched]) -> bytes:
    return b"\n".join(otlp_json([one]) for one in searched)


def otlp_protobuf(searched: Iterable[Searched]) -> bytes:
    request = otlp_request(searched)
    for resource in request["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            for name in ("traceId", "spanId"):  # bytes are base64 in the JSON of protobuf, and hexadecimal in OTLP's
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return ParseDict(request, ExportTraceServiceRequest()).SerializeToString()


def otlp_divided(searched: Sequence[Searched]) -> bytes:
    """As the file exporter of the Collector writes it: each request after its length."""
    parts = [otlp_protobuf([one]) for one in searched]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def phoenix_records(searched: Iterable[Searched]) -> list[dict]:
    """As the table of spans of Phoenix has them."""
    records = []
    for one in searched:
        for place, values in enumerate(one.spans()):
            records.append(
                {
                    "name": values.pop("name"),
                    "span_kind": values.pop("openinference.span.kind"),
                    "start_time": datetime.fromtimestamp(one.start / 1e9, UTC).isoformat(),
                    "end_time": datetime.fromtimestamp(one.start / 1e9 + 0.084, UTC).isoformat(),
                    "status_code": "OK",
                    "context.trace_id": one.trace,
                    "context.span_id": f"{place:016x}",
                    **{f"attributes.{name}": value for name, value in values.items()},
                }
            )
    return records


def phoenix_lines(searched: Iterable[Searched]) -> bytes:
    return "\n".join(map(json.dumps, phoenix_records(searched))).encode()


def phoenix_parquet(searched: Iterable[Searched]) -> bytes:
    records, out = phoenix_records(searched), io.BytesIO()
    names = list(dict.fromkeys(name for record in records for name in record))
    table = pyarrow.table({name: [record.get(name) for record in records] for name in names})
    parquet.write_table(table, out)
    return out.getvalue()


def langfuse_records(searched: Iterable[Searched]) -> list[dict]:
    """Traces with their observations, as Langfuse exports them."""
    records = []
    for one in searched:
        at = datetime.fromtimestamp(one.start / 1e9, UTC)
        steps = [("assist-search", "RETRIEVER", one.passages), ("answer", "GENERATION", None)]
        steps += [("assist-rerank", "SPAN", one.reranked)] if one.reranked is not None else []
        observations = [
            {
                "id": f"{one.trace}{place}",
                "traceId": one.trace,
                "type": kind,
                "name": name,
                "startTime": at.isoformat(),
                "endTime": (at + timedelta(milliseconds=84)).isoformat(),
                "input": {"query": one.query},
                "output": None
                if passages is None
                else [{"page_content": text, "metadata": {}, "id": known} for known, text in passages],
            }
            for place, (name, kind, passages) in enumerate(steps)
        ]
        records.append(
            {
                "id": one.trace,
                "timestamp": at.isoformat(),
                "userId": one.person or None,
                "sessionId": one.conversation or None,
                "observations": observations,
            }
        )
    return records


def langfuse_json(searched: Iterable[Searched]) -> bytes:
    return json.dumps(langfuse_records(searched)).encode()


def langfuse_lines(searched: Iterable[Searched]) -> bytes:
    """Traces and observations one a line, an observation naming its trace."""
    lines = []
    for record in langfuse_records(searched):
        lines += [{**record, "observations": [one["id"] for one in record["observations"]]}, *record["observations"]]
    return "\n".join(map(json.dumps, lines)).encode()


def langfuse_csv(searched: Iterable[Searched]) -> bytes:
    """A table of observations that have their person and conversation themselves."""
    out, rows = io.StringIO(), list[dict]()
    for record in langfuse_records(searched):
        for one in record["observations"]:
            cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in one.items()}
            rows.append(cells | {"userId": record["userId"] or "", "sessionId": record["sessionId"] or ""})
    write = csv.DictWriter(out, list(rows[0]))
    write.writeheader()
    write.writerows(rows)
    return out.getvalue().encode()


FORMS = {
    "otlp.json": otlp_json,
    "otlp.jsonl": otlp_lines,
    "otlp.pb": otlp_protobuf,
    "collector.pb": otlp_divided,
    "phoenix.jsonl": phoenix_lines,
    "phoenix.parquet": phoenix_parquet,
    "langfuse.json": langfuse_json,
    "langfuse.jsonl": langfuse_lines,
    "langfuse.csv": langfuse_csv,
    "otlp.json.gz": lambda searched: gzip.compress(otlp_json(searched)),
}
"""The forms in which traces are exported, by the name of a file."""
