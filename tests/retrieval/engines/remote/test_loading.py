"""Requests that load, check and drop an index, against a double that takes only what the servers document."""

import json

import pytest

from apps.common.web.addresses import parse_openings, parse_url
from apps.common.web.outbound import RequestLimits
from apps.retrieval.core.engines.remote import loading
from apps.retrieval.core.engines.remote.base import RemoteError, Reply
from apps.retrieval.core.engines.remote.loading import Loader, PushedPassage, first_piece
from apps.retrieval.core.engines.remote.search import Pace, http_connection
from apps.retrieval.core.engines.remote.servers import Server, index_body
from tests.search_cluster import TOLD, Failure, Index, running_cluster

NAME = "karat-0123456789abcdef"
PACE = Pace(at_once=1, tries=3, first_wait=0.01, connect=1, read=1, whole=1)
SERVERS = [("opensearch", "2.19.1"), ("opensearch", "3.1.0"), ("elasticsearch", "8.19.0"), ("elasticsearch", "9.1.2")]


def passages(count, vectors=False):
    return [
        PushedPassage(n, f"b{n}", "Keys", "", f"key {n}", f"digest-{n}", (1.0, float(n)) if vectors else ())
        for n in range(count)
    ]


@pytest.fixture
def cluster():
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def waits():
    return []


@pytest.fixture
def loader(cluster, waits):
    with loader_of(cluster, waits) as loader:
        yield loader


class loader_of:
    """A loader of the cluster, which notes its pauses instead of making them."""

    def __init__(self, cluster, waits, whole=1.0):
        openings = parse_openings([f"127.0.0.1:{cluster.port}"])
        limits = RequestLimits(connect=1, read=whole, whole=whole)
        self.opened = http_connection(
            parse_url(cluster.url), lambda ids: {}, PACE, headers={}, openings=openings, limits=limits
        )
        self.waits = waits

    def __enter__(self):
        return Loader(self.opened.__enter__().send, "", NAME, PACE, self.waits.append)

    def __exit__(self, *error):
        self.opened.__exit__(*error)


def body_for(loader, mark="mine", dimensions=0):
    return index_body(loader.server(), mark=mark, snapshot="0123", dimensions=dimensions)


def digests(count):
    return {n: f"digest-{n}" for n in range(count)}


@pytest.mark.parametrize(("kind", "version"), SERVERS)
@pytest.mark.parametrize("dimensions", [0, 2])
def test_an_index_is_created_filled_checked_and_dropped(kind, version, dimensions):
    with running_cluster(kind=kind, version=version) as cluster, loader_of(cluster, []) as loader:
        assert loader.server() == Server(kind, version)
        body = body_for(loader, dimensions=dimensions)
        assert loader.prepare(body) is True
        loader.load(passages(3, vectors=bool(dimensions)))
        loader.check(3, digests(3))
        assert loader.prepare(body) is False
        loader.drop("mine")

        assert cluster.indexes == {}
        assert cluster.asked[-1] == f"DELETE /{NAME}"


def test_elasticsearch_7_takes_an_index_without_vectors():
    with running_cluster(kind="elasticsearch", version="7.17.28") as cluster, loader_of(cluster, []) as loader:
        loader.prepare(body_for(loader))
        loader.load(passages(2))
        loader.check(2, digests(2))


@pytest.mark.parametrize(
    ("kind", "version", "words"),
    [
        ("opensearch", "1.3.20", "OpenSearch 1.3.20, which Karat does not know. Supported are OpenSearch 2 and 3"),
        ("opensearch", "4.0.0", "OpenSearch 4.0.0"),
        ("elasticsearch", "6.8.23", "Elasticsearch 7, 8 and 9"),
        ("elasticsearch", "10.0.0-beta1", "Elasticsearch 10.0.0-beta1"),
        ("elasticsearch", f"8.<{TOLD}>", "not as OpenSearch or Elasticsearch do"),
    ],
)  # fmt: skip
def test_another_version_is_refused_in_words(kind, version, words):
    with (
        running_cluster(kind=kind, version=version) as cluster,
        loader_of(cluster, []) as loader,
        pytest.raises(RemoteError, match=words),
    ):
        loader.server()


def test_sending_again_changes_nothing(cluster, loader):
    loader.prepare(body_for(loader))
    loader.load(passages(3))
    loader.load(passages(3))

    loader.check(3, digests(3))


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_waited_for_as_long_as_it_says(cluster, loader, waits, status):
    loader.prepare(body_for(loader))
    cluster.fail("_bulk", Failure(status, {"Retry-After": "7"}), Failure(status, {"Retry-After": "9"}))

    loader.load(passages(3))

    assert waits == [7.0, 9.0]
    assert cluster.bulk_ids == [["0", "1", "2"]]


def test_a_server_that_wants_too_long_a_pause_is_not_waited_for(cluster, loader, waits):
    loader.prepare(body_for(loader))
    cluster.fail("_bulk", Failure(429, {"Retry-After": "3600"}))

    with pytest.raises(RemoteError, match="429"):
        loader.load(passages(1))

    assert waits == []


def test_only_passages_without_room_are_sent_again(cluster, loader, waits):
    loader.prepare(body_for(loader))
    cluster.busy.update({"1": 1, "3": 2})

    loader.load(passages(5))

    assert cluster.bulk_ids == [["0", "1", "2", "3", "4"], ["1", "3"], ["3"]]
    assert len(waits) == 2


