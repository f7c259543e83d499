"""A strict double of OpenSearch and Elasticsearch for tests: it takes what their documentation describes, no more.

Whatever a real server would have to guess or repair is noted in `wrong`, which tests find empty in the end. Failures
are planned with `fail`, `busy` and `refused`. A passage is counted and found after a refresh, and read by its id
at once.
"""

import json
import re
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from django.test import override_settings

from apps.common.web.addresses import parse_openings

TOLD = "a word that only the cluster knows"
TYPES = {"opensearch": {"text", "keyword", "knn_vector"}, "elasticsearch": {"text", "keyword", "dense_vector"}}
SEARCH_KEYS = {
    "opensearch": {"query", "size", "_source", "search_pipeline"},
    "elasticsearch": {"query", "size", "_source", "knn"},
}
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,254}")


@dataclass
class Failure:
    """`is_silent`: nothing comes until the other side has gone; with `is_done` the request takes effect before that."""

    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    is_silent: bool = False
    is_done: bool = False


@dataclass
class Index:
    mappings: dict[str, Any]
    settings: dict[str, Any]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    visible: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Cluster:
    kind: str = "opensearch"
    version: str = "3.1.0"
    most_bytes: int = 10_000_000
    port: int = 0
    password: str = ""
    indexes: dict[str, Index] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    bulk_ids: list[list[str]] = field(default_factory=list)
    busy: Counter[str] = field(default_factory=Counter)
    refused: set[str] = field(default_factory=set)
    failures: dict[str, deque[Failure]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def fail(self, ending: str, *failures: Failure) -> None:
        """Let the next requests whose path ends so fail, one failure each."""
        self.failures.setdefault(ending, deque()).extend(failures)

    def next_failure(self, path: str) -> Failure | None:
        for ending, failures in self.failures.items():
            if path.endswith(ending) and failures:
                return failures.popleft()
        return None


class Refused(Exception):
    def __init__(self, status: int, kind: str) -> None:
        self.status, self.kind = status, kind


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the end of an answer waits for nobody
    server: "Server"

    @property
    def cluster(self) -> Cluster:
        return self.server.cluster

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.serve()

    do_POST = do_PUT = do_DELETE = do_GET

    def serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, self.options = self.path.partition("?")
        with self.cluster.lock:
            self.cluster.asked.append(f"{self.command} {path}")
            failure = self.cluster.next_failure(path)
            if failure is None or failure.is_done:
                status, answer = self.outcome(path, body)
        if failure is None:
            return self.answer(status, answer)
        if failure.is_silent:
            self.close_connection = True
            self.connection.recv(1)
            return None
        return self.answer(failure.status, self.error("es_rejected_execution_exception", failure.status), failure)

    def outcome(self, path: str, body: bytes) -> tuple[int, Any]:
        try:
            return 200, self.routed(path, body)
        except Refused as refused:
            return refused.status, self.error(refused.kind, refused.status)

    def error(self, kind: str, status: int) -> dict[str, Any]:
        reason = {"type": kind, "reason": TOLD}
        return {"error": {"root_cause": [reason], **reason}, "status": status}

    def answer(self, status: int, value: Any, failure: Failure | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, header in (failure.headers if failure else {}).items():
            self.send_header(name, header)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def require(self, is_right: bool, wrong: str, status: int = 400, kind: str = "illegal_argument_exception") -> None:
        if not is_right:
            self.cluster.wrong.append(f"{self.command} {self.path}: {wrong}")
            raise Refused(status, kind)

    def routed(self, path: str, body: bytes) -> Any:
        if self.cluster.password and self.headers.get("Authorization") != f"ApiKey {self.cluster.password}":
            raise Refused(401, "security_exception")
        if len(body) > self.cluster.most_bytes:
            raise Refused(413, "content_too_long_exception")
        if (self.command, path) == ("GET", "/"):
            return self.about()
        name, _, rest = path.strip("/").partition("/")
        self.require(NAME.fullmatch(name) is not None, "not the name of one index", 400, "invalid_index_name_exception")
        routes = {
            ("PUT", ""): self.create, ("DELETE", ""): self.delete, ("GET", "_mapping"): self.mapping,
            ("POST", "_bulk"): self.bulk, ("POST", "_refresh"): self.refresh, ("GET", "_count"): self.count,
            ("POST", "_mget"): self.several, ("POST", "_search"): self.search,
        }  # fmt: skip
        self.require((self.command, rest) in routes, "no such path", 405, "method_not_allowed")
        return routes[self.command, rest](name, body)

    def about(self) -> dict[str, Any]:
        told: dict[str, Any] = {"number": self.cluster.version, "lucene_version": "9.12.1"}
        if self.cluster.kind == "opensearch":
            told["distribution"] = "opensearch"
            return {"name": "one", "version": told, "tagline": "The OpenSearch Project: https://opensearch.org/"}
        return {"name": "one", "version": {**told, "build_flavor": "default"}, "tagline": "You Know, for Search"}

    def index(self, name: str) -> Index:
        name = self.cluster.aliases.get(name, name)
        if name not in self.cluster.indexes:
            raise Refused(404, "index_not_found_exception")
        return self.cluster.indexes[name]

    def as_json(self, body: bytes) -> Any:
        self.require(self.headers.get("Content-Type") == "application/json", "not sent as JSON", 406)
        return json.loads(body)

    def create(self, name: str, body: bytes) -> dict[str, Any]:
        asked = self.as_json(body)
        self.require(set(asked) <= {"settings", "mappings", "aliases"}, "unknown keys of an index")
        if name in self.cluster.indexes or name in self.cluster.aliases:
            raise Refused(400, "resource_already_exists_exception")
        settings = asked.get("settings", {}).get("index", {})
        for field_name, described in asked["mappings"]["properties"].items():
            self.check_field(field_name, described, settings)
        self.cluster.indexes[name] = Index(asked["mappings"], settings)
        return {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def check_field(self, name: str, described: dict[str, Any], settings: dict[str, Any]) -> None:
        kind = described["type"]
        self.require(kind in TYPES[self.cluster.kind], f"no type {kind}", kind="mapper_parsing_exception")
        if kind == "knn_vector":
            self.require(settings.get("knn") is True, "a vector in an index without index.knn")
            self.require(set(described) <= {"type", "dimension", "method", "space_type"}, f"parameters of {name}")
            self.require(described["method"]["engine"] in {"lucene", "faiss"}, "an engine that is gone")
        if kind == "dense_vector":
            self.require(set(described) <= {"type", "dims", "index", "similarity"}, f"parameters of {name}")
            self.require(described.get("index") is True and "similarity" in described, "a vector kNN cannot search")

    def mapping(self, name: str, body: bytes) -> dict[str, Any]:
        """As servers do, with defaults that nobody asked for."""
        index = self.index(name)
        mappings = json.loads(json.dumps(index.mappings))
        vector = mappings["properties"].get("vector", {})
        if vector.get("type") == "dense_vector":
            vector["index_options"] = {"type": "int8_hnsw", "m": 16, "ef_construction": 100}
        if vector.get("type") == "knn_vector":
            vector["method"]["parameters"] = {}
        return {self.cluster.aliases.get(name, name): {"mappings": mappings}}

    def delete(self, name: str, body: bytes) -> dict[str, Any]:
        self.require(name not in self.cluster.aliases, "an alias cannot be deleted so")
        self.index(name)
        del self.cluster.indexes[name]
        return {"acknowledged": True}

    def bulk(self, name: str, body: bytes) -> dict[str, Any]:
        self.require(self.headers.get("Content-Type") == "application/x-ndjson", "not sent as lines of JSON", 406)
        self.require(body.endswith(b"\n"), "no newline at the end")
        lines = body.split(b"\n")[:-1]
        self.require(len(lines) % 2 == 0 and all(lines), "not pairs of lines")
        index = self.index(name)
        pairs = [(json.loads(action), json.loads(source)) for action, source in list(pairwise(lines))[::2]]
        items = [self.take(index, action, source) for action, source in pairs]
        self.cluster.bulk_ids.append([item["index"]["_id"] for item in items])
        return {"took": 3, "errors": any("error" in item["index"] for item in items), "items": items}

    def take(self, index: Index, action: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
        self.require(set(action) == {"index"} and set(action["index"]) == {"_id"}, "another action than index")
        place = action["index"]["_id"]
        self.require(isinstance(place, str) and 0 < len(place.encode()) <= 512, "an id that is no text")
        if self.cluster.busy[place] > 0:
            self.cluster.busy[place] -= 1
            return self.item(place, 429, "es_rejected_execution_exception")
        if place in self.cluster.refused:
            return self.item(place, 400, "mapper_parsing_exception")
        properties = index.mappings["properties"]
        if set(source) - set(properties):
            self.cluster.wrong.append(f"fields {sorted(set(source) - set(properties))}")
            return self.item(place, 400, "strict_dynamic_mapping_exception")
        if "vector" in source:
            described = properties["vector"]
            size = described.get("dims", described.get("dimension"))
            if len(source["vector"]) != size or not any(source["vector"]):
                return self.item(place, 400, "mapper_parsing_exception")
        is_there = place in index.documents
        index.documents[place] = source
        return {"index": {"_id": place, "status": 200 if is_there else 201, "_version": 1}}

    def item(self, place: str, status: int, kind: str) -> dict[str, Any]:
        return {"index": {"_id": place, "status": status, "error": {"type": kind, "reason": TOLD}}}

    def refresh(self, name: str, body: bytes) -> dict[str, Any]:
        index = self.index(name)
        index.visible = dict(index.documents)
        return {"_shards": SHARDS}

    def count(self, name: str, body: bytes) -> dict[str, Any]:
        return {"count": len(self.index(name).visible), "_shards": SHARDS}

    def several(self, name: str, body: bytes) -> dict[str, Any]:
        index, ids = self.index(name), self.as_json(body)["ids"]
        key, _, wanted = self.options.partition("=")
        self.require(key == "_source", "an unknown option")
        self.require(all(isinstance(place, str) for place in ids) and bool(ids), "ids that are no texts")
        return {"docs": [self.document(index, name, place, wanted.split(",")) for place in ids]}

    def document(self, index: Index, name: str, place: str, wanted: list[str]) -> dict[str, Any]:
        if place not in index.documents:
            return {"_index": name, "_id": place, "found": False}
        source = {key: index.documents[place][key] for key in wanted}
        return {"_index": name, "_id": place, "found": True, "_source": source}

    def search(self, name: str, body: bytes) -> dict[str, Any]:
        index, asked = self.index(name), self.as_json(body)
        unknown = set(asked) - SEARCH_KEYS[self.cluster.kind]
        self.require(not unknown, f"unknown keys {sorted(unknown)}", kind="parsing_exception")
        self.require(asked["size"] <= 10_000, "a window that is too large")
        scores = Counter(self.scored(index, asked["query"]) if "query" in asked else {})
        if "knn" in asked:
            near = asked["knn"]
            self.require(set(near) == {"field", "query_vector", "k", "num_candidates"}, "parameters of kNN")
            self.require(near["k"] <= near["num_candidates"] <= 10_000, "too few or too many candidates")
            scores.update(self.near(index, near["field"], near["query_vector"], near["k"]))
        best = sorted(scores.items(), key=lambda pair: (-pair[1], int(pair[0])))[: asked["size"]]
        hits = [
            {"_index": name, "_id": place, "_score": score, "_source": self.parts(index, place, asked["_source"])}
            for place, score in best
        ]
        total = {"value": len(scores), "relation": "eq"}
        return {"took": 1, "timed_out": False, "_shards": SHARDS, "hits": {"total": total, "hits": hits}}

    def scored(self, index: Index, query: dict[str, Any]) -> dict[str, float]:
        (kind, clause), *more = query.items()
        known = {"multi_match", "match_none"} | ({"knn", "hybrid"} if self.cluster.kind == "opensearch" else set())
        self.require(not more and kind in known, f"no query {kind}", kind="parsing_exception")
        if kind == "match_none":
            return {}
        if kind == "knn":
            ((field_name, near),) = clause.items()
            self.require(set(near) == {"vector", "k"}, "parameters of kNN")
            return self.near(index, field_name, near["vector"], near["k"])
        if kind == "hybrid":
            parts = [self.scored(index, part) for part in clause["queries"]]
            return sum((self.normalised(part) for part in parts if part), Counter())
        words = set(clause["query"].lower().split())
        counts = {
            place: float(len(words & set(" ".join(source[name] for name in clause["fields"]).lower().split())))
            for place, source in index.visible.items()
        }
        return {place: count for place, count in counts.items() if count}

    def normalised(self, scores: dict[str, float]) -> Counter[str]:
        best = max(scores.values())
        return Counter({place: score / best for place, score in scores.items()})  # type: ignore[misc]

    def parts(self, index: Index, place: str, names: list[str]) -> dict[str, Any]:
        return {name: index.visible[place][name] for name in names}

    def near(self, index: Index, name: str, vector: list[float], k: int) -> dict[str, float]:
        self.require("vector" in index.mappings["properties"], f"no vectors in {name}", kind="query_shard_exception")
        scores = {
            place: (1 + sum(a * b for a, b in zip(source[name], vector, strict=True))) / 2
            for place, source in index.visible.items()
            if name in source
        }
        return dict(sorted(scores.items(), key=lambda pair: -pair[1])[:k])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    cluster: Cluster

    def handle_error(self, *_: object) -> None:
        """Clients hang up here on purpose."""


@contextmanager
def running_cluster(**options: Any) -> Iterator[Cluster]:
    """Such a server in a thread, until the block ends; then nothing may have been wrong."""
    server = Server(("127.0.0.1", 0), Handler)
    server.cluster = cluster = Cluster(port=server.server_port, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield cluster
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert cluster.wrong == []


@contextmanager
def reachable_cluster(**options: Any) -> Iterator[Cluster]:
    """Such a server whose address is on the operator's list."""
    with (
        running_cluster(**options) as cluster,
        override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{cluster.port}"])),
    ):
        yield cluster
