"""Negatives of a version over pages, files, the API and the command line."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.corpus.core.near_duplicates import signatures
from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.enums import VersionState
from apps.judging.actions.rounds import open_round
from apps.judging.core.plan import Plan
from apps.queries.actions.sources import revoke_permission
from apps.reports.core.negatives import NegativesChoice
from apps.reports.selectors import negatives
from apps.reports.selectors.negatives import NegativesProposal
from apps.retrieval.execution.indexes import open_signatures
from tests.evaluation.factories import make_scene
from tests.factories import AT, make_member
from tests.judging.factories import make_guideline
from tests.retrieval.factories import make_pool

pytestmark = pytest.mark.django_db
SCENE = {"queries": 4}
# GOOD ranks a (3), b (1), c (0), d (nobody judged it); é stands in no run.


def page_url(scene):
    return reverse("reports:negatives", args=[scene.project.slug, scene.version.pk])


def file_url(scene):
    return reverse("reports:negatives-file", args=[scene.project.slug, scene.version.pk])


def records(answer) -> list[dict]:
    assert answer.status_code == 200
    return [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]


def params_of(scene, **more):
    return {"run": scene.runs["better"].pk, **more}


def test_the_file_by_hand(scene, client):
    client.force_login(scene.lead)

    found = records(client.get(file_url(scene), params_of(scene, split="")))

    assert [one["query_id"] for one in found] == ["Q01", "Q02", "Q03", "Q04"]
    for one in found:
        assert one["query"] == f"What about {one['query_id']}"
        assert one["positive"] == ["a", "b"]
        assert one["negatives"] == [
            {"block_id": "c", "kind": "hard", "basis": "judged", "rank": 3, "grade": 0},
            {"block_id": "é", "kind": "easy", "basis": "assumed", "rank": None, "grade": None},
        ]


def test_the_csv_has_a_row_for_each_block_and_runs_nothing_in_a_spreadsheet(client):
    scene = make_scene(qrels={"=Q1": {"a": 1, "c": 0}}, test_share=0.0, runs={"better": {"=Q1": {"a": 2.0, "c": 1.0}}})
    client.force_login(scene.lead)

    answer = client.get(file_url(scene), params_of(scene, format="csv", easy=0))

    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert rows == [
        ["query_id", "query", "split", "block_id", "kind", "basis", "rank", "grade"],
        ["'=Q1", "What about =Q1", "dev", "a", "positive", "judged", "", "1"],
        ["'=Q1", "What about =Q1", "dev", "c", "hard", "judged", "2", "0"],
    ]
    assert answer["Content-Disposition"] == 'attachment; filename="handbook-v1-dev-negatives.csv"'


def test_everybody_gets_dev_and_only_leads_get_test(scene, client):
    viewer = make_member(scene.project, Role.VIEWER)
    client.force_login(viewer)

    mine = records(client.get(file_url(scene), params_of(scene)))

    assert {one["split"] for one in mine} == {"dev"}
    for side in ("test", ""):
        assert client.get(file_url(scene), params_of(scene, split=side)).status_code == 403
    client.force_login(scene.lead)
    assert {one["split"] for one in records(client.get(file_url(scene), params_of(scene)))} == {"dev"}
    assert {one["split"] for one in records(client.get(file_url(scene), params_of(scene, split="test")))} == {"test"}
    exported = Event.objects.filter(action="version.exported").order_by("pk")
    assert [(event.after["formats"], event.after["splits"]) for event in exported] == [
        (["negatives-jsonl"], ["dev"]),
        (["negatives-jsonl"], ["dev"]),
        (["negatives-jsonl"], ["test"]),
    ]


def test_a_look_at_test_is_warned_of_and_on_the_record(scene, client):
    client.force_login(scene.lead)

    assert "reveal the test split" not in client.get(page_url(scene)).content.decode()
    assert "reveal the test split" in client.get(page_url(scene), {"split": "test"}).content.decode()

    looks = Event.objects.filter(action="version.test_seen")
    assert [event.after["what"] for event in looks] == ["negatives of test"]


def test_whoever_is_about_to_judge_gets_nothing(scene, client):
    annotator = make_member(scene.project, Role.ANNOTATOR)
    client.force_login(annotator)
    assert client.get(file_url(scene), params_of(scene)).status_code == 200
    open_round(
        project=scene.project,
        actor=scene.lead,
        pool=make_pool(scene.project, scene.snapshot, run_ids=[scene.runs["base"].pk]),
        guideline=make_guideline(scene.project),
        annotators=[annotator],
        plan=Plan(judges=1),
        at=AT,
    )

    assert client.get(file_url(scene), params_of(scene)).status_code == 403
    words = client.get(page_url(scene)).content.decode()
    assert "You are judging in" in words
    assert "Q01" not in words


def test_a_version_that_is_not_released_is_for_leads(client):
    scene = make_scene(queries=4, state=VersionState.FROZEN)

    client.force_login(make_member(scene.project, Role.VIEWER))
    assert client.get(page_url(scene)).status_code == 404
    assert client.get(file_url(scene), params_of(scene)).status_code == 404

    client.force_login(scene.lead)
    assert client.get(page_url(scene)).status_code == 200


def test_queries_whose_permission_was_revoked_are_left_out(scene, client):
    client.force_login(scene.lead)
    source = scene.version.queries.first().query.source
    permission = source.permissions.get()
    revoke_permission(permission_id=permission.pk, reason="asked to", actor=scene.lead, at=timezone.now())

    assert records(client.get(file_url(scene), params_of(scene, split=""))) == []
    assert "are left out" in client.get(page_url(scene)).content.decode()


def proposal_for(scene, splits, choice) -> NegativesProposal:
    runs = scorable_runs(scene.version)
    return NegativesProposal(scene.version, scene.runs["better"], runs, splits, choice, AT)


def test_near_duplicates_of_relevant_blocks_are_left_out_once_they_are_known(scene, client):
    """All texts here are "Text of block a", "Text of block b" …: one word of four differs, so no two are alike."""
    client.force_login(scene.lead)
    assert "near-duplicates of this snapshot is not built" in client.get(page_url(scene)).content.decode()

    open_signatures(scene.snapshot)

    assert "near-duplicates of this snapshot is not built" not in client.get(page_url(scene)).content.decode()
    same = signatures(["the very same words"] * 5)
    proposal = proposal_for(scene, ["dev"], NegativesChoice())
    proposal.__dict__["signatures"] = same
    assert [one.negatives for one in proposal.every()] == [[], []]


@pytest.mark.parametrize(
    ("more", "status"),
    [({"format": "xml"}, 409), ({"hard": "many"}, 409), ({"depth": 0}, 409), ({"run": 0}, 409), ({"seed": -1}, 409)],
)
def test_a_wrong_choice_is_refused(scene, client, more, status):
    client.force_login(scene.lead)

    assert client.get(file_url(scene), params_of(scene) | more).status_code == status


def test_parts_make_no_difference(scene, monkeypatch):
    proposal = proposal_for(scene, ["dev", "test"], NegativesChoice(easy=1))
    whole = list(negatives.lines(proposal, "jsonl"))

    monkeypatch.setattr(negatives, "AT_ONCE", 1)

    assert list(negatives.lines(proposal, "jsonl")) == whole
    assert len(whole) == 4


def test_the_page_runs_as_many_database_queries_for_eight_queries_as_for_four(client):
    counts = []
    for queries in (4, 8):
        scene = make_scene(queries=queries, test_share=0.0)
        client.force_login(scene.lead)
        client.get(page_url(scene))
        with CaptureQueriesContext(connection) as statements:
            assert client.get(page_url(scene)).status_code == 200
        counts.append(len(statements))

    assert counts[0] == counts[1]


def test_the_command_line_writes_the_same(scene, client, tmp_path, capsys):
    client.force_login(scene.lead)
    served = b"".join(client.get(file_url(scene), params_of(scene)).streaming_content).decode()
    path = tmp_path / "negatives.jsonl"
    words = ["--project", scene.project.slug, "--run", "better"]

    call_command("export_negatives", *words, "--out", str(path))
    call_command("export_negatives", *words)

    assert path.read_text() == served
    assert capsys.readouterr().out.endswith(served)
    for wrong in ([*words[:3], "nobody"], [*words, "--out", str(path)], [*words, "--hard", "999"]):
        with pytest.raises(CommandError):
            call_command("export_negatives", *wrong)
