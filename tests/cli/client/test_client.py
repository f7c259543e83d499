"""The client against a live server: what docs/client.md shows, lists in pages, errors, and the two commands."""

import html
import json
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Project
from apps.cli.client import client as module
from apps.cli.client import karat as distributed
from apps.cli.client.client import BadInput, Client, Denied, FaultyFile, KaratError, NotThere, Rejected
from apps.config import commandline
from apps.corpus.models import Import
from apps.goldsets.enums import VersionState
from apps.jobs.models import Upload
from apps.judging.models import Round
from apps.queries.models import Query
from apps.retrieval.models import Run
from tests.conftest import REPO
from tests.evaluation.factories import BAD, GOOD, Scene, make_scene, qrels_of, score
from tests.evaluation.hits import places, run_that
from tests.factories import EVERY_SCOPE, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.judging.archives import zipped
from tests.review.elsewhere import REASON, entry
from tests.running_jobs import run_jobs
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLES = re.findall(r"```python\n(.*?)```", (REPO / "docs/client.md").read_text(), re.S)

COLLECTION = {
    "corpus.jsonl": b'{"_id": "d1", "text": "Supper is at six."}\n',
    "queries.jsonl": b'{"_id": "Q91", "text": "supper"}\n',
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nQ91\td1\t1\n",
}


@pytest.fixture
def scene() -> Scene:
    return make_scene(
        queries=10, runs={"base": dict.fromkeys(qrels_of(10), BAD), "live": dict.fromkeys(qrels_of(10), GOOD)}
    )


def token_of(scene: Scene, *scopes: str) -> str:
    return token_in(scene.project, *scopes)


def token_in(project: Project, *scopes: str) -> str:
    made = {"name": "CI", "scopes": scopes or EVERY_SCOPE, "at": timezone.now(), "lasts": timedelta(days=1)}
    return create_token(project=project, user=lead_of(project), **made)[1]


