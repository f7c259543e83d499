"""The database drops every connection, as it does when it is started again, and nobody notices."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.common.test_postgresql import drop_connections
from tests.config.running_server import Server, request, running_server
from tests.jobs.workers import database_url

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
READS = request("/profile/", "Cookie: karat-session=abcdefghijklmnopqrstuvwxyz012345")
TOGETHER = 16


def request_together(server: Server) -> set[bytes]:
    """The status lines of many requests that read the database at the same time."""
    with ThreadPoolExecutor(TOGETHER) as people:
        answers = list(people.map(server.ask, [READS] * TOGETHER))
    return {answer.split(b"\r\n", 1)[0] for answer in answers}


def test_no_request_fails_after_the_database_dropped_its_connections(tmp_path):
    signed_out = {b"HTTP/1.1 302 Found"}
    with running_server(tmp_path / "data", DATABASE_URL=database_url()) as server:
        for _ in range(3):
            assert request_together(server) == signed_out
            assert drop_connections() > 0
        assert request_together(server) == signed_out
