"""The order of ids in files: that of their bytes, whatever collation the database was made with."""

from django.db import connection
from django.db.models import F
from django.db.models.functions import Collate


def bytewise(field: str) -> Collate:
    return Collate(F(field), "C" if connection.vendor == "postgresql" else "BINARY")
