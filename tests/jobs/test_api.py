"""Jobs, deliveries and notifications over HTTP."""

import pytest
from django.urls import reverse

from apps.accounts.actions.secrets import save_secret
from apps.accounts.enums import Role
from apps.jobs.actions.jobs import cancel_job
from apps.jobs.actions.notifications import notify
from apps.jobs.actions.webhooks import add_webhook, end_webhook, try_webhook
from apps.jobs.models import Notification, Outbox
from tests.factories import AT, lead_of, make_member
from tests.jobs.factories import make_job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]


def url(project, name: str, *args) -> str:
    return reverse(name, args=[project.slug, *args])


def test_a_cancelled_job_is_found_and_retried(client, project):
    lead = lead_of(project)
    job, _ = make_job(project=project, actor=lead), make_job(project=project, actor=lead)
    cancel_job(job_id=job.pk, actor=lead, at=AT)

    page = client.get(url(project, "jobs-api:jobs"), {"state": "cancelled"}).json()
    retried = client.post(url(project, "jobs-api:job-retry", job.pk))
    again = client.post(url(project, "jobs-api:job-retry", job.pk))

    assert ([row["id"] for row in page["results"]], page["next"]) == ([job.pk], None)
    assert retried.json()["state"] == "queued"
    assert (again.status_code, again.json()["code"]) == (409, "job_not_retryable")


def test_jobs_come_page_by_page(client, project):
    jobs = [make_job(project=project, actor=lead_of(project)) for _ in range(3)]

    first = client.get(url(project, "jobs-api:jobs"), {"limit": 2}).json()
    second = client.get(url(project, "jobs-api:jobs"), {"limit": 2, "after": first["next"]}).json()

    assert [row["id"] for row in first["results"] + second["results"]] == [job.pk for job in jobs]
    assert client.get(url(project, "jobs-api:jobs"), {"state": "lost"}).status_code == 400


def test_a_message_to_a_webhook_is_sent_again_while_the_webhook_is_there(client, project):
    lead = lead_of(project)
    save_secret(project=project, name="hook", value="sesame-open", actor=lead, at=AT)
    hook = {"url": "https://ci.example/", "events": ["gate.changed"], "secret": "hook"}
    webhook, _ = add_webhook(project=project, **hook, actor=lead, at=AT)
    try_webhook(webhook=webhook, at=AT)
    Outbox.objects.update(state="failed", attempts=5)

    row = client.get(url(project, "jobs-api:deliveries")).json()["results"][0]
    sent = client.post(url(project, "jobs-api:send-again", row["id"])).json()
    end_webhook(webhook=webhook, actor=lead, at=AT)
    refused = client.post(url(project, "jobs-api:send-again", row["id"]))

    assert (row["webhook"], row["body"]["type"], row["state"], row["attempts"]) == (webhook.pk, "ping", "failed", 5)
    assert (sent["state"], sent["attempts"], sent["delivery_id"]) == ("waiting", 0, row["delivery_id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_ended")


def test_own_notifications_are_read_up_to_one_of_them(client, project):
    person, other = make_member(project, Role.ANNOTATOR), lead_of(project)
    for who, key in ((person, "1"), (person, "2"), (person, "3"), (other, "1")):
        told = {"kind": "test", "sentence": "Read this.", "path": "/", "key": key, "at": AT}
        notify(person=who, project=project, **told)
    seen = Notification.objects.get(person=person, key="2").pk
    client.force_login(person)

    answer = client.post(url(project, "notifications-api:read-all"), {"up_to": seen}, content_type="application/json")

    assert (answer.status_code, answer.content) == (204, b"")
    unread = Notification.objects.filter(read_at=None).order_by("pk")
    assert [(row.person, row.key) for row in unread] == [(person, "3"), (other, "1")]


def test_how_far_is_a_whole_number(client, project):
    answer = client.post(url(project, "notifications-api:read-all"), {"up_to": "all"}, content_type="application/json")

    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["up_to"])
