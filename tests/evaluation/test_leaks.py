"""Results that a role may not see: counted with intervals, listed, and held to by a gate."""

import csv
import io

import pytest
from django.db import DatabaseError, transaction

from apps.metrics.measures.diversity import is_closed_to
from apps.metrics.statistics.proportions import none_of
from apps.retrieval.models import Run
from apps.retrieval.rules import RunRefused
from tests.evaluation.factories import GOOD, add_run, make_scene, score
from tests.gates.factories import add_gate, words

pytestmark = pytest.mark.django_db

METADATA = {"a": {"audience": ["Staff", "board"]}, "b": {"audience": "guest; staff"}, "c": {"audience": []}}
OPEN = {"b": 9.0, "c": 8.0}
BEHIND = {"b": 9.0, "c": 8.0, "d": 7.0, "a": 6.0}


@pytest.fixture
def scene():
    """Two queries: the run shows the closed passage a first for one, and fourth for the other."""
    made = make_scene(queries=2, test_share=0.0, block_metadata=METADATA, runs={})
    made.runs["run"] = add_run(made, "run", {"Q01": GOOD, "Q02": BEHIND}, as_role="guest")
    return made


def figures(evaluation):
    return {one.measure: (one.mean, one.n) for one in evaluation.scores.all()}


def address(evaluation, name="leaks"):
    return f"/p/{evaluation.project.slug}/evaluation/{evaluation.pk}/{name}/"


@pytest.mark.parametrize(
    ("role", "audience", "closed"),
    [
        ("guest", "", False),
        ("guest", " ; ", False),
        ("guest", "staff", True),
        ("Guest", "staff, guest", False),
        ("guest", "staff|GUEST", False),
        ("guest", "guests", True),
    ],
)
def test_a_role_may_see_what_names_it_or_nobody(role, audience, closed):
    assert is_closed_to(role, audience) == closed


def test_a_run_as_a_role_is_measured_by_what_it_may_not_see(scene):
    evaluation = score(scene, "run")

    found = figures(evaluation)
    assert found["Leaks(role='guest')@10"] == (0.25, 2), "one of four results, for each of two queries"
    assert found["AnyLeak(role='guest')@10"] == (1.0, 2)
    assert "Leaks(role='guest')@10: 4 of 8 results have no audience and are open to everybody." in evaluation.left_out


def test_a_cutoff_and_another_role_are_measured_where_they_are_named(scene):
    measures = "Leaks(role='guest')@1 AnyLeak(role='guest')@1 AnyLeak(role='STAFF')@4"

    found = figures(score(scene, "run", measures=measures))

    assert [found[name] for name in measures.split()] == [(0.5, 2), (0.5, 2), (0.0, 2)]


def test_the_page_and_the_file_list_the_results_that_leak(scene, client):
    evaluation = score(scene, "run", measures="Leaks(role='guest')@3 AnyLeak(role='guest')@3 nDCG@10")
    client.force_login(scene.lead)

    page = client.get(address(evaluation)).content.decode()
    rows = list(csv.reader(io.StringIO(client.get(address(evaluation), {"format": "csv"}).content.decode("utf-8-sig"))))

    assert "1 result that guest may not see" in page
    assert "This run searched as guest." in page
    assert "Staff; board" in page
    assert rows == [["query", "rank", "block", "audience", "role"], ["Q01", "1", "a", "Staff; board", "guest"]]
    above = client.get(f"/p/{scene.project.slug}/evaluation/{evaluation.pk}/").content.decode()
    assert f'href="{address(evaluation)}?measure=' in above


def test_where_none_leaks_the_page_says_how_many_may(scene, client):
    scene.runs["clean"] = add_run(scene, "clean", dict.fromkeys(("Q01", "Q02"), OPEN), as_role="guest")
    evaluation = score(scene, "clean")
    client.force_login(scene.lead)

    page = words(client.get(address(evaluation)))

    assert "0 results that guest may not see" in page
    assert "None of 2 queries leaked: with 95 % confidence, fewer than 77.6 % of such queries do." in page
    assert none_of(2) == pytest.approx(1 - 0.05**0.5)
    assert none_of(300) == pytest.approx(3 / 300, rel=0.01)


