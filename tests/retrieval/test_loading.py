"""Loading snapshots into a double of OpenSearch and Elasticsearch, searching them there, and dropping them."""

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import override_settings

from apps.accounts.actions.secrets import save_secret
from apps.audit.models import Event
from apps.common.errors import IllegalStep
from apps.corpus.models import SnapshotBlock
from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.models import Job
from apps.retrieval import workflow
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_loaded_system, drop_index, load_snapshot
from apps.retrieval.core import ranking
from apps.retrieval.core.engines import dense, encoder
from apps.retrieval.core.engines.remote import loading
from apps.retrieval.enums import IndexState, Step
from apps.retrieval.models import LoadedIndex, Ranking
from apps.retrieval.rules import LoadRefused, RunRefused, SystemRefused
from tests.factories import AT, lead_of
from tests.retrieval.factories import make_pool, make_run, make_snapshot, make_system
from tests.retrieval.tiny_models import make_model
from tests.running_jobs import run_jobs
from tests.search_cluster import TOLD, Failure, Index, reachable_cluster

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_loads")]
BOTH = [{"kind": "opensearch", "version": "3.1.0"}, {"kind": "elasticsearch", "version": "9.1.2"}]
WORDS = ["key", "door", "window", "red", "green", "wall"]


@pytest.fixture(params=BOTH, ids=["opensearch", "elasticsearch"])
def either(request):
    with reachable_cluster(**request.param) as cluster:
        yield cluster


class CountingEncoder:
    """The vector of a text counts the words that the test knows."""

    size = len(WORDS)

    def encode(self, texts):
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)


