from itertools import count

import django.db.models.deletion
from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, LiftGuards, append_only

LOCKED_DELETE = [
    Guard("queries_query", "DELETE", "a query that was used is never deleted", 'OLD."locked_at" IS NOT NULL'),
]

GUARDS = append_only("triples_askedrevision", "the query by which a Q&A is asked")


def ask_accepted(apps, schema_editor):
    """Write the query of every accepted revision that there is: the triple's own, else one of its own."""
    Triple, Query = apps.get_model("triples", "Triple"), apps.get_model("queries", "Query")
    AskedRevision = apps.get_model("triples", "AskedRevision")
    accepted = Triple.objects.filter(state="accepted").select_related("current")
    for triple in accepted.order_by("pk").iterator(chunk_size=500):
        query_id = triple.query_id or _asked(Query, triple).pk
        AskedRevision.objects.create(revision_id=triple.current_id, query_id=query_id)
    _check_rows_now(schema_editor.connection)


def _asked(Query, triple):
    label = f"T-{triple.number:04d}"
    taken = set(
        Query.objects.filter(project_id=triple.project_id, outside_id__startswith=label).values_list(
            "outside_id", flat=True
        )
    )
    names = (label if number == 1 else f"{label}-{number}" for number in count(1))
    return Query.objects.create(
        project_id=triple.project_id,
        outside_id=next(name for name in names if name not in taken),
        text=triple.current.question,
        is_asked=True,
        created_by_id=triple.author_id,
        created_at=triple.resolved_at,
        locked_at=triple.resolved_at,
    )


def remove_asked(apps, schema_editor):
    """Remove the queries that were only asked; one that a run has answered stays, as a query like others."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        ranked = "retrieval_ranking" in connection.introspection.table_names(cursor)
        unranked = ' AND "id" NOT IN (SELECT "query_id" FROM "retrieval_ranking")' if ranked else ""
        cursor.execute('DELETE FROM "triples_askedrevision"')
        cursor.execute(f'DELETE FROM "queries_query" WHERE "is_asked"{unranked}')
    _check_rows_now(connection)


def _check_rows_now(connection):
    """PostgreSQL neither alters nor drops a table with rows whose foreign keys are not checked yet."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    """By which query systems are asked the question of an accepted revision."""

    dependencies = [
        ("queries", "0003_asked_questions"),
        ("triples", "0002_guards"),
    ]

    operations = [
        migrations.CreateModel(
            name="AskedRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="asked_revisions",
                        to="queries.query",
                    ),
                ),
                (
                    "revision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="asked", to="triples.revision"
                    ),
                ),
            ],
        ),
        LiftGuards(LOCKED_DELETE),
        migrations.RunPython(ask_accepted, remove_asked),
        InstallGuards(LOCKED_DELETE),
        InstallGuards(GUARDS),
    ]
