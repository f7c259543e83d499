"""Shapes of `_search` answers as Elasticsearch 7 to 9 and OpenSearch 2 and 3 give them, cut to what is read."""

import json

import pytest

from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote import make_remote
from apps.retrieval.core.engines.remote.base import RemoteError, RemoteHit, RemoteQuery, Reply

GOOD = {"url": "https://search.example:9200/", "index": "handbook"}
ASKED = RemoteQuery("Q1", 'red "key"')
SHARDS = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
FOUND = [
    {"_index": "handbook", "_id": "a", "_score": 2.5, "_source": {"doc": {"id": "A-1"}}},
    {"_index": "handbook", "_id": "b", "_score": 1.0, "_source": {"doc": {"id": "B-1"}}},
]
ELASTICSEARCH_7 = {
    "took": 3,
    "timed_out": False,
    "_shards": SHARDS,
    "hits": {
        "total": {"value": 10_000, "relation": "gte"},
        "max_score": 2.5,
        "hits": [{**hit, "_type": "_doc"} for hit in FOUND],
    },
}
ELASTICSEARCH_7_TOTAL_AS_NUMBER = {**ELASTICSEARCH_7, "hits": {"total": 2, "max_score": 2.5, "hits": FOUND}}
ELASTICSEARCH_8 = {
    "took": 3,
    "timed_out": False,
    "_shards": SHARDS,
    "hits": {"total": {"value": 2, "relation": "eq"}, "max_score": 2.5, "hits": FOUND},
}
ELASTICSEARCH_9_TOTAL_UNTRACKED = {**ELASTICSEARCH_8, "hits": {"max_score": 2.5, "hits": FOUND}}
OPENSEARCH_2 = {**ELASTICSEARCH_8, "terminated_early": False}
OPENSEARCH_3 = {**ELASTICSEARCH_8, "phase_took": {"query": 2, "fetch": 1}}
SHAPES = [
    ELASTICSEARCH_7,
    ELASTICSEARCH_7_TOTAL_AS_NUMBER,
    ELASTICSEARCH_8,
    ELASTICSEARCH_9_TOTAL_UNTRACKED,
    OPENSEARCH_2,
    OPENSEARCH_3,
]
NO_INDEX = {
    "error": {
        "root_cause": [{"type": "index_not_found_exception", "reason": "no such index [private]", "index": "private"}],
        "type": "index_not_found_exception",
        "reason": "no such index [private]",
    },
    "status": 404,
}
BAD_QUERY = {
    "error": {
        "root_cause": [{"type": "query_shard_exception", "reason": "private", "index_uuid": "x", "index": "handbook"}],
        "type": "search_phase_execution_exception",
        "reason": "all shards failed",
        "phase": "query",
        "grouped": True,
        "failed_shards": [{"shard": 0, "index": "handbook", "reason": {"type": "query_shard_exception"}}],
    },
    "status": 400,
}
TOO_MANY = {
    "error": {
        "root_cause": [{"type": "es_rejected_execution_exception", "reason": "private"}],
        "type": "es_rejected_execution_exception",
        "reason": "private",
    },
    "status": 429,
}
NO_ACCESS = {
    "error": {
        "root_cause": [
            {"type": "security_exception", "reason": "private", "header": {"WWW-Authenticate": 'Basic realm="x"'}}
        ],
        "type": "security_exception",
        "reason": "private",
    },
    "status": 401,
}


def engine(**changes):
    return make_remote("opensearch", {**GOOD, **changes})


def read(answer, status=200, **changes):
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return engine(**changes).read(Reply(status, {}, body, 0.01))


def sent(**changes):
    return json.loads(engine(**changes).request(ASKED, 20).body)


def test_a_match_query_is_what_is_sent_by_default():
    request = engine().request(ASKED, 20)

    assert (request.method, request.path) == ("POST", "/handbook/_search")
    assert json.loads(request.body) == {
        "query": {"match": {"text": {"query": 'red "key"'}}},
        "size": 20,
        "_source": False,
    }


def test_several_fields_are_searched_together():
    assert sent(query="multi_match", fields=["title^2", "text"])["query"] == {
        "multi_match": {"query": 'red "key"', "fields": ["title^2", "text"]}
    }


def test_a_custom_body_is_filled_and_limited_to_the_depth():
    body = '{"query": {"knn": {"v": {"query_text": "{{query}}", "k": {{k}}}}}, "min_score": 0.1}'

    assert sent(query="body", body=body) == {
        "query": {"knn": {"v": {"query_text": 'red "key"', "k": 20}}},
        "min_score": 0.1,
        "size": 20,
        "_source": False,
    }


def test_only_the_field_of_the_id_is_sent_back():
    assert sent(ids="_source.doc.id")["_source"] == ["doc.id"]


def test_a_cluster_may_be_under_a_path():
    assert engine(url="https://a.example/cluster/").request(ASKED, 1).path == "/cluster/handbook/_search"


@pytest.mark.parametrize("answer", SHAPES)
def test_every_recorded_shape_is_read(answer):
    reading = read(answer)

    assert reading.hits == [RemoteHit("a", 2.5), RemoteHit("b", 1.0)]
    assert reading.incomplete == ""


def test_ids_come_from_a_field_when_it_is_named():
    assert [hit.id for hit in read(ELASTICSEARCH_8, ids="_source.doc.id").hits] == ["A-1", "B-1"]