@pytest.fixture
def client(scene, live_server, monkeypatch):
    """A client that works the waiting jobs off whenever it would wait for them."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: run_jobs()))
    with Client(live_server.url, scene.project.slug, token=token_of(scene)) as made:
        yield made


def test_what_the_documents_show_works(scene, client, live_server, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_TOKEN", token_of(scene))
    monkeypatch.setitem(__import__("sys").modules, "karat", distributed)
    (tmp_path / "more-queries.csv").write_text("query_id,text\nQ90,when is supper\n")
    (tmp_path / "scifact.zip").write_bytes(zipped(COLLECTION))
    score(scene, "live", split="dev", measures="nDCG@10 RR")
    shown = "\n".join(EXAMPLES).replace(
        '"http://localhost:8000", "hut"', f'"{live_server.url}", "{scene.project.slug}"'
    )
    shown = shown.replace("text-1@1", scene.snapshot.reference)
    documented: dict = {}

    exec(shown, documented)

    printed = capsys.readouterr().out
    assert "handbook v1 released" in printed
    assert "nDCG@10" in printed
    assert [row["tag"] for row in documented["board"]] == ["live", "dense-2"]
    assert documented["comparison"]["verdict"] in printed
    assert [row["query"] for row in documented["drops"]]
    assert "404 not_found" in printed
    assert documented["done"]["plan"]["counts"]["new"] == 1
    assert "qrels/test.tsv 1 judgement: 1 new" in printed
    assert Round.objects.latest("pk").name == "Split test"
    assert documented["graded"] == sorted(qrels_of(10))
    assert documented["evaluation"]["scored_at"] is not None
    assert (tmp_path / "handbook-v1.zip").stat().st_size > 0
    documented["client"].close()


def test_a_list_is_fetched_page_by_page_to_its_end(scene, client, monkeypatch):
    asked = []
    get = client.get
    monkeypatch.setattr(client, "get", lambda path, **params: asked.append(params) or get(path, **params))

    found = [row["query_id"] for row in client.pages("queries/", limit=3)]

    assert found == sorted(qrels_of(10))
    assert len(asked) == 4
    assert {row["tag"] for row in client.runs()} == {"base", "live"}


def test_a_run_pushed_twice_is_one_run(scene, client):
    run = {"snapshot": scene.snapshot.reference, "system": "dense", "tag": "d", "trec": "Q01 Q0 a 1 2.0 d\n"}

    assert client.push(**run)["id"] == client.push(**run)["id"]
    assert Run.objects.filter(tag="d").count() == 1


def test_an_error_says_its_kind_its_code_and_its_mistakes(scene, client, live_server):
    run = {"snapshot": scene.snapshot.reference, "system": "dense", "tag": "d"}
    client.push(**run, trec="Q01 Q0 a 1 2.0 d\n", commit="1")

    with pytest.raises(Rejected) as rejected:
        client.push(**run, trec="Q01 Q0 a 1 2.0 d\n", commit="2")
    with pytest.raises(BadInput) as bad:
        client.push(**run, trec="Q01 Q0 a 1 high d\n")
    with pytest.raises(NotThere):
        client.version("handbook/v7")
    # Each is closed: a connection that stays open is one that the next test's server still serves.
    with pytest.raises(NotThere), Client(live_server.url, "another", token=token_of(scene)) as other:
        other.versions()
    with (
        pytest.raises(Denied, match="lacks the scope versions:read"),
        Client(live_server.url, scene.project.slug, token=token_of(scene, Scope.RUNS_READ)) as narrow,
    ):
        narrow.versions()
    with (
        pytest.raises(Denied) as nobody,
        Client(live_server.url, scene.project.slug, token="karat_nothing") as stranger,
    ):
        stranger.versions()

    assert rejected.value.code == "tag_taken"
    assert bad.value.errors
    assert rejected.value.request_id
    assert nobody.value.status == 401


@pytest.mark.parametrize("name", ["handbook", "handbook/1", "handbook/v", "/v1"])
def test_a_name_of_no_version_is_said_before_anything_is_sent(name):
    with pytest.raises(KaratError, match="is no name of a version"):
        Client("http://localhost:9", "hut", token="").version(name)


def test_an_export_is_whole_or_not_there(scene, client, tmp_path):
    path = client.pull("handbook/v1", tmp_path / "gold.zip", form="jsonl")

    assert [file.name for file in tmp_path.iterdir()] == ["gold.zip"]
    with pytest.raises(BadInput, match="no complete run"):
        client.pull("handbook/v1", tmp_path / "runs.zip", form="letor", runs=["sparse", "of May"])
    with pytest.raises(NotThere):
        client.pull("handbook/v9", tmp_path / "none.zip")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


# Scores --------------------------------------------------------------------------------------------------------------


def test_scores_are_read_as_a_leaderboard_a_comparison_and_drops(scene, client):
    better, worse = (score(scene, tag, split="dev", measures="RR@10 P@1").pk for tag in ("live", "base"))

    board = client.leaderboard("handbook/v1", measure="P@1")
    compared = client.compare(better, worse, measure="P@1")
    drops = client.drops(better, worse, measure="P@1")

    assert [row["tag"] for row in board] == ["live", "base"]
    assert board.columns[:4] == ("tag", "run", "evaluation", "P@1")
    assert client.leaderboard("handbook/v1", split="test") == []
    assert {row["measure"] for row in compared["measures"]} >= {"RR@10", "P@1"}
    assert compared["verdict"] in html.unescape(compared._repr_html_())
    assert [row["change"] for row in drops] == [-1.0] * len(drops)
    assert drops
    with pytest.raises(KaratError, match=r"No run has a score of P@7 on handbook/v1, dev\."):
        client.leaderboard("handbook/v1", measure="P@7")


def test_the_misses_of_a_run_on_questions_are_listed_with_what_came_first(live_server, monkeypatch):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    run = run_that(version, "ours", places(version, 1, 3, 0))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: run_jobs()))
    project = version.gold_set.project

    with Client(live_server.url, project.slug, token=token_in(project)) as client:
        scores = client.score(run.pk, f"{version.gold_set.slug}/v{version.number}", hit="block", measures="Success@2")
        misses = client.misses(scores["id"])

    assert [row["triple"] for row in misses] == ["T-0002", "T-0003"]
    assert misses[0]["first"]["text"][:40] in html.unescape(misses._repr_html_())


# Files ---------------------------------------------------------------------------------------------------------------


def test_a_file_with_mistakes_is_told_and_discarded(scene, client, tmp_path):
    path = tmp_path / "more.csv"
    path.write_text("query_id,text\nQ90,when is supper\nQ 91,breakfast\n")

    with pytest.raises(FaultyFile, match=r"more\.csv has 1 mistake\. Nothing was imported\.") as faulty:
        client.import_file("queries", path, format="csv")

    (error,) = faulty.value.errors
    assert (error["file"], error["line"], error["field"], error["value"]) == ("more.csv", 3, "query_id", "Q 91")
    assert (Import.objects.get().state, Upload.objects.get(kind="queries").state) == ("discarded", "discarded")


def test_a_preview_changes_nothing_until_it_is_confirmed(scene, client, tmp_path):
    path = tmp_path / "more.csv"
    path.write_text("query_id,text\nQ90,when is supper\n")

    found = client.preview_import("queries", path)

    assert (found["state"], found["plan"]["counts"]["new"]) == ("ready", 1)
    assert not Query.objects.filter(outside_id="Q90").exists()
    assert client.confirm_import(found)["state"] == "applied"
    assert Query.objects.filter(outside_id="Q90").exists()
    with pytest.raises(Rejected, match="there is nothing to confirm"):
        client.confirm_import(found)
    assert client.discard_import(client.preview_import("queries", path))["state"] == "discarded"


def test_a_set_that_was_reviewed_elsewhere_is_taken_and_a_sample_drawn(live_server, monkeypatch, tmp_path):
    project, path = make_team(reviewers=2), tmp_path / "gold.jsonl"
    path.write_text("".join(f"{json.dumps(entry())}\n" for _ in range(3)))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: run_jobs()))
    monkeypatch.setattr("apps.review.actions.elsewhere.MOST_AT_ONCE", 2)

    with Client(live_server.url, project.slug, token=token_in(project)) as client:
        found = client.import_file("triples", path)
        taken = client.take_elsewhere(found, REASON)  # by a job
        drawn = client.draw_elsewhere(found, 2)

    assert (taken["set"]["taken"], taken["set"]["drawn"], drawn["set"]["drawn"]) == (3, 0, 2)


def test_a_large_file_is_waited_for(scene, client, tmp_path, monkeypatch):
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.ZIP_AT_ONCE_BYTES", 1)
    monkeypatch.setattr("apps.corpus.actions.imports.APPLY_AT_ONCE_ROWS", 1)
    path = tmp_path / "supper.zip"
    path.write_bytes(zipped(COLLECTION))

    done = client.import_file("collection", path, name="Supper", skip_unknown=True)

    assert (done["state"], done["options"]["skip_unknown"], done["job"] is not None) == ("applied", True, True)


def test_what_cannot_be_sent_is_said_before_anything_is(tmp_path):
    client = Client("http://localhost:9", "hut", token="")

    with pytest.raises(KaratError, match="is no kind of import"):
        client.import_file("passages", tmp_path / "a.csv")
    with pytest.raises(KaratError, match="is a folder"):
        client.import_file("queries", tmp_path)
    with pytest.raises(FileNotFoundError):
        client.import_file("queries", tmp_path / "none.csv")


# The commands ------------------------------------------------------------------------------------------------------


def command(scene, live_server, *words: str) -> int:
    return commandline.main([*words, "--server", live_server.url, "--project", scene.project.slug])


def test_a_version_is_pulled_and_verified(scene, client, live_server, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KARAT_TOKEN", token_of(scene, Scope.VERSIONS_READ))
    out = str(tmp_path / "gold.zip")

    assert command(scene, live_server, "pull", "handbook/v1", "--out", out) == 0
    assert commandline.main(["verify", out]) == 0
    assert command(scene, live_server, "pull", "handbook/v9", "--out", out) == 3
    monkeypatch.delenv("KARAT_TOKEN")
    assert command(scene, live_server, "pull", "handbook/v1", "--out", out) == 2
    assert "KARAT_TOKEN holds no token" in capsys.readouterr().err


def test_a_run_is_pushed_and_its_scores_printed(scene, client, live_server, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KARAT_TOKEN", token_of(scene))
    (tmp_path / "mine.run").write_text("".join(f"{query} Q0 a 1 2.0 mine\n" for query in qrels_of(10)))
    about = ["--snapshot", scene.snapshot.reference, "--system", "dense", "--tag", "mine"]

    pushed = command(scene, live_server, "push", str(tmp_path / "mine.run"), *about, "--score", "handbook/v1")
    printed = capsys.readouterr().out
    (tmp_path / "mine.run").write_text("Q01 Q0 a 1 high mine\n")
    bad = command(scene, live_server, "push", str(tmp_path / "mine.run"), *about)

    assert (pushed, bad) == (0, 2)
    assert "mine of dense, 10 queries." in printed
    assert re.search(r"^nDCG@10 +\d\.\d{4}", printed, re.M)
    assert "line 1, score" in capsys.readouterr().err


def test_without_a_server_the_command_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KARAT_TOKEN", "karat_x")
    monkeypatch.setattr(module, "FIRST_WAIT", 0.0)
    words = [
        "pull",
        "handbook/v1",
        "--out",
        str(tmp_path / "a.zip"),
        "--server",
        "http://127.0.0.1:9",
        "--project",
        "hut",
    ]

    assert commandline.main(words) == 4
    assert "No answer from http://127.0.0.1:9" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
