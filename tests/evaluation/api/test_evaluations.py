import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.evaluation.models import Evaluation
from tests.evaluation.factories import score
from tests.factories import make_member
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def address(scene, *parts) -> str:
    return "/".join(["/api/v1/projects", scene.project.slug, "evaluation", *map(str, parts), ""])


def request_body(scene, **values) -> dict:
    return {"run": scene.runs["better"].pk, "version": scene.version.pk, "measures": "AP RR", **values}


def post(client, scene, **values):
    return client.post(address(scene), request_body(scene, **values), content_type="application/json")


def test_a_lead_requests_scores_and_reads_them(client, scene):
    client.force_login(scene.lead)

    asked = post(client, scene)
    run_jobs()
    found, again = client.get(address(scene, asked.json()["id"])), post(client, scene)

    assert asked.status_code == 202
    assert (asked.json()["split"], asked.json()["test_looks"], asked.json()["scores"]) == ("dev", 0, [])
    assert (again.status_code, again.json()["id"]) == (200, asked.json()["id"])
    assert [row["measure"] for row in found.json()["scores"]] == ["AP", "RR", "Judged@10"]
    assert found.json()["version_digest"] == scene.version.digest


@pytest.mark.parametrize("split", ["test", ""])
def test_each_request_for_the_sealed_side_is_counted_as_a_look(client, scene, split):
    client.force_login(scene.lead)

    asked = [post(client, scene, split=split).json() for _ in range(2)]

    assert [one["test_looks"] for one in asked] == [1, 2]
    seen = Event.objects.filter(action="version.test_seen").values_list("after__what", "actor")
    assert list(seen) == [("scores of better", scene.lead.pk)] * 2


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
def test_a_wrong_request_is_a_problem(client, scene, values, status, code):
    client.force_login(scene.lead)

    response = post(client, scene, **values)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not Evaluation.objects.exists()


def test_no_query_is_named(client, scene):
    evaluation = score(scene, "better")
    client.force_login(make_member(scene.project, Role.VIEWER))

    for found in (client.get(address(scene)), client.get(address(scene, evaluation.pk))):
        assert found.status_code == 200
        assert "Q01" not in found.content.decode()


def test_the_list_is_newest_first_and_goes_on(client, scene, monkeypatch):
    monkeypatch.setattr("apps.evaluation.api.evaluations.PAGE_SIZE", 1)
    first, second = score(scene, "base"), score(scene, "better")
    client.force_login(scene.lead)

    page = client.get(address(scene)).json()
    rest = client.get(address(scene), {"before": page["next"]}).json()

    assert [row["id"] for row in page["results"]] == [second.pk]
    assert [row["id"] for row in rest["results"]] == [first.pk]
    assert rest["next"] is None


@pytest.mark.parametrize("before", ["x", "-1", "٣", "9" * 30])
def test_a_page_that_is_not_a_number_is_a_problem(client, scene, before):
    client.force_login(scene.lead)

    assert client.get(address(scene), {"before": before}).status_code == 400


def test_the_list_runs_as_many_queries_for_one_as_for_three(client, scene, django_assert_max_num_queries):
    client.force_login(scene.lead)
    counts = []
    for wanted in (["AP"], ["RR", "P@5"]):
        for name in wanted:
            score(scene, "base", measures=name)
        with django_assert_max_num_queries(50) as seen:
            client.get(address(scene))
        counts.append(len(seen))

    assert counts[0] == counts[1]
