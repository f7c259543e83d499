"""A gold set is due so many months after its release: Home and a notice tell the leads, once."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.goldsets.actions.versions import tell_of_due_sets
from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.versions import due_on, latest_due
from apps.jobs.models import Notification
from tests.factories import lead_of, make_member
from tests.goldsets.factories import make_version


@pytest.mark.parametrize(
    ("released", "months", "due"),
    [
        ((2026, 3, 2), 6, (2026, 9, 2)),
        ((2026, 8, 31), 6, (2027, 2, 28)),
        ((2026, 12, 15), 1, (2027, 1, 15)),
        ((2027, 11, 30), 27, (2030, 2, 28)),
    ],
)
def test_months_are_counted_in_the_calendar(released, months, due):
    assert due_on(date(*released), months) == date(*due)


@given(st.dates(date(2020, 1, 1), date(2100, 1, 1)), st.integers(0, 800), st.integers(1, 60))
def test_what_is_due_is_the_same_counted_from_the_release_and_from_today(released, days, months):
    today = released + timedelta(days=days)

    assert (due_on(released, months) <= today) == (released <= latest_due(today, months))


@pytest.fixture
def version(db):
    version = make_version(VersionState.RELEASED)
    version.gold_set.project.policies["refresh_months"] = 3
    version.gold_set.project.save()
    return version


def told(at) -> list[str]:
    tell_of_due_sets(at)
    return list(Notification.objects.filter(kind="version.due").values_list("person__name", flat=True))


def test_every_lead_is_told_once_when_it_is_due_and_nobody_before(version):
    project = version.gold_set.project
    make_member(project, Role.ANNOTATOR)
    due = datetime.combine(due_on(version.released_at.date(), 3), time.min, tzinfo=UTC)

    assert told(due - timedelta(seconds=1)) == []
    assert told(due) == [lead_of(project).name]
    assert told(due + timedelta(days=40)) == [lead_of(project).name]


def test_nobody_is_told_where_the_settings_say_never_or_the_project_is_archived(version):
    project = version.gold_set.project
    project.policies["refresh_months"] = 0
    project.save()
    assert told(version.released_at + timedelta(days=4_000)) == []
    project.policies["refresh_months"] = 1
    project.archived_at, project.archived_by = version.released_at, lead_of(project)
    project.save()
    assert told(version.released_at + timedelta(days=4_000)) == []


def test_home_and_the_list_of_versions_say_so(client, version):
    project = version.gold_set.project
    client.force_login(lead_of(project))

    home = client.get(reverse("dashboard:home", args=[project.slug])).text
    listed = client.get(reverse("goldsets:list", args=[project.slug])).text

    assert "due for a refresh" in listed
    assert "Gold sets due for a refresh" in home
