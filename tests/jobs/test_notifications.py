"""What a person was told: once, listed for them alone, unread first, and counted in the bar."""

import json
from datetime import timedelta

import pytest
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.projects import set_roles
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.common.database.batched_reads import answer_to
from apps.jobs.actions.notifications import mark_all_read, mark_read, notify, read_about
from apps.jobs.models import Notification
from apps.jobs.selectors import jobs
from apps.jobs.selectors.jobs import PAGE_SIZE, notification_page, unread_asked
from tests.factories import AT, lead_of, make_member, make_project

pytestmark = pytest.mark.django_db


WAITS = "T-0001 waits for your review."


def notify_once(person, project, key="one", *, kind="test", sentence=WAITS, at=AT) -> Notification | None:
    path = reverse("jobs:list", args=(project.slug,))
    return notify(person=person, project=project, kind=kind, sentence=sentence, path=path, key=key, at=at)


@pytest.fixture
def person(project):
    return make_member(project, Role.ANNOTATOR, name="Ann")


def list_url(project) -> str:
    return reverse("notifications:list", args=(project.slug,))


# Telling -----------------------------------------------------------------------------------------------------------


def test_each_person_is_notified_once_of_a_thing(project, person):
    first = notify_once(person, project)

    assert first is not None
    assert notify_once(person, project) is None
    assert notify_once(lead_of(project), project) is not None


def test_a_sentence_is_one_line_of_bounded_length(project, person):
    row = notify_once(person, project, sentence="One\n\rtwo " + "x" * 400)

    assert row.sentence.startswith("One two x")
    assert (len(row.sentence), row.sentence[-1]) == (300, "…")


def test_what_was_dealt_with_counts_as_read(project, person):
    for key in ("triple:1:opened", "triple:1:closed", "triple:11:opened"):
        notify_once(person, project, key)

    read_about(person=person, project=project, prefix="triple:1:", at=AT)

    assert list(Notification.objects.filter(read_at=None).values_list("key", flat=True)) == ["triple:11:opened"]


def test_reading_again_keeps_the_first_time(project, person):
    row = notify_once(person, project)

    for at in (AT, AT.replace(year=2030)):
        mark_read(notification=row, at=at)

    row.refresh_from_db()
    assert row.read_at == AT


# Counting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unread", "word"), [(0, ""), (1, "1"), (9, "9"), (10, "9+"), (15, "9+")])
def test_the_count_is_bounded(project, person, unread, word, django_assert_num_queries):
    for number in range(unread):
        notify_once(person, project, f"key-{number}")

    with django_assert_num_queries(1):
        assert answer_to(project, unread_asked(person, project)) == word


def test_the_bar_says_how_many_are_unread_and_nothing_when_none_is(client, project, person):
    client.force_login(person)
    home = reverse("jobs:list", args=(project.slug,))
    assert 'class="unread"' not in client.get(home).content.decode()

    notify_once(person, project)

    assert '<b>1</b> <span class="when-wide">unread</span>' in client.get(home).content.decode()


def test_the_list_of_projects_marks_those_with_something_unread(client, project, person):
    other = make_project("Quiet")
    set_roles(project=other, user=person, roles=[Role.ANNOTATOR], actor=lead_of(other), at=AT)
    notify_once(lead_of(other), other)
    notify_once(person, project)
    client.force_login(person)

    page = client.get("/projects/").content.decode()

    assert page.count("unread") == 1
    assert page.index("unread") > page.index(project.name)


# The list ----------------------------------------------------------------------------------------------------------


def test_unread_come_first_and_newest_first_in_both_parts(project, person):
    rows = [notify_once(person, project, f"key-{number}") for number in range(4)]
    mark_read(notification=rows[1], at=AT)
    mark_read(notification=rows[3], at=AT)

    page = notification_page(person, project)

    assert (page.unread, page.read, page.older) == ([rows[2], rows[0]], [rows[3], rows[1]], "")


