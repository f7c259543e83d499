"""Where a job that is done leads: the page of what it made."""

import re

from django.test import Client
from django.urls import reverse

from apps.jobs.models import Job

RESULT = 'href="([^"]+)">See the result<'


def test_a_done_job_leads_to_the_page_of_its_result(world):
    lead = Client()
    lead.force_login(world.people["lead"])
    jobs = {job.kind: job.pk for job in Job.objects.filter(project=world.project, state="done")}

    pages = {kind: lead.get(reverse("jobs:job", args=[world.project.slug, pk])) for kind, pk in jobs.items()}
    found = {kind: re.search(RESULT, page.content.decode()) for kind, page in pages.items()}
    opened = {kind: lead.get(match[1]).status_code for kind, match in found.items() if match}

    assert opened.keys() >= {"retrieval.run", "retrieval.pool", "evaluation.score", "reports.bias"}
    assert set(opened.values()) == {200}
