"""The settings of a project over the API: read, changed one by one, its grades, archived and brought back."""

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.dashboard.api.settings import SettingsInput
from apps.dashboard.forms import SettingsForm
from tests.factories import lead_of
from tests.judging.factories import judge_all, make_round, people_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]


def read(client, project, **headers):
    return client.get(reverse("settings-api:settings", args=[project.slug]), **headers)


def send(client, project, body=None, *, to="settings", **headers):
    address = reverse(f"settings-api:{to}", args=[project.slug])
    return client.post(address, {} if body is None else body, content_type="application/json", **headers)


def test_everything_that_the_page_has_is_read_under_its_name(client, project):
    facts = read(client, project).json()

    assert set(SettingsForm.base_fields) <= set(facts)
    assert (facts["name"], facts["slug"]) == (project.name, project.slug)
    assert (facts["copied_run_limit"], facts["lit_terms"], facts["blocking_checks"]) == (6, True, [])
    assert (facts["freeze_relevant"], facts["archived_at"], facts["scale_refusal"]) == ("warn", None, None)
    assert [grade["name"] for grade in facts["scale"]] == [entry["name"] for entry in project.scale]


def test_one_setting_changes_and_the_others_stay(client, project):
    send(client, project, {"escalation_days": 3, "lit_terms": False})

    answer = send(client, project, {"name": "Handbook", "blocking_checks": [], "near_duplicate_limit": 0.9})

    project.refresh_from_db()
    assert answer.status_code == 200
    assert answer.json()["near_duplicate_limit"] == 0.9
    assert project.name == "Handbook"
    kept = {"escalation_days": 3, "lit_terms": False, "near_duplicate_limit": 0.9, "regression_bar": 0.1}
    assert {name: project.policies[name] for name in kept} == kept


def test_what_is_read_can_be_sent_back_and_changes_nothing(client, project):
    facts = read(client, project).json()
    changeable = {name: facts[name] for name in SettingsForm.base_fields}

    answer = send(client, project, changeable)

    assert answer.json() == facts
    assert not Event.objects.filter(action="project.changed").exists()


def test_a_step_for_test_is_set_and_emptied_again(client, project):
    assert send(client, project, {"test_step": 0.01}).json()["test_step"] == 0.01
    assert send(client, project, {"test_step": None}).json()["test_step"] is None
    assert send(client, project, {"test_step": 0}).status_code == 400


def test_a_change_is_on_record_with_who_made_it(client, project):
    send(client, project, {"escalation_days": 3})

    event = Event.objects.get(action="project.changed")
    assert event.actor == lead_of(project)
    assert (event.before["policies"]["escalation_days"], event.after["policies"]["escalation_days"]) == (7, 3)


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x" * 121},
        {"copied_run_limit": 1},
        {"copied_run_limit": 51},
        {"copied_run_limit": "many"},
        {"near_duplicate_limit": "NaN"},
        {"near_duplicate_limit": 2},
        {"blocking_checks": ["no-such-check"]},
        {"blocking_checks": "entailment"},
        {"review_assignment": "chance"},
        {"freeze_relevant": "maybe"},
        {"lit_terms": "perhaps"},
        {"review_guideline": None},
        {"escalation_day": 3},
        {"skipped_steps": ["freeze"]},
        {"slug": "other"},
        {"policies": {"escalation_days": 3}},
    ],
)
def test_a_setting_that_is_wrong_or_unknown_is_named_and_changes_nothing(client, project, body):
    before = read(client, project).json()

    answer = send(client, project, body)

    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == set(body)
    assert read(client, project).json() == before


def test_a_body_that_is_no_object_is_refused(client, project):
    assert send(client, project, ["name"]).status_code == 400


def test_a_body_has_the_limits_of_the_form():
    own = SettingsInput().fields

    assert list(own) == list(SettingsForm.base_fields)
    for name, field in SettingsForm.base_fields.items():
        for limit in ("min_value", "max_value", "max_length"):
            assert getattr(own[name], limit, None) == getattr(field, limit, None), name


def test_grades_are_set_while_nobody_has_graded(client, project):
    scale = [{"name": "No", "hint": "Of no use"}, {"grade": 1, "name": "Yes"}]

    answer = send(client, project, {"scale": scale}, to="scale")

    wanted = [{"grade": 0, "name": "No", "hint": "Of no use"}, {"grade": 1, "name": "Yes", "hint": ""}]
    project.refresh_from_db()
    assert answer.json()["scale"] == project.scale == wanted


def test_grades_that_somebody_gave_stay(client):
    round_ = make_round()
    project = round_.project
    judge_all(round_, people_of(round_)[0])
    client.force_login(lead_of(project))

    answer = send(client, project, {"scale": [{"name": "No"}, {"name": "Yes"}]}, to="scale")

    assert (answer.status_code, answer.json()["code"]) == (409, "scale_in_use")
    assert read(client, project).json()["scale_refusal"] == answer.json()["detail"]


@pytest.mark.parametrize(
    "scale",
    [
        [],
        [{"name": "Only"}],
        [{"name": str(grade)} for grade in range(7)],
        [{"name": ""}, {"name": "Yes"}],
        [{"name": "No"}, {"grade": 2, "name": "Yes"}],
        [{"grade": 1, "name": "Yes"}, {"grade": 0, "name": "No"}],
        [{"name": "x" * 41}, {"name": "Yes"}],
        "No, Yes",
    ],
)
def test_what_is_no_scale_is_refused(client, project, scale):
    answer = send(client, project, {"scale": scale}, to="scale")

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["scale"]


def test_a_project_is_archived_and_brought_back(client, project):
    archived = send(client, project, to="archive")
    again = send(client, project, to="archive")
    refused = send(client, project, {"name": "Other"})
    back = [send(client, project, to="bring-back") for _ in range(2)]

    assert archived.json()["archived_at"] is not None
    assert (again.status_code, refused.status_code) == (409, 409)
    assert (again.json()["code"], refused.json()["code"]) == ("archived", "archived")
    assert [(answer.status_code, answer.json()["archived_at"]) for answer in back] == [(200, None)] * 2
    assert Event.objects.filter(action="project.brought_back").count() == 1
