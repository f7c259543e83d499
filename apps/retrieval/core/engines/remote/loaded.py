"""Searches of an index that Karat loaded itself, with bodies for OpenSearch and for Elasticsearch."""

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from apps.retrieval.core.engines.base import BadParameters, Parameters
from apps.retrieval.core.engines.remote import templates
from apps.retrieval.core.engines.remote.base import Auth, RemoteAnswer, RemoteQuery, Reply, Request
from apps.retrieval.core.engines.remote.opensearch import OpenSearch
from apps.retrieval.core.engines.remote.search import search
from apps.retrieval.core.engines.remote.servers import ELASTICSEARCH, OPENSEARCH, TITLES

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
    needs_index: ClassVar[bool] = False
    returns_passages: ClassVar[bool] = False
    search = search

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
