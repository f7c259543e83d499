import json

import pytest

from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote import make_remote
from apps.retrieval.core.engines.remote.base import Auth, RemoteError, RemoteHit, RemoteQuery, Reply
from apps.retrieval.core.engines.remote.http_json import Every, HttpJson, NoSuchPlace, column, parse_path, written

GOOD = {
    "url": "https://search.example/s",
    "body": '{"q": "{{query}}", "n": "{{k}}", "id": "{{query_id}}"}',
    "ids": "hits[*].doc.id",
    "scores": "hits[*].score",
}
ASKED = RemoteQuery("Q1", "red key & door")


def engine(**changes):
    return make_remote("http", {**GOOD, **changes})


def reply(answer, status=200, **headers):
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return Reply(status, headers, body, 0.01)


def hits(*pairs):
    return {"hits": [{"doc": {"id": key}, "score": score} for key, score in pairs]}


def test_a_post_carries_the_query_in_its_body():
    asked = engine(headers={"X-Team": "search"}).request(ASKED, 10)

    assert (asked.method, asked.path) == ("POST", "/s")
    assert json.loads(asked.body) == {"q": "red key & door", "n": 10, "id": "Q1"}
    assert asked.headers == {"Accept": "application/json", "X-Team": "search", "Content-Type": "application/json"}


def test_a_get_carries_it_in_the_address():
    asked = engine(method="GET", url="https://a.example?q={{query}}&n={{k}}", body="").request(ASKED, 5)

    assert (asked.method, asked.path, asked.body) == ("GET", "/?q=red%20key%20%26%20door&n=5", None)


def test_ids_and_scores_are_read_at_their_paths():
    reading = engine().read(reply(hits(("a", 2), (7, 1.5))))

    assert reading.hits == [RemoteHit("a", 2.0), RemoteHit("7", 1.5)]


def test_without_scores_the_order_counts():
    assert engine(scores="").read(reply(hits(("a", 2)))).hits == [RemoteHit("a", None)]


def test_ids_lose_and_gain_what_they_should():
    changed = engine(strip="doc:", prepend="HB-").read(reply(hits(("doc:a", 2), ("b", 1))))

    assert [hit.id for hit in changed.hits] == ["HB-a", "HB-b"]


def test_distances_fall():
    assert [hit.score for hit in engine(lower_is_better=True).read(reply(hits(("a", 0.1), ("b", 0.2)))).hits] == [
        -0.1,
        -0.2,
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"no json", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"hits": [{"doc": {"id": "a"}, "score": NaN}]}', "not JSON"),
        (b'{"hits": [{"doc": {"id": "a"}, "score": 1e999}]}', "item 1 is not a finite number"),
        (b'{"hits": [{"doc": {"id": "a\\u0000"}, "score": 1}]}', "not allowed in an id"),
        (b'{"hits": [{"doc": {"id": "\\ud800"}, "score": 1}]}', "not allowed in an id"),
        ({"results": []}, "nothing at hits"),
        (hits(("a", "high")), "score of item 1 is not a number"),
        (hits(("a", True)), "score of item 1 is not a number"),
        (hits(("a", 1), (None, 1)), "id of item 2"),
        (hits((1.5, 1)), "id of item 1"),
        (hits(("x" * 301, 1)), "id of item 1"),
    ],
)
def test_an_unreadable_answer_is_reported(answer, words):
    with pytest.raises(RemoteError, match=words) as caught:
        engine().read(reply(answer))

    assert not caught.value.is_passing


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(RemoteError, match="2 ids and 1 scores"):
        engine(ids="ids[*]", scores="scores[*]").read(reply({"ids": ["a", "b"], "scores": [1]}))


