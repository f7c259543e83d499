import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from tests.audit.factories import make_event
from tests.factories import lead_of, make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(client, project):
    client.force_login(lead_of(project))
    return client


def page(client, project, /, **query):
    return client.get(reverse("audit:list", args=[project.slug]), query)


def shown(answer) -> list[int]:
    return [event.pk for event, *_ in answer.context["rows"]]


def test_the_page_lists_the_project_newest_first(lead, project):
    elsewhere = make_event(make_project())
    first, second = make_event(project), make_event(project)

    keys = shown(page(lead, project))

    assert keys[:2] == [second.pk, first.pk]
    assert keys == sorted(keys, reverse=True)
    assert elsewhere.pk not in keys


def test_a_change_is_shown_before_and_after(lead, project):
    make_event(project, before={"state": "draft"}, after={"state": "released", "items": 3})

    text = page(lead, project).content.decode()

    assert "<del>draft</del>" in text
    assert "<ins>released</ins>" in text
    assert "<dt>items</dt><dd>3</dd>" in text


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_runs_as_many_queries_for_one_event_as_for_three(lead, project, rows, django_assert_num_queries):
    for _ in range(rows):
        make_event(project, actor=lead_of(project))

    with django_assert_num_queries(8):
        page(lead, project)


def test_filters_narrow_by_person_action_and_object(lead, project):
    person = make_member(project, Role.ANNOTATOR)
    wanted = make_event(project, actor=person, action="test.wanted", obj=person)
    make_event(project, actor=lead_of(project), action="test.other", obj=project)

    assert shown(page(lead, project, actor=person.pk)) == [wanted.pk]
    assert shown(page(lead, project, action="test.wanted")) == [wanted.pk]
    narrowed = page(lead, project, object_type="accounts.user", object_id=person.pk)
    assert wanted.pk in shown(narrowed)
    assert all(event.object_id == str(person.pk) for event, *_ in narrowed.context["rows"])


@pytest.mark.parametrize(
    "query",
    [
        {"actor__password": "x"},
        {"actor__email__startswith": "a"},
        {"project": "1"},
        {"order": "actor__password"},
        {"id__gt": "1"},
    ],
)
def test_an_invalid_filter_changes_nothing(lead, project, query):
    make_event(project)

    assert shown(page(lead, project, **query)) == shown(page(lead, project))


@pytest.mark.parametrize(
    "query",
    [
        {"actor": "x"},
        {"actor": "999999"},
        {"action": "no.such"},
        {"object_type": "accounts.user__password"},
        {"before": "x"},
        {"before": "-1"},
        {"before": "9" * 30},
    ],
)
def test_a_filter_outside_the_list_is_a_mistake_that_filters_nothing(lead, project, query):
    make_event(project)

    answer = page(lead, project, **query)

    assert answer.status_code == 400
    assert len(shown(answer)) == Event.objects.filter(project=project).count()


def test_the_page_goes_on_with_older_events_and_keeps_the_filter(lead, project):
    events = [make_event(project, action="test.many") for _ in range(51)]

    first = page(lead, project, action="test.many")
    assert shown(first) == [event.pk for event in reversed(events[1:])]

    second = lead.get(f"{reverse('audit:list', args=[project.slug])}?{first.context['older']}")
    assert shown(second) == [events[0].pk]
    assert second.context["older"] == ""


def test_a_filter_without_matches_gives_a_message(lead, project):
    assert "Nothing matches" in page(lead, project, object_id="4711").content.decode()


def test_labels_and_values_are_escaped(lead, project):
    project.name = "<script>alert(1)</script>"
    make_event(project, obj=project, after={"<b>name</b>": "<img src=x onerror=alert(1)>"})

    text = page(lead, project).content.decode()

    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<b>name" not in text
