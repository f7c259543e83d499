import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.dashboard.actions import ScaleRefused, change_scale
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import judge_all, make_round, people_of

pytestmark = pytest.mark.django_db
POLICIES = {
    "copied_run_limit": "8",
    "near_duplicate_limit": "0.9",
    "calibrating_reviews": "30",
    "regression_bar": "0.05",
    "lit_terms": "on",
}
SCALE = [{"grade": 0, "name": "No", "hint": ""}, {"grade": 1, "name": "Yes", "hint": "Helps"}]


def url(project):
    return reverse("dashboard:settings", kwargs={"slug": project.slug})


def test_name_and_policies_are_saved_and_others_kept(client):
    project = make_project()
    project.policies["source_targets"] = {"kept": 1}
    project.save()
    client.force_login(lead_of(project))

    client.post(url(project), {"name": "Handbook", **POLICIES})

    project.refresh_from_db()
    assert project.name == "Handbook"
    assert project.policies["copied_run_limit"] == 8
    assert project.policies["source_targets"] == {"kept": 1}
    assert Event.objects.filter(project=project, action="project.changed").count() == 1


def test_numbers_out_of_range_are_told(client):
    project = make_project()
    client.force_login(lead_of(project))

    response = client.post(url(project), {"name": "Handbook", **POLICIES, "near_duplicate_limit": "7"})

    assert response.status_code == 400
    assert 'aria-invalid="true"' in response.content.decode()


def test_the_scale_can_be_set_before_anybody_graded(client):
    project = make_project()
    client.force_login(lead_of(project))

    client.post(url(project), {"form": "scale", "name_0": "No", "name_1": "Yes", "hint_1": "Helps"})

    project.refresh_from_db()
    assert project.scale == SCALE


def test_a_scale_with_a_gap_is_refused(client):
    project = make_project()
    client.force_login(lead_of(project))

    response = client.post(url(project), {"form": "scale", "name_0": "No", "name_1": "Some", "name_3": "All"})

    assert "without a gap" in response.content.decode()


def test_the_scale_is_fixed_from_the_first_grade_on(client):
    round_ = make_round(queries=1, blocks=1, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    project = round_.project
    client.force_login(lead_of(project))

    with pytest.raises(ScaleRefused):
        change_scale(project_id=project.pk, scale=SCALE, actor=lead_of(project), at=AT)
    assert "fixed since the first grade" in client.get(url(project)).content.decode()


def test_only_leads_change_settings(client):
    project = make_project()
    reviewer = make_member(project, Role.REVIEWER)
    client.force_login(reviewer)

    assert client.get(url(project)).status_code == 403
    with pytest.raises(Forbidden):
        change_scale(project_id=project.pk, scale=SCALE, actor=reviewer, at=AT)
