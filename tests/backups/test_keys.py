"""Of every column it is known which keys of rows it holds, besides the columns that are foreign keys.

The database numbers rows, so a row has another key on another server. Whoever moves rows has to find every key,
and nothing but a list (`apps/backups/selectors/keys.py`) says that a text or a value of JSON has one. To hold that list
complete, a whole project is made in which each table numbers its rows from a place of its own: a key is known there
wherever it stands, and so is its table.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.db import connection, models

from apps.audit.execution.sealing import seal_all
from apps.backups.execution.extracting import STAYS
from apps.backups.selectors.belonging import PEOPLE, PROJECTS, belonging
from apps.backups.selectors.keys import KEYS
from tests import database
from tests.world import World, build_world

PLACE = 1_000_000
FIRST_PLACE = 11
NUMBER = re.compile(r"(?<![0-9a-f])\d{8,9}(?![0-9a-f])")
"""As long as a key is here, and no part of a digest."""
AS_WRITTEN = {
    "audit_chain.moves", "audit_chain.name", "audit_event.after", "audit_event.before", "audit_event.object_id",
    "audit_event.object_label", "audit_event.request_id", "audit_link.record_id", "jobs_jobchunk.key",
    "judging_judgement.idempotency_key",
    "review_candidateanswer.idempotency_key", "review_verdict.idempotency_key",
}  # fmt: skip
"""History, whose digests have these keys in them, and names that somebody once gave to a request or a step."""

WITHOUT_KEYS = {
    "accounts_project.policies", "accounts_project.scale", "calibration_calibration.why",
    "calibration_calibrationverdict.reasons", "corpus_blockversion.metadata", "corpus_blockversion.section_path",
    "corpus_import.plan", "corpus_import.result", "corpus_rememberedcolumns.choice", "evaluation_evaluation.counts",
    "evaluation_evaluation.measures", "evaluation_evaluation.query_ids", "evaluation_score.values", "gates_gate.rule",
    "goldsets_publicpart.data", "goldsets_publicrelease.card", "goldsets_publicrelease.report",
    "goldsets_publicrelease.splits", "goldsets_signingkey.sealed", "goldsets_trainingmanifest.counts",
    "goldsets_version.group_by", "goldsets_version.manifest", "goldsets_versionquery.fields",
    "goldsets_versiontriple.content", "judging_guideline.grades", "judging_judgement.spans",
    "judging_roundannotator.only", "queries_query.metadata", "queries_query.tags", "reports_biasreport.measures",
    "reports_negativesreport.measures", "reports_stabilityreport.measures", "retrieval_ranking.packed",
    "retrieval_ranking.passages", "retrieval_run.latency", "retrieval_run.report", "retrieval_system.config",
    "review_candidateblock.spans", "review_verdict.reasons", "triples_expectedblock.spans",
    "triples_importedentry.claims", "triples_revision.warnings",
    "retrieval_loadedindex.auth",
}  # fmt: skip
"""Values of JSON and bytes in which rows are named by what people call them, by their place, or not at all."""

READ_AGAIN = {"agreement_readgrades.packed"}
"""Copies that a job makes anew, in a form of their own."""


class Found(NamedTuple):
    """A key in a row: the column, the way to it there, and the tables and projects of the two rows."""

    column: str
    way: str
    table: str
    owner: int
    project: int | None


def models_here() -> dict[str, type[models.Model]]:
    tables = {each.table for each in belonging()} - STAYS
    return {
        model._meta.db_table: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table in tables
    }


def opaque_columns() -> set[str]:
    """Columns whose values have a form of their own."""
    return {
        f"{table}.{field.column}"
        for table, model in models_here().items()
        for field in model._meta.concrete_fields
        if isinstance(field, models.JSONField | models.BinaryField)
    }


def number_apart() -> None:
    """Let each table number its rows from a place of its own, an odd one: twice a place is that of no other table."""
    ours = [model for model in apps.get_models(include_auto_created=True) if model.__module__.startswith("apps.")]
    tables = [model._meta.db_table for model in ours if model._meta.managed and not model._meta.proxy]
    with connection.cursor() as cursor:
        for number, table in zip(count(FIRST_PLACE, 2), tables):
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, number * PLACE])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [f'"{table}"', number * PLACE])


def numbers(value: Any, way: str = "") -> Iterator[tuple[str, int]]:
    """Every number in a value that may be a key, with the way to it."""
    if isinstance(value, str):
        yield from ((way, int(digits)) for digits in NUMBER.findall(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield way, value
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each, f"{way}[]")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from numbers(name, f"{way}{{}}")
            yield from numbers(each, f"{way}.{name}")


def keys_of_projects() -> dict[str, dict[int, int]]:
    """By table the keys of its rows, and the project of each."""
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT "id" FROM "{PROJECTS}"')
        projects = [pk for (pk,) in cursor.fetchall()]
        keys: dict[str, dict[int, int]] = defaultdict(dict)
        for each in belonging():
            for project in projects:
                cursor.execute(f'SELECT "id" FROM "{each.table}" WHERE {each.condition}', [project])
                keys[each.table] |= {pk: project for (pk,) in cursor.fetchall()}
        cursor.execute(f'SELECT "id" FROM "{PEOPLE}"')
        keys[PEOPLE] = dict.fromkeys((pk for (pk,) in cursor.fetchall()), None)
    return keys


def look_for_keys() -> set[Found]:
    keys = keys_of_projects()
    named = {pk: (table, project) for table, rows in keys.items() for pk, project in rows.items()}
    found = set()
    for table, model in models_here().items():
        fields = [field for field in model._meta.concrete_fields if not (field.primary_key or field.is_relation)]
        for pk, *values in model._default_manager.values_list("pk", *[field.attname for field in fields]):
            for field, value in zip(fields, values, strict=True):
                for way, number in numbers(value):
                    if number in named and pk in keys[table]:
                        found.add(
                            Found(f"{table}.{field.column}", way, named[number][0], keys[table][pk], named[number][1])
                        )
    return found


def build_numbered_world() -> World:
    number_apart()
    return build_world()


@pytest.fixture(scope="module")
def found(django_db_setup, django_db_blocker, database_cache) -> Iterator[set[Found]]:
    with django_db_blocker.unblock(), database.world("numbered-apart", build_numbered_world, database_cache):
        seal_all()
        yield look_for_keys()


def test_every_column_with_a_form_of_its_own_is_on_one_list():
    lists = [set(KEYS), AS_WRITTEN, WITHOUT_KEYS, READ_AGAIN]

    assert opaque_columns() - set().union(*lists) == set(), "say which keys it holds, or that it holds none"
    assert sum(map(len, lists)) == len(set().union(*lists)), "a column is on two lists"


def test_every_column_on_a_list_is_there_and_so_is_every_table_it_names():
    columns = {
        f"{table}.{field.column}" for table, model in models_here().items() for field in model._meta.concrete_fields
    }
    tables = {table for ways in KEYS.values() for names in ways.values() for table in names}

    assert set(KEYS) | AS_WRITTEN | WITHOUT_KEYS | READ_AGAIN <= columns
    assert tables <= {*models_here(), PEOPLE}


@pytest.mark.slow
@pytest.mark.long
def test_no_key_stands_where_none_is_known(found):
    there = {(each.column, each.way, each.table) for each in found if each.column not in AS_WRITTEN}
    known = {
        (column, way.replace("[0]", "[]"), table)
        for column, ways in KEYS.items()
        for way, tables in ways.items()
        for table in tables
    }

    assert there - known == set()
    assert len(there) > 30


@pytest.mark.slow
@pytest.mark.long
def test_what_a_row_names_is_of_its_own_project(found):
    assert [each for each in found if each.project not in (None, each.owner)] == []