@pytest.fixture
def dense_system(project, settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path, tmp_path / "models"
    make_model(settings.MODELS_DIR / "tiny")
    monkeypatch.setattr(encoder, "PACKAGES", ())
    monkeypatch.setattr(dense, "encoder_of", lambda *_: CountingEncoder())
    return make_system(project, "Tiny", "dense", model="tiny")


def request(project, snapshot, cluster, **options):
    return load_snapshot(
        project=project, snapshot_id=snapshot.pk, url=cluster.url, actor=lead_of(project), at=AT, **options
    )


def load(project, snapshot, cluster, **options):
    index = request(project, snapshot, cluster, **options)
    run_jobs()
    index.refresh_from_db()
    return index


def retry(project, index):
    retry_job(job_id=index.job_id, actor=lead_of(project), at=AT)
    run_jobs()
    index.refresh_from_db()
    return index


def search_system(project, index, search="bm25", **options):
    return create_loaded_system(
        project=project, index_id=index.pk, search=search, actor=lead_of(project), at=AT, **options
    )


def drop(project, index):
    drop_index(index=index, actor=lead_of(project), at=AT)
    run_jobs()
    index.refresh_from_db()
    return index


def found(run):
    rows = Ranking.objects.filter(run=run).order_by("query__outside_id").values_list("query__outside_id", "packed")
    return {query: ranking.unpack(bytes(packed))[0].tolist() for query, packed in rows}


def test_a_snapshot_is_loaded_under_its_digest_with_its_places_as_ids(project, snapshot, either):
    index = load(project, snapshot, either)

    assert (index.state, index.noted, index.failure) == (IndexState.READY, 4, "")
    assert index.name == f"karat-{snapshot.digest[:40]}"
    assert (index.server, index.server_version) == (either.kind, either.version)
    assert either.bulk_ids == [["0", "1"], ["2", "3"]]
    documents = either.indexes[index.name].documents
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    assert [documents[str(row.position)]["digest"] for row in rows] == [row.version.digest for row in rows]
    assert documents["1"]["block"] == "b"
    assert index.job.result == {"index_id": index.pk, "passages": 4, "compared": 4}


def test_a_loaded_snapshot_is_run_pooled_and_dropped(project, snapshot, either):
    index = load(project, snapshot, either)
    system = search_system(project, index)
    run = make_run(project, snapshot, system)
    pool = make_pool(project, snapshot, run_ids=[run.pk])

    assert (run.state, run.failure, run.report) == ("complete", "", None)
    assert found(run) == {"Q01": [0, 3], "Q02": [2, 3, 1], "Q03": []}
    assert pool.state == "complete"
    assert pool.entry_count > 0
    assert drop(project, index).state == IndexState.DROPPED
    assert either.indexes == {}


@pytest.mark.parametrize("search", ["knn", "hybrid"])
def test_vectors_of_a_dense_system_are_loaded_and_searched(project, snapshot, either, dense_system, search):
    index = load(project, snapshot, either, dense_id=dense_system.pk)
    run = make_run(project, snapshot, search_system(project, index, search))

    assert index.state == IndexState.READY, index.failure
    assert index.name == f"karat-{snapshot.digest[:40]}-{dense_system.digest[:12]}"
    assert run.state == "complete", run.failure
    assert found(run)["Q01"][0] == 0
    assert found(run)["Q03"] == []


def test_without_vectors_there_is_no_search_for_them(project, snapshot, cluster):
    index = load(project, snapshot, cluster)

    with pytest.raises(LoadRefused, match="has no vectors"):
        search_system(project, index, "knn")


def test_an_old_opensearch_has_no_hybrid_search(project, snapshot, dense_system):
    with reachable_cluster(version="2.9.0") as cluster:
        index = load(project, snapshot, cluster, dense_id=dense_system.pk)

        with pytest.raises(LoadRefused, match=r"This is OpenSearch 2\.9\.0; OpenSearch searches words and vectors"):
            search_system(project, index, "hybrid")


def test_vectors_are_refused_by_a_server_that_cannot_search_them(project, snapshot, dense_system):
    with reachable_cluster(kind="elasticsearch", version="7.17.28") as cluster:
        index = load(project, snapshot, cluster, dense_id=dense_system.pk)

        assert index.state == IndexState.FAILED
        assert "Elasticsearch searches vectors from 8.4 on. Drop this index" in index.failure
        assert cluster.indexes == {}


def test_an_unknown_version_fails_in_words(project, snapshot):
    with reachable_cluster(version="1.3.20") as cluster:
        index = load(project, snapshot, cluster)

        assert "This is OpenSearch 1.3.20, which Karat does not know." in index.failure


def test_a_failed_load_goes_on_from_the_last_noted_piece(project, snapshot, cluster):
    cluster.refused.add("3")
    index = load(project, snapshot, cluster)

    assert (index.state, index.noted) == (IndexState.FAILED, 2)
    assert "It stopped after 2 of 4 passages: The server refused passage 4 (d) (400, mapper_" in index.failure
    assert TOLD not in index.failure
    cluster.refused.clear()
    assert retry(project, index).state == IndexState.READY
    assert cluster.bulk_ids == [["0", "1"], ["2", "3"], ["2", "3"]]


class Killed(BaseException):
    """Ends a worker in the middle, as a kill would: nothing is told to the job."""


@pytest.mark.parametrize("is_sent", [False, True], ids=["before the piece is sent", "before it is noted"])
def test_a_killed_load_goes_on_from_the_last_noted_piece(project, snapshot, cluster, monkeypatch, is_sent):
    index = request(project, snapshot, cluster)
    send = loading.Loader.load

    def killed(loader, piece):
        if piece[0].place == 2:
            if is_sent:
                send(loader, piece)
            raise Killed
        send(loader, piece)

    monkeypatch.setattr(loading.Loader, "load", killed)
    with pytest.raises(Killed):
        run_jobs()
    monkeypatch.setattr(loading.Loader, "load", send)
    index.refresh_from_db()
    assert (index.state, index.noted) == (IndexState.LOADING, 2)

    Job.objects.filter(pk=index.job_id).update(state="queued", lease_expires_at=None)
    run_jobs()
    index.refresh_from_db()
    assert index.state == IndexState.READY
    assert cluster.bulk_ids == [["0", "1"], *[["2", "3"]] * (1 + is_sent)]


def test_an_index_that_was_deleted_there_meanwhile_is_loaded_from_the_start(project, snapshot, cluster):
    cluster.refused.add("3")
    index = load(project, snapshot, cluster)
    cluster.indexes.clear()
    cluster.refused.clear()

    assert retry(project, index).state == IndexState.READY
    assert cluster.bulk_ids[-2:] == [["0", "1"], ["2", "3"]]


def test_a_busy_server_and_lost_answers_do_not_fail_a_load(project, snapshot, cluster):
    cluster.busy.update({"0": 1, "2": 2})
    cluster.fail("_bulk", Failure(429, {"Retry-After": "0"}), Failure(is_silent=True, is_done=True))

    assert load(project, snapshot, cluster).state == IndexState.READY


def test_what_is_there_is_compared_with_the_snapshot(project, snapshot, cluster, monkeypatch):
    cluster.refused.add("3")
    index = load(project, snapshot, cluster)
    cluster.refused.clear()
    cluster.indexes[index.name].documents["0"]["digest"] = "other"

    assert retry(project, index).state == IndexState.FAILED
    assert index.failure == "Passage 1 in the index is not that of the snapshot. Drop the index and load it again."


def test_an_index_that_somebody_else_made_is_neither_filled_nor_dropped(project, snapshot, cluster):
    name = f"karat-{snapshot.digest[:40]}"
    cluster.indexes[name] = Index({"properties": {}}, {})
    index = load(project, snapshot, cluster)

    assert "this project did not load it" in index.failure
    assert drop(project, index).state == IndexState.FAILED
    assert "so it stays" in index.job.error
    assert cluster.indexes[name].documents == {}


def test_a_cancelled_load_can_be_dropped(project, snapshot, cluster):
    index = request(project, snapshot, cluster)
    with pytest.raises(LoadRefused, match=r"is being loaded\. Cancel its job first"):
        drop_index(index=index, actor=lead_of(project), at=AT)
    cancel_job(job_id=index.job_id, actor=lead_of(project), at=AT)
    index.refresh_from_db()

    assert (index.state, index.failure) == (IndexState.FAILED, "It was cancelled.")
    assert drop(project, index).state == IndexState.DROPPED


def test_after_a_drop_the_snapshot_can_be_loaded_again_and_old_systems_search_it(project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    system = search_system(project, index)
    drop(project, index)

    with pytest.raises(RunRefused, match="is not loaded any more"):
        make_run(project, snapshot, system)
    assert load(project, snapshot, cluster).pk != index.pk
    assert make_run(project, snapshot, system).state == "complete"


def test_a_load_that_was_overtaken_by_a_drop_does_nothing(project, snapshot, cluster):
    cluster.refused.add("3")
    index = load(project, snapshot, cluster)
    load_job = index.job_id
    drop(project, index)
    retry_job(job_id=load_job, actor=lead_of(project), at=AT)
    run_jobs()

    index.refresh_from_db()
    assert index.state == IndexState.DROPPED
    assert "a later job works on it" in Job.objects.get(pk=load_job).error
    assert cluster.indexes == {}


def test_an_index_in_use_is_not_dropped(project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    system = search_system(project, index)
    run = request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT)

    with pytest.raises(LoadRefused, match=f"The run {run.tag} searches"):
        drop_index(index=index, actor=lead_of(project), at=AT)


def test_a_drop_that_is_asked_for_twice_is_one(project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    first = drop_index(index=index, actor=lead_of(project), at=AT)

    assert drop_index(index=index, actor=lead_of(project), at=AT).job_id == first.job_id


def test_a_system_searches_only_the_snapshot_that_was_loaded(project, snapshot, cluster):
    system = search_system(project, load(project, snapshot, cluster))
    other = make_snapshot(project, {"a": "another text"}, name="Autumn")

    with pytest.raises(RunRefused, match=r"searches the passages of another snapshot\. Load Autumn too"):
        make_run(project, other, system)


def test_a_search_is_one_system(project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    system = search_system(project, index)

    assert system.name == f"BM25 in OpenSearch, {snapshot.reference}"
    with pytest.raises(SystemRefused, match="already has exactly this configuration"):
        search_system(project, index, name="Again")


def test_requests_sign_in_with_a_secret_of_the_project(project, snapshot, cluster):
    cluster.password = "sesame"
    save_secret(project=project, name="cluster", value="sesame", actor=lead_of(project), at=AT)
    index = load(project, snapshot, cluster, auth={"kind": "api_key", "secret": "cluster"})

    assert index.state == IndexState.READY
    assert make_run(project, snapshot, search_system(project, index)).state == "complete"
    events = Event.objects.filter(project=project).values_list("after", flat=True)
    assert "sesame" not in str([*events, index.auth, index.job.params])


def test_a_wrong_secret_is_said(project, snapshot, cluster):
    cluster.password = "sesame"

    assert "does not accept the secret (401)" in load(project, snapshot, cluster).failure


def test_a_server_inside_the_network_is_not_reached(project, snapshot, cluster):
    with override_settings(OUTBOUND_ALLOW=()):
        index = load(project, snapshot, cluster)

    assert "inside the network of this server" in index.failure
    assert cluster.asked == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "ftp://search.example"}, "neither https"),
        ({"url": "https://search.example/?pretty"}, "Give the address of the cluster"),
        ({"url": "https://search.example/" + "a" * 1_000}, "longer than 1,000"),
        ({"auth": {"kind": "bearer", "secret": "none"}}, "no secret called none"),
        ({"auth": {"kind": "bearer"}}, "Choose the secret"),
    ],
)
def test_a_load_that_cannot_work_is_refused(project, snapshot, options, words):
    values = {"url": "https://search.example", **options}

    with pytest.raises(LoadRefused, match=words):
        load_snapshot(project=project, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT, **values)