def test_a_server_that_never_has_room_is_an_error(cluster, loader):
    loader.prepare(body_for(loader))
    cluster.busy["1"] = 99

    with pytest.raises(RemoteError, match=r"no room for passage 2 \(b1\) after 3 tries"):
        loader.load(passages(2))


def test_a_refused_passage_is_named_with_the_type_of_the_reason_alone(cluster, loader):
    loader.prepare(body_for(loader))
    cluster.refused.update({"2", "3"})

    with pytest.raises(RemoteError, match=r"refused passage 3 \(b2\) \(400, mapper_parsing_exception\)") as caught:
        loader.load(passages(5))

    assert TOLD not in caught.value.sentence


@pytest.mark.parametrize("is_done", [False, True])
def test_a_piece_without_an_answer_is_sent_again(cluster, waits, is_done):
    with loader_of(cluster, waits, whole=0.3) as loader:
        loader.prepare(body_for(loader))
        cluster.fail("_bulk", Failure(is_silent=True, is_done=is_done))

        loader.load(passages(3))
        loader.check(3, digests(3))

    assert len(waits) == 1


def test_an_index_whose_creation_was_not_answered_is_recognised(cluster, waits):
    with loader_of(cluster, waits, whole=0.3) as loader:
        cluster.fail(NAME, Failure(is_silent=True, is_done=True))

        assert loader.prepare(body_for(loader)) is True


def test_a_server_that_answers_nothing_is_given_up(cluster, waits):
    with loader_of(cluster, waits, whole=0.2) as loader:
        cluster.fail("/", *[Failure(is_silent=True)] * 3)

        with pytest.raises(RemoteError, match=r"did not answer in time|had not answered"):
            loader.server()

    assert len(waits) == 2


def test_a_piece_that_is_too_large_for_the_server_is_an_error():
    with running_cluster(most_bytes=600) as cluster, loader_of(cluster, []) as loader:
        loader.prepare(body_for(loader))

        with pytest.raises(RemoteError, match="413"):
            loader.load(passages(20))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda mappings: mappings.pop("_meta"), "this project did not load it"),
        (lambda mappings: mappings["_meta"]["karat"].update(mark="theirs"), "this project did not load it"),
        (lambda mappings: mappings["properties"].pop("digest"), "other fields"),
        (lambda mappings: mappings["properties"].update(pages={"type": "keyword"}), "other fields"),
        (lambda mappings: mappings["properties"]["text"].update(type="keyword"), "another kind of the field text"),
        (lambda mappings: mappings["properties"]["vector"].update(dimension=3), "another kind of the field vector"),
    ],
)
def test_an_index_of_another_mapping_is_refused_and_stays(cluster, loader, change, words):
    body = body_for(loader, dimensions=2)
    loader.prepare(body)
    change(cluster.indexes[NAME].mappings)

    with pytest.raises(RemoteError, match=words):
        loader.prepare(body)

    assert NAME in cluster.indexes


def test_an_alias_of_the_name_is_refused(cluster, loader):
    cluster.indexes["other"] = Index({"properties": {}}, {})
    cluster.aliases[NAME] = "other"

    with pytest.raises(RemoteError, match="not an index there but an alias"):
        loader.prepare(body_for(loader))


def test_a_missing_passage_is_found_by_the_count(cluster, loader):
    loader.prepare(body_for(loader))
    loader.load(passages(2))

    with pytest.raises(RemoteError, match="has 2 passages instead of 3"):
        loader.check(3, digests(2))


def test_another_text_is_found_by_the_digests(cluster, loader):
    loader.prepare(body_for(loader))
    loader.load(passages(2))
    cluster.indexes[NAME].documents["1"]["digest"] = "other"

    with pytest.raises(RemoteError, match="Passage 2 in the index is not that of the snapshot"):
        loader.check(2, digests(2))


def test_an_index_of_somebody_else_is_not_dropped(cluster, loader):
    loader.prepare(body_for(loader, mark="theirs"))

    with pytest.raises(RemoteError, match="so it stays"):
        loader.drop("mine")

    assert NAME in cluster.indexes


def test_an_index_that_is_gone_counts_as_dropped(cluster, loader):
    loader.drop("mine")

    assert cluster.asked == [f"GET /{NAME}/_mapping"]


def test_a_piece_has_at_most_500_passages_and_5_megabytes(monkeypatch):
    assert len(first_piece(passages(501))) == 500
    monkeypatch.setattr(loading, "MOST_BYTES", 2 * len(passages(1)[0].lines()))
    assert len(first_piece(passages(5))) == 2
    monkeypatch.setattr(loading, "MOST_BYTES", 1)
    assert len(first_piece(passages(5))) == 1


@pytest.mark.parametrize(
    "answer",
    [[], {"items": []}, {"items": [{"index": {"_id": "7", "status": 201}}]}, {"items": [{"create": {}}]}],
)
def test_an_answer_that_does_not_account_for_every_passage_is_an_error(answer):
    loader = Loader(lambda request: Reply(200, {}, json.dumps(answer).encode(), 0.0), "", NAME, PACE, lambda _: None)

    with pytest.raises(RemoteError, match="does not say of every passage"):
        loader.load(passages(1))
