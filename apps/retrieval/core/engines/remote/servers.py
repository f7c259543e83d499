"""What search servers can do and write differently, and search in an index that a snapshot was loaded into."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from apps.retrieval.core.engines.base import BadParameters, Parameters
from apps.retrieval.core.engines.remote import templates
from apps.retrieval.core.engines.remote.base import Auth, RemoteAnswer, RemoteError, RemoteQuery, Reply, Request, parsed
from apps.retrieval.core.engines.remote.opensearch import OpenSearch

OPENSEARCH, ELASTICSEARCH = "opensearch", "elasticsearch"
TITLES = {OPENSEARCH: "OpenSearch", ELASTICSEARCH: "Elasticsearch"}
KNOWN = {OPENSEARCH: (2, 3), ELASTICSEARCH: (7, 8, 9)}
"""The major versions whose documentation the requests follow."""

VECTORS_SINCE = {OPENSEARCH: (2, 2), ELASTICSEARCH: (8, 4)}
"""OpenSearch: Lucene as the engine of vectors. Elasticsearch: kNN as a part of the search request."""

HYBRID_SINCE = {OPENSEARCH: (2, 11), ELASTICSEARCH: (8, 4)}
"""OpenSearch: the hybrid query. Elasticsearch: query and kNN in one request."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.\d{1,3}(?:-[A-Za-z0-9.]{1,20})?")
BM25, KNN, HYBRID = "bm25", "knn", "hybrid"
SEARCHES = {BM25: "BM25", KNN: "kNN", HYBRID: "BM25 and kNN"}
FIELDS = ("title", "section", "text")
FEWEST_CANDIDATES, MOST_CANDIDATES = 100, 10_000
NORMALISED = {
    "phase_results_processors": [
        {
            "normalization-processor": {
                "normalization": {"technique": "min_max"},
                "combination": {"technique": "arithmetic_mean"},
            }
        }
    ]
}
"""Without it, OpenSearch adds scores of the parts of a hybrid query that have nothing to do with each other."""


class Server(NamedTuple):
    kind: str
    version: str

    @property
    def name(self) -> str:
        return f"{TITLES[self.kind]} {self.version}"

    @property
    def number(self) -> tuple[int, int]:
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


def server_of(reply: Reply) -> Server:
    """The server that answered `GET /` so. Raises RemoteError for one whose requests are not known."""
    answer = parsed(reply)
    told = answer.get("version") if isinstance(answer, dict) else None
    version = told.get("number") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise RemoteError(
            "The address answers, but not as OpenSearch or Elasticsearch do. Give the address of the cluster itself.",
            is_final=True,
        )
    if told.get("build_flavor") == "serverless":
        raise RemoteError("Elasticsearch Serverless is not supported: it has other rules for indexes.", is_final=True)
    server = Server(OPENSEARCH if told.get("distribution") == OPENSEARCH else ELASTICSEARCH, version)
    if server.number[0] not in KNOWN[server.kind]:
        known = ", ".join(f"{TITLES[kind]} {_listed(majors)}" for kind, majors in KNOWN.items())
        raise RemoteError(f"This is {server.name}, which Karat does not know. Supported are {known}.", is_final=True)
    return server


def _listed(majors: tuple[int, ...]) -> str:
    return " and ".join([", ".join(map(str, majors[:-1])), str(majors[-1])])


def vectors_refusal(server: Server) -> str | None:
    """Why the server cannot have vectors in an index."""
    return _since(server, VECTORS_SINCE, "searches vectors")


def hybrid_refusal(server: Server) -> str | None:
    """Why the server cannot search words and vectors in one request."""
    return _since(server, HYBRID_SINCE, "searches words and vectors together")


def _since(server: Server, since: Mapping[str, tuple[int, int]], what: str) -> str | None:
    first = since[server.kind]
    if server.number >= first:
        return None
    return f"This is {server.name}; {TITLES[server.kind]} {what} from {first[0]}.{first[1]} on."


def index_body(server: Server, *, mark: str, snapshot: str, dimensions: int = 0) -> dict[str, Any]:
    """The request that creates an index: `mark` is what it is recognised by, `snapshot` a digest, `dimensions` those of
    its vectors, 0 for none.

    One shard, since each computes the weights of words from its own passages alone.
    """
    index: dict[str, Any] = {"number_of_shards": 1}
    properties: dict[str, Any] = {
        "block": {"type": "keyword"},
        "title": {"type": "text"},
        "section": {"type": "text"},
        "text": {"type": "text"},
        "digest": {"type": "keyword"},
    }
    if dimensions and server.kind == OPENSEARCH:
        index["knn"] = True
        method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
        properties["vector"] = {"type": "knn_vector", "dimension": dimensions, "method": method}
    elif dimensions:
        properties["vector"] = {"type": "dense_vector", "dims": dimensions, "index": True, "similarity": "cosine"}
    meta = {"karat": {"mark": mark, "snapshot": snapshot}}
    return {
        "settings": {"index": index},
        "mappings": {"dynamic": "strict", "_meta": meta, "properties": properties},
    }


