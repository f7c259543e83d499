"""The least a server can do for a grade: read the JSON, insert one row in a transaction of its own, answer."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402

ROW = "INSERT INTO benchmark_floor (seat, grade, name) VALUES (%s, %s, %s)"

with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS benchmark_floor (seat BIGINT, grade INTEGER, name VARCHAR(64))")
connection.close()


def application(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length:
        body = json.loads(environ["wsgi.input"].read(length))
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ROW, [body["seat"], body["grade"], body["idempotency_key"]])
    answer = b'{"id": 1}'
    start_response("201 Created", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]
