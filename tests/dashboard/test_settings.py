import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import default_policies
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.dashboard.actions.projects import ScaleRefused, change_scale
from apps.triples.core.checks import ALWAYS_STOPS, CAN_WARN
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import judge_all, make_round, people_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]
VALUES = {
    "copied_run_limit": 8,
    "near_duplicate_limit": 0.9,
    "calibrating_reviews": 30,
    "regression_bar": 0.05,
    "refresh_months": 6,
    "test_step": 0.01,
    "agents_may_work": True,
    "leads_decide_own": True,
    "lit_terms": True,
    "blocking_checks": ["duplicate", "longer"],
    "review_assignment": "pull",
    "review_lease_hours": 24,
    "review_guideline": "Read the block first.",
    "escalation_days": 3,
    "dispute_days": 0,
    "calibration_reviews": 40,
    "calibration_items": 12,
    "freeze_relevant": "refuse",
    "freeze_confusers": "off",
    "freeze_strata": "warn",
    "freeze_terms": "refuse",
    "internal_words": "Zephyr",
    "acronyms": "TLS = transport layer security",
    "terms": "key rotation = Schlüsselwechsel",
    "date_field": "published",
    "type_field": "doc_type",
    "provider_field": "owner",
    "audience_field": "roles",
    "query_personal": "warn",
    "query_duplicate": "block",
    "query_copied": "list",
    "query_stop_words": "warn",
    "query_language": "list",
}
POLICIES = {name: value if isinstance(value, list) else str(value) for name, value in VALUES.items()}
"""As a browser sends them."""
SCALE = [{"grade": 0, "name": "No", "hint": ""}, {"grade": 1, "name": "Yes", "hint": "Helps"}]


def url(project):
    return reverse("dashboard:settings", kwargs={"slug": project.slug})


def test_name_and_every_policy_are_on_the_page_and_saved_and_others_stay(client, project):
    project.policies["source_targets"] = {"kept": 1}
    project.save()
    page = client.get(url(project)).content.decode()

    client.post(url(project), {"name": "Handbook", **POLICIES})

    project.refresh_from_db()
    shown = set(default_policies()) - {
        "source_targets",
        "balance_targets",
        "skipped_steps",
        "allowed_public",
    }  # on other pages
    assert [name for name in shown if f'name="{name}"' not in page] == []
    assert {name: project.policies[name] for name in shown} == VALUES
    assert (project.name, project.policies["source_targets"]) == ("Handbook", {"kept": 1})
    assert Event.objects.filter(project=project, action="project.changed").count() == 1


def test_every_check_is_listed_with_its_words(client, project):
    project.policies["blocking_checks"] = ["longer"]
    project.save()

    page = client.get(url(project)).content.decode()

    assert [words for words in (*CAN_WARN.values(), *ALWAYS_STOPS) if words not in page] == []
    assert 'value="longer" id="id_blocking_checks_1" checked' in page


def test_a_project_older_than_a_policy_shows_its_default(client, project):
    del project.policies["escalation_days"]
    project.save()

    assert 'name="escalation_days" value="7"' in client.get(url(project)).content.decode()


@pytest.mark.parametrize(
    ("policy", "value"),
    [
        ("blocking_checks", "evidence"),
        ("review_assignment", "lot"),
        ("review_lease_hours", "0"),
        ("near_duplicate_limit", "7"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_beside_its_field(client, project, policy, value):
    answer = client.post(url(project), {"name": "Handbook", **POLICIES, policy: value})

    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode() or policy in answer.context["form"].errors


def test_the_scale_is_set_before_anybody_graded_and_has_no_gap(client, project):
    refused = client.post(url(project), {"form": "scale", "name_0": "No", "name_1": "Some", "name_3": "All"})
    client.post(url(project), {"form": "scale", "name_0": "No", "name_1": "Yes", "hint_1": "Helps"})

    project.refresh_from_db()
    assert "without a gap" in refused.content.decode()
    assert project.scale == SCALE


def test_the_scale_is_fixed_from_the_first_grade_on(client):
    round_ = make_round(queries=1, blocks=1, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    project = round_.project
    client.force_login(lead_of(project))

    with pytest.raises(ScaleRefused):
        change_scale(project_id=project.pk, scale=SCALE, actor=lead_of(project), at=AT)
    assert "cannot be changed after the first judgement" in client.get(url(project)).content.decode()


def test_only_leads_change_settings(client, project):
    reviewer = make_member(project, Role.REVIEWER)
    client.force_login(reviewer)

    assert client.get(url(project)).status_code == 403
    with pytest.raises(Forbidden):
        change_scale(project_id=project.pk, scale=SCALE, actor=reviewer, at=AT)
