import io
import logging

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from apps.accounts.enums import Role
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    """What the log of the server would say."""
    told = io.StringIO()
    handler = logging.StreamHandler(told)
    for name in settings.LOGGING["handlers"]["stderr"]["filters"]:
        handler.addFilter(import_string(settings.LOGGING["filters"][name]["()"])())
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    yield told
    logger.removeHandler(handler)


def test_a_refusal_for_a_role_brings_no_traceback_into_the_log(client, log):
    project = make_project()
    client.force_login(make_member(project, Role.VIEWER))

    assert client.get(f"/p/{project.slug}/settings/").status_code == 403

    assert log.getvalue() == f"Forbidden (Permission denied): /p/{project.slug}/settings/\n"


def test_a_fault_of_ours_still_does(log):
    try:
        raise ValueError("a slip")
    except ValueError:
        logging.getLogger("django.request").exception("Internal Server Error", extra={"status_code": 500})

    assert "ValueError: a slip" in log.getvalue()