@pytest.mark.parametrize("read", [0, 1, 20, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 2 * PAGE_SIZE + 1])
def test_pages_show_each_row_once_and_in_order(project, person, read):
    total = 2 * PAGE_SIZE + 1
    rows = [notify_once(person, project, f"key-{number}") for number in range(total)]
    mark_all_read(person=person, project=project, up_to=rows[read].pk - 1 if read < total else rows[-1].pk, at=AT)

    shown, before = [], ""
    for _ in range(10):
        page = notification_page(person, project, before)
        assert 0 < len(page.unread) + len(page.read) <= PAGE_SIZE
        shown += [*page.unread, *page.read]
        before = page.older
        if not before:
            break

    unread_first = sorted(rows, key=lambda row: (row in rows[:read], -row.pk))
    assert shown == unread_first


def test_several_of_one_kind_are_one_line_whose_number_follows_what_is_read(client, project, person):
    asked = [notify_once(person, project, f"triple:{n}:seat", kind="review.seat") for n in range(12)]
    flagged = notify_once(person, project, "triple:1:closed", kind="review.disputed", sentence="T-0001 is disputed.")
    tests = [notify_once(person, project, f"test-{n}") for n in range(2)]
    client.force_login(person)

    def shown():
        page = notification_page(person, project)
        return [line.sentence for line in page.lines], page.unread

    assert shown() == (["12 Q&As are ready for your review."], [tests[1], tests[0], flagged])
    read_about(person=person, project=project, prefix="triple:3:", at=AT)
    assert shown()[0] == ["11 Q&As are ready for your review."]
    assert "11 Q&amp;As are ready for your review." in client.get(list_url(project)).content.decode()
    each = notification_page(person, project, kind="review.seat")
    assert (each.lines, len(each.unread), each.read) == ([], 11, [asked[3]])

    late = notify_once(person, project, "triple:99:seat", kind="review.seat")
    told = {"up_to": asked[-1].pk, "kind": "review.seat"}
    answer = client.post(reverse("notifications:read-all", args=(project.slug,)), told)

    assert answer.url == reverse("review:queue", args=(project.slug,))
    assert shown() == ([], [late, tests[1], tests[0], flagged])


def test_what_is_hidden_for_now_is_on_no_line(project, person, monkeypatch):
    for about in range(3):
        row = notify_once(person, project, f"key-{about}", kind="review.accepted")
        Notification.objects.filter(pk=row.pk).update(about=about)
    monkeypatch.setattr(jobs, "hidden_for", lambda person: Q(about=1))

    (line,) = notification_page(person, project).lines

    assert line.sentence == "2 Q&As of yours are accepted: both reviewers confirmed them."


@pytest.mark.parametrize("before", ["", "read-x", "unread-", "read-99999999999999999999", "' OR 1=1", "unread-²"])
def test_a_place_that_is_none_is_the_top_or_below_the_end(client, project, person, before):
    notify_once(person, project)
    client.force_login(person)

    assert client.get(list_url(project), {"before": before}).status_code == 200


@pytest.mark.parametrize("count", [1, 3])
def test_the_page_runs_as_many_queries_for_one_as_for_three(client, project, person, count, django_assert_num_queries):
    for number in range(count):
        notify_once(person, project, f"read-{number}")
    mark_all_read(person=person, project=project, up_to=2**62, at=AT)
    for number in range(count):
        notify_once(person, project, f"unread-{number}")
    client.force_login(person)

    with django_assert_num_queries(8):
        client.get(list_url(project))


def test_nobody_sees_the_notifications_of_another(client, project, person):
    row = notify_once(person, project, sentence="ONLY-FOR-ANN")
    client.force_login(lead_of(project))

    assert "ONLY-FOR-ANN" not in client.get(list_url(project)).content.decode()
    assert client.post(reverse("notifications:open", args=(project.slug, row.pk))).status_code == 404


