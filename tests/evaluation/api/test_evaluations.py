from copy import deepcopy
from datetime import timedelta

import pytest

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.audit.models import Event
from apps.evaluation.models import Evaluation
from tests.evaluation.factories import make_scene, score
from tests.factories import AT, make_member
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
MONTHS = timedelta(days=365)


@pytest.fixture(scope="module")
def _scene_with_test(module_rows):
    scene = make_scene()
    assert scene.version.queries.filter(split="test").exists()
    return scene


@pytest.fixture
def scene_with_test(db, _scene_with_test):
    return deepcopy(_scene_with_test)


def address(scene, *parts) -> str:
    return "/".join(["/api/v1/projects", scene.project.slug, "evaluation", *map(str, parts), ""])


def request_body(scene, **values) -> dict:
    return {"run": scene.runs["better"].pk, "version": scene.version.pk, "measures": "AP RR", **values}


def post(client, scene, **values):
    return client.post(address(scene), request_body(scene, **values), content_type="application/json")


def test_a_lead_requests_scores_and_reads_them(client):
    scene = make_scene()
    client.force_login(scene.lead)

    asked = post(client, scene, split="dev")
    run_jobs()
    found = client.get(address(scene, asked.json()["id"]))

    assert asked.status_code == 202
    assert asked.json()["scores"] == []
    assert [row["measure"] for row in found.json()["scores"]] == ["AP", "RR", "Judged@10"]
    assert found.json()["version_digest"] == scene.version.digest


def test_requesting_again_answers_200_with_the_same_evaluation(client):
    scene = make_scene()
    evaluation = score(scene, "better", measures="AP RR")
    client.force_login(scene.lead)

    again = post(client, scene, split="")

    assert (again.status_code, again.json()["id"]) == (200, evaluation.pk)


def test_without_a_split_the_sealed_side_is_not_scored(client):
    scene = make_scene()
    client.force_login(scene.lead)

    asked = post(client, scene)

    assert (asked.json()["split"], asked.json()["test_looks"]) == ("dev", 0)


@pytest.mark.parametrize("split", ["test", ""])
def test_each_request_for_the_sealed_side_is_counted_as_a_look(client, scene_with_test, split):
    client.force_login(scene_with_test.lead)

    asked = [post(client, scene_with_test, split=split).json() for _ in range(2)]

    assert [one["test_looks"] for one in asked] == [1, 2]
    seen = Event.objects.filter(action="version.test_seen").values_list("after__what", "actor")
    assert list(seen) == [("scores of better", scene_with_test.lead.pk)] * 2


@pytest.mark.parametrize(
    ("values", "status", "code"),
    [
        ({"measures": "NDGC@10"}, 409, "bad_measure"),
        ({"measures": "alpha_nDCG@10"}, 409, "bad_measure"),
        ({"split": "train"}, 400, "invalid"),
        ({"run": "x"}, 400, "invalid"),
        ({"run": 10**6}, 404, "not_found"),
        ({"version": 10**6}, 404, "not_found"),
        ({"seed": -1}, 400, "invalid"),
    ],
)
def test_a_wrong_request_is_a_problem(client, values, status, code):
    scene = make_scene()
    client.force_login(scene.lead)

    response = post(client, scene, **values)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not Evaluation.objects.exists()


def test_no_query_is_named(client):
    scene = make_scene()
    evaluation = score(scene, "better")
    client.force_login(make_member(scene.project, Role.VIEWER))

    for found in (client.get(address(scene)), client.get(address(scene, evaluation.pk))):
        assert found.status_code == 200
        assert "Q01" not in found.content.decode()


def test_the_list_is_newest_first_and_goes_on(client, monkeypatch):
    monkeypatch.setattr("apps.evaluation.api.evaluations.PAGE_SIZE", 1)
    scene = make_scene()
    first, second = score(scene, "base"), score(scene, "better")
    client.force_login(scene.lead)

    page = client.get(address(scene)).json()
    rest = client.get(address(scene), {"before": page["next"]}).json()

    assert [row["id"] for row in page["results"]] == [second.pk]
    assert [row["id"] for row in rest["results"]] == [first.pk]
    assert rest["next"] is None


@pytest.mark.parametrize("before", ["x", "-1", "٣", "9" * 30])
def test_a_page_that_is_not_a_number_is_a_problem(client, before):
    scene = make_scene()
    client.force_login(scene.lead)

    assert client.get(address(scene), {"before": before}).status_code == 400


def test_the_list_runs_as_many_queries_for_one_as_for_three(client, django_assert_max_num_queries):
    scene = make_scene()
    client.force_login(scene.lead)
    counts = []
    for wanted in (["AP"], ["RR", "P@5"]):
        for name in wanted:
            score(scene, "base", measures=name)
        with django_assert_max_num_queries(50) as seen:
            client.get(address(scene))
        counts.append(len(seen))

    assert counts[0] == counts[1]


def test_a_token_needs_the_scope(client):
    scene = make_scene()
    headers = {}
    for scope in (Scope.RUNS_READ, Scope.RUNS_WRITE):
        made = create_token(project=scene.project, user=scene.lead, name=scope, scopes=[scope], at=AT, lasts=MONTHS)
        headers[scope] = {"Authorization": f"Bearer {made[1]}"}
    body = request_body(scene)

    read = client.get(address(scene), headers=headers[Scope.RUNS_WRITE])
    write = client.post(address(scene), body, content_type="application/json", headers=headers[Scope.RUNS_READ])

    assert (read.status_code, write.status_code) == (403, 403)
    assert client.get(address(scene), headers=headers[Scope.RUNS_READ]).status_code == 200
