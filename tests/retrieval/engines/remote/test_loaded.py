"""Bodies of searches on an index that Karat loaded, and their answers by a double of both servers."""

import json

import pytest

from apps.common.web.addresses import parse_openings, parse_url
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote import make_remote
from apps.retrieval.core.engines.remote.base import RemoteHit, RemoteQuery
from apps.retrieval.core.engines.remote.loading import Loader, PushedPassage
from apps.retrieval.core.engines.remote.search import Pace, http_connection
from apps.retrieval.core.engines.remote.servers import LoadedSearch, Server, hybrid_refusal, index_body, vectors_refusal
from tests.search_cluster import running_cluster

NAME = "karat-0123456789"
ASKED = RemoteQuery("Q1", "red key", (1.0, 0.0))
PASSAGES = [
    PushedPassage(0, "a", "", "", "red key", "d0", (0.0, 1.0)),
    PushedPassage(1, "b", "", "", "green door", "d1", (1.0, 0.0)),
    PushedPassage(2, "c", "", "", "red door", "d2", (0.8, 0.6)),
]
BOTH = [("opensearch", "3.1.0"), ("elasticsearch", "9.1.2")]


def engine(**changes):
    given = {
        "url": "https://search.example:9200", "index": NAME, "snapshot": "0123", "server": "opensearch",
        "version": "3.1.0", "vectors": "d" * 64, **changes,
    }  # fmt: skip
    return make_remote("loaded", given)


def sent(query=ASKED, k=5, **changes):
    body = json.loads(engine(**changes).request(query, k).body)
    assert (body.pop("size"), body.pop("_source")) == (k, ["block"])
    return body


WORDS = {"multi_match": {"query": "red key", "fields": ["title", "section", "text"], "type": "cross_fields"}}


def test_words_are_searched_in_title_section_and_text():
    assert sent(search_type="bm25") == sent(search_type="bm25", server="elasticsearch") == {"query": WORDS}


def test_knn_is_a_query_in_opensearch_and_a_part_of_the_request_in_elasticsearch():
    assert sent(search_type="knn") == {"query": {"knn": {"vector": {"vector": [1.0, 0.0], "k": 5}}}}
    assert sent(search_type="knn", server="elasticsearch") == {
        "knn": {"field": "vector", "query_vector": [1.0, 0.0], "k": 5, "num_candidates": 100}
    }


@pytest.mark.parametrize(("k", "candidates"), [(1, 100), (1_000, 2_000), (10_000, 10_000)])
def test_elasticsearch_looks_at_more_candidates_than_it_returns(k, candidates):
    assert sent(search_type="knn", server="elasticsearch", k=k)["knn"]["num_candidates"] == candidates


def test_a_hybrid_search_has_both():
    opensearch = sent(search_type="hybrid")
    elasticsearch = sent(search_type="hybrid", server="elasticsearch")

    assert opensearch["query"]["hybrid"]["queries"] == [WORDS, {"knn": {"vector": {"vector": [1.0, 0.0], "k": 5}}}]
    assert "normalization-processor" in opensearch["search_pipeline"]["phase_results_processors"][0]
    assert elasticsearch["query"] == WORDS
    assert elasticsearch["knn"]["query_vector"] == [1.0, 0.0]


def test_a_query_without_a_vector_finds_nothing_by_knn_and_is_searched_by_its_words_in_a_hybrid():
    blank = RemoteQuery("Q2", "red key")

    assert sent(blank, search_type="knn") == {"query": {"match_none": {}}}
    assert sent(blank, search_type="hybrid") == {"query": WORDS}


FOUND = {"bm25": ["a", "c"], "knn": ["b", "c", "a"], "hybrid": {"a", "b", "c"}}


@pytest.mark.parametrize(("kind", "version"), BOTH)
@pytest.mark.parametrize("search_type", FOUND)
def test_both_servers_take_the_bodies_and_give_ids_of_the_corpus(kind, version, search_type):
    with running_cluster(kind=kind, version=version) as cluster:
        openings = parse_openings([f"127.0.0.1:{cluster.port}"])
        asked = engine(url=cluster.url, server=kind, search_type=search_type)
        with http_connection(parse_url(cluster.url), lambda _: {}, Pace(), headers={}, openings=openings) as connection:
            loader = Loader(connection.send, "", NAME, Pace(), lambda _: None)
            loader.prepare(index_body(Server(kind, version), mark="m", snapshot="0123", dimensions=2))
            loader.load(PASSAGES)
            loader.check(3, {0: "d0"})
            hits = asked.read(connection.send(asked.request(ASKED, 3))).hits

    ids = [hit.id for hit in hits]
    assert (set(ids) if search_type == "hybrid" else ids) == FOUND[search_type]
    assert all(isinstance(hit, RemoteHit) and hit.score is not None for hit in hits)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"search_type": "term"}, "is not a search"),
        ({"server": "solr"}, "is not a server"),
        ({"search_type": "knn", "vectors": ""}, "The index has no vectors"),
        ({"index": "../_all"}, "not a valid name"),
        ({"url": "ftp://a.example"}, "neither https"),
    ],
)
def test_a_description_that_cannot_work_is_refused(changes, words):
    with pytest.raises(BadParameters, match=words):
        engine(**changes)


def test_an_engine_comes_back_from_its_identity():
    made = engine(search_type="hybrid", auth={"kind": "api_key", "secret": "s"})

    assert make_remote("loaded", made.identity()).identity() == made.identity()
    assert isinstance(made, LoadedSearch)


def test_the_vectors_are_not_part_of_a_search_for_words():
    assert engine(search_type="bm25").identity()["vectors"] == ""


@pytest.mark.parametrize(
    ("kind", "version", "has_vectors", "has_hybrid"),
    [
        ("opensearch", "2.1.0", False, False),
        ("opensearch", "2.10.0", True, False),
        ("opensearch", "2.11.0", True, True),
        ("elasticsearch", "7.17.28", False, False),
        ("elasticsearch", "8.3.3", False, False),
        ("elasticsearch", "8.4.0", True, True),
    ],
)
def test_what_a_version_cannot_do_is_said(kind, version, has_vectors, has_hybrid):
    server = Server(kind, version)

    assert (vectors_refusal(server) is None) is has_vectors
    assert (hybrid_refusal(server) is None) is has_hybrid
    assert has_vectors or version in vectors_refusal(server)
