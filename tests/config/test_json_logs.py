"""KARAT_LOG_FORMAT=json: whatever writes to standard error writes an object in each line."""

import json

import pytest

from tests.backups.running import environment, python

pytestmark = [pytest.mark.once, pytest.mark.slow]

ALL_WHO_LOG = """
import django, logging, os, threading, warnings
django.setup()
logging.getLogger("apps.example").warning("from a module of Karat")

logging.getLogger("waitress").error("from %s", "waitress")
logging.getLogger("waitress.queue").warning("a request waits")

from apps.config.celery import app
app.log.setup(loglevel="WARNING")
logging.getLogger("celery.worker").error("from Celery's worker")
logging.getLogger("celery.task").error("from a task")

from apps.config.supervisor import Child
child = Child("web server", lambda: 1 / 0)
child.start()
os.waitpid(child.pid, 0)

warnings.warn("from Python", UserWarning)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise SystemError("from nobody")
"""
STARTS = {"from a module of Karat", "from waitress", "from Celery's worker", "from a task", "Nobody caught this error."}


def test_whoever_logs_writes_an_object_in_each_line(tmp_path):
    done = python(ALL_WHO_LOG, env=environment(tmp_path, KARAT_LOG_FORMAT="json"))

    found = [json.loads(line) for line in done.stderr.splitlines()]
    messages = [line["message"] for line in found]
    assert set(messages) >= STARTS
    assert any("UserWarning: from Python" in message for message in messages)
    assert "The web server ended by an error." in messages
    ends = [line["exception"].rpartition("\n")[2] for line in found if "exception" in line]
    assert ends == ["ZeroDivisionError: division by zero"] * 2 + ["SystemError: from nobody"]
    assert len(found) == 8
    assert done.stdout == ""


def test_by_default_lines_are_for_people(tmp_path):
    code = "import django, logging; django.setup(); logging.getLogger('apps.example').warning('So.')"

    (line,) = python(code, env=environment(tmp_path)).stderr.splitlines()

    assert line.endswith(" WARNING apps.example: So.")
