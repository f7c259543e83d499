from dataclasses import replace
from importlib import import_module

from django.db import migrations

from apps.common.database.functions import ReplaceFunctions

(LEASE,) = import_module("apps.judging.migrations.0012_shares").Migration.operations[-1].functions

FREE = "AND f.reserved_for_id IS NULL"
LIVE = """
        AND NOT EXISTS (SELECT 1 FROM queries_query q WHERE q.id = f.query_id AND q.retired_at IS NOT NULL OFFSET 0)"""
OTHER = "AND s.annotator_id <> _person) AS is_other"
HELD = """AND s.annotator_id <> _person)
       OR EXISTS (SELECT 1 FROM judging_seat s JOIN queries_query q ON q.id = s.query_id
         WHERE s.round_id = _round AND s.annotator_id = _person AND s.state = 'leased'
           AND q.retired_at IS NOT NULL) AS is_other"""


class Migration(migrations.Migration):
    """A plain round gives nobody a pair of a retired query."""

    dependencies = [("judging", "0012_shares"), ("queries", "0002_triggers")]

    operations = [
        ReplaceFunctions([replace(LEASE, body=LEASE.body.replace(FREE, FREE + LIVE).replace(OTHER, HELD))], [LEASE])
    ]