def mapping_of(answer: Any, index: str) -> Mapping[str, Any]:
    """The mapping of the index in an answer of `GET /INDEX/_mapping`. Raises RemoteError for an alias."""
    found = answer.get(index) if isinstance(answer, dict) else None
    mapping = found.get("mappings") if isinstance(found, dict) else None
    if not isinstance(mapping, dict):
        raise RemoteError(f"{index} is not an index there but an alias. Remove the alias, then retry.", is_final=True)
    return mapping


def mark_of(mapping: Mapping[str, Any]) -> str:
    """What an index is recognised by; "" for one that Karat did not create."""
    meta = mapping.get("_meta")
    karat = meta.get("karat") if isinstance(meta, dict) else None
    return str(karat.get("mark", "")) if isinstance(karat, dict) else ""


def mapping_refusal(mapping: Mapping[str, Any], body: Mapping[str, Any]) -> str | None:
    """Why an index that exists cannot be the one that `body` creates. A server may add defaults to what was asked."""
    asked = body["mappings"]
    if mark_of(mapping) != asked["_meta"]["karat"]["mark"]:
        return "An index of this name exists already, and this project did not load it."
    properties = mapping.get("properties")
    if not isinstance(properties, dict) or set(properties) != set(asked["properties"]):
        return "The index exists with other fields."
    for name, wanted in asked["properties"].items():
        if not _contains(properties[name], wanted):
            return f"The index exists with another kind of the field {name}."
    return None


def _contains(there: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(_contains(there.get(key), value) for key, value in wanted.items())
    return bool(there == wanted) or (isinstance(wanted, bool) and there == str(wanted).lower())


@dataclass(frozen=True)
class LoadedSearch:
    """`search_type` is one of SEARCHES; `vectors` the digest of the dense system whose model made those of the index,
    "" without. `snapshot` is the digest of the passages, `server` and `version` are where they were loaded.
    """

    url: str
    index: str
    snapshot: str
    server: str
    version: str
    search_type: str = BM25
    vectors: str = ""
    auth: Auth = field(default_factory=Auth)

    name: ClassVar[str] = "loaded"
    revision: ClassVar[int] = 1
    returns_passages: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raises BadParameters."""
        if self.search_type not in SEARCHES:
            raise BadParameters(f"{self.search_type!r} is not a search; choose one of {', '.join(SEARCHES)}.")
        if self.server not in TITLES:
            raise BadParameters(f"{self.server!r} is not a server; choose one of {', '.join(TITLES)}.")
        if self.needs_vectors and not self.vectors:
            raise BadParameters("The index has no vectors. Load the snapshot with those of a dense system.")
        self._reader  # noqa: B018  # checks address and index

    @property
    def needs_vectors(self) -> bool:
        return self.search_type != BM25

    @property
    def _reader(self) -> OpenSearch:
        return OpenSearch(url=self.url, index=self.index, ids="_source.block", auth=self.auth)

    @property
    def address(self) -> str:
        return self._reader.address

    def identity(self) -> Parameters:
        return {
            "engine": self.name,
            "revision": self.revision,
            "url": self.url.strip().rstrip("/"),
            "index": self.index,
            "snapshot": self.snapshot,
            "server": self.server,
            "version": self.version,
            "search_type": self.search_type,
            "vectors": self.vectors if self.needs_vectors else "",
            "auth": self.auth.values(),
        }

    def request(self, query: RemoteQuery, k: int) -> Request:
        _, rest = templates.split_address(self.url.strip().rstrip("/"))
        body = json.dumps({"size": k, "_source": ["block"], **self._body(query, k)}, ensure_ascii=False)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return Request("POST", f"{rest}/{self.index}/_search", headers, body.encode())

    def _body(self, query: RemoteQuery, k: int) -> dict[str, Any]:
        words = {"multi_match": {"query": query.text, "fields": list(FIELDS), "type": "cross_fields"}}
        if self.search_type == BM25 or (self.search_type == HYBRID and not query.vector):
            return {"query": words}
        if not query.vector:
            return {"query": {"match_none": {}}}
        vector = list(query.vector)
        if self.server == OPENSEARCH:
            near: dict[str, Any] = {"knn": {"vector": {"vector": vector, "k": k}}}
            if self.search_type == KNN:
                return {"query": near}
            return {"query": {"hybrid": {"queries": [words, near]}}, "search_pipeline": NORMALISED}
        assert self.server == ELASTICSEARCH
        candidates = min(max(2 * k, FEWEST_CANDIDATES), MOST_CANDIDATES)
        near = {"knn": {"field": "vector", "query_vector": vector, "k": k, "num_candidates": candidates}}
        return near if self.search_type == KNN else {"query": words, **near}

    def read(self, reply: Reply) -> RemoteAnswer:
        return self._reader.read(reply)