@pytest.mark.parametrize(
    ("status", "is_passing", "is_final"),
    [(400, False, False), (401, False, True), (403, False, True), (404, False, True), (408, True, False),
     (418, False, False), (429, True, False), (500, True, False), (503, True, False)],
)  # fmt: skip
def test_a_status_says_whether_a_retry_helps(status, is_passing, is_final):
    with pytest.raises(RemoteError) as caught:
        engine().read(reply({"detail": "private"}, status))

    assert (caught.value.is_passing, caught.value.is_final) == (is_passing, is_final)
    assert str(status) in caught.value.sentence
    assert "private" not in caught.value.sentence


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
    ],
)
def test_the_requested_wait_is_read(headers, wait):
    with pytest.raises(RemoteError) as caught:
        engine().read(reply({}, 429, **headers))

    assert caught.value.wait == wait


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "ftp://a.example"}, "neither https"),
        ({"method": "PUT"}, "not a supported method"),
        ({"method": "GET"}, "has no body"),
        ({"body": '{"q": "fixed"}'}, "is missing"),
        ({"body": ""}, "is missing"),
        ({"ids": ""}, "path is empty"),
        ({"ids": "hits.id"}, r"needs \[\*\]"),
        ({"scores": "best"}, r"needs \[\*\]"),
        ({"strip": "x" * 201}, "at most 200"),
        ({"headers": {"Authorization": "Bearer abc"}}, "secret of the project"),
        ({"headers": {"cookie": "a=b"}}, "secret of the project"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "not allowed in a header"),
        ({"headers": {"X A": "a"}}, "not allowed in a header"),
        ({"auth": {"kind": "magic"}}, "not a supported way to sign in"),
        ({"auth": {"kind": "bearer"}}, "Choose the secret"),
        ({"auth": {"kind": "basic", "secret": "s", "user": "a:b"}}, "without a colon"),
        ({"auth": {"kind": "header", "secret": "s", "header": "Host"}}, "Name the header"),
        ({"colour": "red"}, "parameter"),
    ],
)
def test_a_description_that_cannot_work_is_refused(changes, words):
    with pytest.raises(BadParameters, match=words):
        engine(**changes)


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (Auth("bearer", "s"), {"Authorization": "Bearer v"}),
        (Auth("api_key", "s"), {"Authorization": "ApiKey v"}),
        (Auth("basic", "s", user="u"), {"Authorization": "Basic dTp2"}),
        (Auth("header", "s", header="X-Key"), {"X-Key": "v"}),
        (Auth(), {}),
    ],
)
def test_a_secret_goes_into_its_header(auth, headers):
    assert auth.headers("v") == headers


def test_an_engine_comes_back_from_its_identity():
    made = engine(auth={"kind": "basic", "secret": "s", "user": "u"}, headers={"B": "2", "A": "1"})

    assert make_remote("http", made.identity()).identity() == made.identity()
    assert isinstance(made, HttpJson)
    assert made.address == "https://search.example"


# Passages of its own --------------------------------------------------------------------------------------------------

OWN = {
    "url": "https://search.example/s",
    "body": '{"q": "{{query}}"}',
    "documents": "hits[*].doc",
    "texts": "hits[*].text",
    "first_pages": "hits[*].from",
    "last_pages": "hits[*].to",
}


def pieces(*values):
    return {"hits": [dict(zip(("doc", "text", "from", "to", "id"), each, strict=True)) for each in values]}


def test_passages_of_its_own_are_read_with_document_pages_and_text():
    own = make_remote("http", {**OWN, "ids": "hits[*].id"})

    reading = own.read(reply(pieces(("rules", "A red key.", 3, 4, "c7"), (12, None, 5, None, None))))

    assert own.returns_passages
    assert [hit.own for hit in reading.hits] == [
        Returned("c7", "rules", (3, 4), "A red key."),
        Returned("", "12", (5, 5), ""),
    ]


def test_without_paths_to_their_parts_hits_are_blocks_and_the_system_stays_the_same():
    assert not engine().returns_passages
    assert not {"documents", "texts", "first_pages", "last_pages"} & engine().identity().keys()
    assert {**OWN}.items() <= make_remote("http", OWN).identity().items()