def test_a_list_contains_one_project_only(client, project, person):
    other = make_project()
    set_roles(project=other, user=person, roles=[Role.ANNOTATOR], actor=lead_of(other), at=AT)
    notify_once(person, other, sentence="ELSEWHERE")
    client.force_login(person)

    assert "ELSEWHERE" not in client.get(list_url(project)).content.decode()
    assert "ELSEWHERE" in client.get(list_url(other)).content.decode()


def test_opening_marks_as_read_and_goes_there(client, project, person):
    row = notify_once(person, project)
    client.force_login(person)

    answer = client.post(reverse("notifications:open", args=(project.slug, row.pk)))

    row.refresh_from_db()
    assert (answer.status_code, answer["Location"]) == (302, row.path)
    assert row.read_at is not None
    assert client.post(reverse("notifications:open", args=(project.slug, 2**70))).status_code == 404


def test_all_on_the_page_are_marked_at_once_and_not_what_came_in_since(client, project, person):
    rows = [notify_once(person, project, f"key-{number}") for number in range(3)]
    client.force_login(person)

    client.post(reverse("notifications:read-all", args=(project.slug,)), {"up_to": rows[1].pk})

    assert list(Notification.objects.filter(read_at=None)) == [rows[2]]


@pytest.mark.parametrize("up_to", ["", "x", "-1", "²"])
def test_marking_up_to_nothing_marks_nothing(client, project, person, up_to):
    notify_once(person, project)
    client.force_login(person)

    client.post(reverse("notifications:read-all", args=(project.slug,)), {"up_to": up_to})

    assert Notification.objects.filter(read_at=None).count() == 1


def test_the_list_says_what_will_appear_here_and_a_sentence_is_text_and_never_markup(client, project, person):
    client.force_login(person)
    assert "No notifications yet" in client.get(list_url(project)).content.decode()

    notify_once(person, project, sentence="<script>alert(1)</script> wrote to you.")

    assert "<script>alert" not in client.get(list_url(project)).content.decode()


# The API -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def machine(client, project, person):
    """Asks as `person`'s token."""
    _, token = create_token(
        user=person,
        project=project,
        name="Pager",
        scopes=[Scope.NOTIFICATIONS],
        at=timezone.now(),
        lasts=timedelta(days=1),
    )
    return lambda path, method="get", **data: getattr(client, method)(
        f"/api/v1/projects/{project.slug}/notifications/{path}", data, headers={"Authorization": f"Bearer {token}"}
    )


def test_a_machine_reads_what_came_since(machine, project, person):
    rows = [notify_once(person, project, f"key-{number}") for number in range(3)]
    mark_read(notification=rows[1], at=AT)
    notify_once(lead_of(project), project)

    first = json.loads(machine("", limit=2).content)
    rest = json.loads(machine("", after=first["next"]).content)
    unread = json.loads(machine("", unread="1").content)

    assert [row["id"] for row in first["results"]] == [rows[0].pk, rows[1].pk]
    assert [row["id"] for row in rest["results"]] == [rows[2].pk]
    assert [row["id"] for row in unread["results"]] == [rows[0].pk, rows[2].pk]
    assert sorted(rest["results"][0]) == ["created_at", "id", "kind", "path", "read_at", "sentence"]


def test_a_machine_marks_its_own_persons_rows_only(machine, project, person):
    mine, other = notify_once(person, project), notify_once(lead_of(project), project)

    marked = machine(f"{mine.pk}/read/", "post")

    assert json.loads(marked.content)["read_at"] is not None
    assert machine(f"{other.pk}/read/", "post").status_code == 404
    assert machine(f"{2**70}/read/", "post").status_code == 404


@pytest.mark.parametrize("query", [{"person": "1"}, {"unread": "x"}, {"after": "x"}, {"person__email": "a"}])
def test_a_filter_nobody_knows_is_refused(machine, query):
    assert machine("", **query).status_code == 400