def test_a_search_with_an_order_of_its_own_has_no_scores():
    answer = {**ELASTICSEARCH_8, "hits": {"hits": [{**hit, "_score": None} for hit in FOUND]}}

    assert read(answer).hits == [RemoteHit("a", None), RemoteHit("b", None)]


def test_an_empty_result_is_valid():
    assert read({**ELASTICSEARCH_8, "hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}}).hits == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"timed_out": True}, "time ran out"), ({"_shards": {**SHARDS, "successful": 3, "failed": 2}}, "shards failed")],
)
def test_an_answer_that_lacks_results_says_so(changes, why):
    reading = read({**OPENSEARCH_2, **changes})

    assert reading.incomplete == why
    assert len(reading.hits) == 2


@pytest.mark.parametrize(
    ("answer", "status", "words", "is_passing"),
    [
        (NO_INDEX, 404, "index_not_found_exception", False),
        (BAD_QUERY, 400, "search_phase_execution_exception: query_shard_exception", False),
        (TOO_MANY, 429, "429, es_rejected_execution_exception", True),
        (NO_ACCESS, 401, "security_exception", False),
        ({"error": {"type": "parse_exception"}}, 200, "parse_exception", False),
        ({"error": "Incorrect HTTP method", "status": 405}, 405, "405", False),
        (b"<html>private</html>", 502, "502", True),
        (b'{"error": {"type": "<b>private</b>"}}', 400, r"refused the request \(400\)", False),
        ({"hits": {}}, 200, "nothing at hits.hits", False),
        ({"hits": {"hits": ["a"]}}, 200, "nothing at _id", False),
        ([], 200, "nothing at hits", False),
    ],
)
def test_an_error_is_reported_by_its_type_alone(answer, status, words, is_passing):
    with pytest.raises(RemoteError, match=words) as caught:
        read(answer, status)

    assert "private" not in caught.value.sentence
    assert caught.value.is_passing is is_passing


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "https://a.example/?pretty"}, "cluster"),
        ({"url": "a.example"}, "neither https"),
        ({"index": "../_all"}, "not a valid name of an index"),
        ({"index": "Upper"}, "not a valid name of an index"),
        ({"index": ".."}, "not a valid name of an index"),
        ({"query": "term"}, "is not a query type"),
        ({"fields": []}, "Name the fields"),
        ({"fields": ["a", "b"]}, "one field"),
        ({"query": "body", "body": "[]"}, "JSON object"),
        ({"query": "body", "body": '{"query": {"match_all": {}}}'}, "is missing"),
        ({"ids": "doc.id"}, "_source"),
        ({"ids": "_source.a[*]"}, "_source"),
        ({"ids": ""}, "_source"),
        ({"texts": "text"}, "The texts are read from a field written _source.name"),
        ({"documents": "_source.a[0]"}, "The documents are read from a field"),
        ({"documents": "_source.file", "last_pages": "_source.end"}, "needs the path to the first pages"),
        ({"texts": "_source.text", "first_pages": "_source.page"}, "give the path to the documents"),
    ],
)
def test_a_description_that_cannot_work_is_refused(changes, words):
    with pytest.raises(BadParameters, match=words):
        engine(**changes)


def test_an_engine_comes_back_from_its_identity():
    made = engine(query="multi_match", fields=["a", "b"], auth={"kind": "api_key", "secret": "s"})

    assert make_remote("opensearch", made.identity()).identity() == made.identity()


OWN = {
    "ids": "",
    "documents": "_source.file.name",
    "texts": "_source.text",
    "first_pages": "_source.page.from",
    "last_pages": "_source.page.to",
}


def chunks(*sources):
    hits = [
        {"_index": "chunks", "_id": f"c{place}", "_score": 2.0, "_source": one} for place, one in enumerate(sources)
    ]
    return {**OPENSEARCH_3, "hits": {"hits": hits}}


def test_passages_of_its_own_have_document_text_and_pages_from_the_source():
    answer = chunks(
        {"file": {"name": "handbook"}, "text": "Keys are kept.", "page": {"from": 3, "to": 4}},
        {"file": {"name": "handbook"}, "text": None},
    )

    assert [hit.own for hit in read(answer, **OWN).hits] == [
        Returned("", "handbook", (3, 4), "Keys are kept."),
        Returned("", "handbook", None, ""),
    ]


def test_only_the_fields_that_are_read_are_sent_back():
    assert sent(**OWN)["_source"] == ["file.name", "text", "page.from", "page.to"]
    assert sent(texts="_source.text")["_source"] == ["text"]


def test_ids_of_the_corpus_may_stand_beside_them():
    answer = chunks({"text": "Keys are kept."})

    assert [hit.own for hit in read(answer, texts="_source.text").hits] == [Returned("c0", text="Keys are kept.")]
    assert engine(texts="_source.text").returns_passages
    assert not engine().returns_passages


def test_a_hit_without_the_named_text_is_refused():
    with pytest.raises(RemoteError, match=r"Item 2 of the answer has nothing at _source\.text"):
        read(chunks({"text": "Keys are kept."}, {"body": "no text"}), ids="", texts="_source.text")


def test_an_engine_with_passages_of_its_own_comes_back_from_its_identity():
    made = engine(**OWN)

    assert make_remote("opensearch", made.identity()).identity() == made.identity()
    assert "documents" not in engine().identity()