def test_passages_of_its_own_need_no_ids():
    texts = make_remote("http", {**OWN, "documents": "", "first_pages": "", "last_pages": ""})

    assert [hit.own for hit in texts.read(reply(pieces((None, "A", None, None, None)))).hits] == [Returned(text="A")]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"first_pages": ""}, "needs the path to the first pages"),
        ({"documents": ""}, "Pages are pages of a document"),
        ({"texts": "hits.text"}, "The path to the texts needs [*]"),
        ({"first_pages": "hits[0].from"}, "The path to the first pages needs [*]"),
    ],
)
def test_paths_that_say_nothing_are_refused(changes, says):
    with pytest.raises(BadParameters) as refused:
        make_remote("http", {**OWN, **changes})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (pieces(("rules", 7, 3, 4, None)), "The text of item 1 is no text"),
        (pieces(("rules", "a\0b", 3, 4, None)), "The text of item 1 is no text"),
        (pieces(("rules", "A" * 100_001, 3, 4, None)), "at most 100,000 characters"),
        (pieces(("rules", "A", 4, 3, None)), "The pages of item 1 are not whole numbers"),
        (pieces(("rules", "A", "3", 4, None)), "The pages of item 1 are not whole numbers"),
        (pieces((["rules"], "A", 3, 4, None)), "The id of item 1"),
        (pieces(("rules", "A", 3, 4, None), (None, " ", 3, 4, None)), "Item 2 of the answer has no id, no document"),
        ({"hits": [{"doc": "rules"}]}, "Item 1 of the answer has nothing at text"),
    ],
)
def test_an_answer_whose_passages_cannot_be_read_is_named(answer, says):
    with pytest.raises(RemoteError) as refused:
        make_remote("http", OWN).read(reply(answer))
    assert says in refused.value.sentence


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(RemoteError, match="The answer has 1 documents and 2 texts"):
        make_remote("http", {**OWN, "texts": "more[*].text", "first_pages": "", "last_pages": ""}).read(
            reply({"hits": [{"doc": "rules"}], "more": [{"text": "A"}, {"text": "B"}]})
        )


ITEM = Every.ITEM


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("hits[*].doc.id", ("hits", ITEM, "doc", "id")),
        ("[*]", (ITEM,)),
        ("[*].id", (ITEM, "id")),
        ("ids[*]", ("ids", ITEM)),
        ("results[0].hits[*][1]", ("results", 0, "hits", ITEM, 1)),
        ('["a.b"][*]["c\\"]"]', ("a.b", ITEM, 'c"]')),
        ("größe[*].ключ", ("größe", ITEM, "ключ")),
    ],
)
def test_a_path_is_read_and_written_alike(text, steps):
    assert parse_path(text) == steps
    assert parse_path(written(steps)) == steps


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[-1]", "a[1", "a b", "a.[*]", "a[*]b", '["a]', "x" * 301]
)
def test_an_invalid_path_is_rejected_with_the_position(text):
    with pytest.raises(BadParameters):
        parse_path(text)


def test_a_ranking_is_one_list():
    with pytest.raises(BadParameters, match="more than once"):
        parse_path("a[*].b[*]")


def test_a_column_has_one_value_an_item():
    answer = {"hits": [{"doc": {"id": "a"}}, {"doc": {"id": 7}}]}

    assert column(parse_path("hits[*].doc.id"), answer) == ["a", 7]
    assert column(parse_path("[*]"), ["a", "b"]) == ["a", "b"]
    assert column(parse_path("hits[*].id"), {"hits": []}) == []


def test_an_optional_value_is_none_where_an_item_lacks_it():
    answer = {"hits": [{"page": 3}, {"name": "b"}, {"page": None}]}

    assert column(parse_path("hits[*].page"), answer, is_optional=True) == [3, None, None]
    with pytest.raises(NoSuchPlace, match="nothing at hits"):
        column(parse_path("hits[*].page"), {}, is_optional=True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "The answer has nothing at hits."),
        ([], "The answer has nothing at hits."),
        ({"hits": {"a": 1}}, "The answer has no list at hits."),
        ({"hits": [{"id": "a"}, {"name": "b"}]}, "Item 2 of the answer has nothing at id."),
        ({"hits": ["a"]}, "Item 1 of the answer has nothing at id."),
    ],
)
def test_what_an_answer_lacks_is_reported(answer, words):
    with pytest.raises(NoSuchPlace) as caught:
        column(parse_path("hits[*].id"), answer)

    assert str(caught.value) == words