@pytest.mark.parametrize("times", [1, 3])
def test_the_page_takes_as_many_statements_for_three_queries_as_for_one(client, times, django_assert_num_queries):
    made = make_scene(queries=times, test_share=0.0, block_metadata=METADATA, runs={})
    made.runs["run"] = add_run(made, "run", {f"Q{n:02}": GOOD for n in range(1, times + 1)}, as_role="guest")
    evaluation = score(made, "run")
    client.force_login(made.lead)
    client.get(address(evaluation))

    with django_assert_num_queries(STATEMENTS):
        client.get(address(evaluation))


STATEMENTS = 11


def test_a_gate_holds_a_system_to_no_leaks():
    """The run that leaks fails; the one that does not passes, and the sentence says how sure that is."""
    made = make_scene(queries=8, test_share=0.0, block_metadata=METADATA, runs={})
    names = [f"Q{n:02}" for n in range(1, 9)]
    made.runs["run"] = add_run(made, "run", dict.fromkeys(names, GOOD), as_role="guest")
    gate = add_gate(made, at_least=None, at_most=0, figure="AnyLeak(role='guest')@10", name="No leaks")

    score(made, "run", measures="nDCG@10")
    add_run(made, "clean", dict.fromkeys(names, OPEN), as_role="guest", system="run")
    made.runs["clean"] = Run.objects.get(tag="clean")
    score(made, "clean", measures="nDCG@10")

    results = {one.evaluation.run.tag: (one.state, one.words) for one in gate.results.select_related("evaluation__run")}
    assert results["run"][0] == "failed"
    assert results["clean"][0] == "passed"
    assert "None of 8 queries leaked: with 95" in results["clean"][1]


def test_a_score_without_a_role_has_no_page_of_leaks(scene, client):
    evaluation = score(scene, "run", measures="nDCG@10")
    client.force_login(scene.lead)

    assert client.get(address(evaluation)).status_code == 404


def test_the_same_rankings_as_another_role_need_another_tag(scene):
    with pytest.raises(RunRefused, match="run is already here with these rankings, and searched as guest"):
        add_run(scene, "run", {"Q01": GOOD, "Q02": BEHIND}, as_role="staff")
    assert add_run(scene, "run", {"Q01": GOOD, "Q02": BEHIND}).pk == scene.runs["run"].pk


def test_a_run_is_for_one_role(scene):
    with pytest.raises(RunRefused, match="“guest, staff” is not one name"):
        add_run(scene, "other", {"Q01": GOOD}, as_role="guest, staff")


def test_the_role_of_a_complete_run_never_changes(scene):
    with pytest.raises(DatabaseError, match="the role of a complete run never changes"), transaction.atomic():
        Run.objects.filter(pk=scene.runs["run"].pk).update(as_role="staff")


def test_the_api_lists_what_leaks_and_takes_and_shows_the_role(scene, client):
    evaluation = score(scene, "run", measures="Leaks(role='guest')@3")
    client.force_login(scene.lead)
    root = f"/api/v1/projects/{scene.project.slug}"

    listed = client.get(f"{root}/evaluation/{evaluation.pk}/leaks/").json()
    body = {"snapshot": scene.snapshot.digest, "tag": "sent", "as_role": "staff"}
    rows = [{"query_id": "Q01", "block_id": "a", "score": 1.0}]
    sent = client.post(f"{root}/runs/", {**body, "rows": rows}, content_type="application/json").json()

    assert (listed["role"], listed["count"]) == ("guest", 1)
    assert listed["leaks"] == [{"query_id": "Q01", "rank": 1, "block_id": "a", "audience": "Staff; board"}]
    assert sent["run"]["as_role"] == "staff"


def test_a_note_in_the_ledger_leaves_the_role_as_it_is(scene, client):
    client.force_login(scene.lead)

    answer = client.post(f"/p/{scene.project.slug}/runs/run/{scene.runs['run'].pk}/", {"note": "Why", "commit": ""})

    run = Run.objects.get(pk=scene.runs["run"].pk)
    assert (answer.status_code, run.note, run.as_role) == (302, "Why", "guest")
