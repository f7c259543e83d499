"""Every operation of the API answers as its description says, to inputs that schemathesis makes from that description.

Statuses, content types and bodies are compared; nothing may be a 5xx. Each request is rolled back.
"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from apps.accounts.actions.tokens import create_token
from apps.accounts.models import User
from tests.factories import EVERY_SCOPE
from tests.fast_client import without_words
from tests.world import ROLE_HOLDERS

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow, pytest.mark.long]
EXAMPLES = 4


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """The application leaves the connection of the test open, as Django's own test client sees to."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("_one_connection")
def test_every_operation_answers_as_it_is_described(world):
    lead = User.objects.get(email=ROLE_HOLDERS["lead"])
    made = {"name": "Every scope", "scopes": EVERY_SCOPE, "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=world.project, user=lead, **made)
    headers = {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
    description = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application(), headers=headers)
    operations = [found.ok() for found in description.get_all_operations()]

    with without_words():
        faults = [fault for operation in operations for fault in faults_of(operation, world.project.slug, headers)]

    assert len(operations) > 100
    assert faults == []


def checks_of(answer) -> list:
    """What is compared; bodies only of JSON: a file is described as bytes, whatever its format says of them."""
    is_json = "json" in answer.headers.get("content-type", [""])[0]
    return [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        *([response_schema_conformance] if is_json else []),
    ]


def faults_of(operation, slug: str, headers: dict[str, str]) -> list[str]:
    """What was answered otherwise than described, each with its operation."""
    faults: set[str] = set()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy())
    def ask(case) -> None:
        case.path_parameters["slug"] = slug
        before = transaction.savepoint()
        try:
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=checks_of(answer))
        except FailureGroup as group:
            faults.update(f"{operation.label}: {fault}" for fault in group.exceptions)
        except Failure as fault:
            faults.add(f"{operation.label}: {fault}")
        finally:
            transaction.savepoint_rollback(before)

    ask()
    return sorted(faults)