def test_vectors_come_from_a_dense_system_alone(project, snapshot, cluster):
    with pytest.raises(LoadRefused, match="BM25 has no vectors to load"):
        request(project, snapshot, cluster, dense_id=make_system(project).pk)


def test_a_snapshot_is_loaded_once_at_an_address(project, snapshot, cluster):
    index = request(project, snapshot, cluster)
    with pytest.raises(LoadRefused, match="is being loaded there already"):
        request(project, snapshot, cluster)
    run_jobs()

    with pytest.raises(LoadRefused, match="is loaded there already"):
        request(project, snapshot, cluster)
    twin = LoadedIndex.objects.get(pk=index.pk)
    twin.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        twin.save()


@pytest.mark.parametrize("state", IndexState.values)
@pytest.mark.parametrize("step", Step.values)
def test_an_index_takes_the_steps_of_its_table_and_no_other(project, snapshot, state, step):
    target = workflow.INDEX_EDGES.get((state, step))
    index = LoadedIndex.objects.create(
        project=project, snapshot=snapshot, url="https://a.example", name="karat-1", mark="m", state=state,
        server="opensearch", server_version="3.1.0", ready_at=AT if state == "ready" else None,
        dropped_at=AT if state == "dropped" else None, created_by=lead_of(project), created_at=AT,
    )  # fmt: skip
    changes = {Step.COMPLETE: {"ready_at": AT}, Step.DROP: {"dropped_at": AT}}.get(Step(step), {})

    if target is None:
        with pytest.raises(IllegalStep):
            workflow.move_index(index.pk, Step(step), actor=None, at=AT, **changes)
    else:
        assert workflow.move_index(index.pk, Step(step), actor=None, at=AT, **changes).state == target
        event = Event.objects.filter(object_type="retrieval.loadedindex").latest("pk")
        assert (event.before["state"], event.after["state"]) == (state, target)
