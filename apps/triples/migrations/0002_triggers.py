from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, frozen_when, with_project

SUBMITTED = 'OLD."submitted_at" IS NOT NULL'


def revision_is_submitted(row: str) -> str:
    return f'(SELECT "submitted_at" FROM "triples_revision" WHERE "id" = {row}."revision_id") IS NOT NULL'


UNADOPTED = 'NEW."is_machine_written" AND NEW."adopted_by_id" IS NULL'

LEFT_DRAFT = f"{UNADOPTED} AND NEW.\"state\" NOT IN ('draft', 'withdrawn')"

NEEDS_A_PERSON = "a machine-written triple leaves draft only after a person has adopted it"

PATHS = {
    "triples_askedrevision": "query_id queries_query project_id",
    "triples_expectedblock": "revision_id triples_revision triple_id triples_triple project_id",
    "triples_importedentry": "triple_id triples_triple project_id",
    "triples_rejection": "triple_id triples_triple project_id",
    "triples_revision": "triple_id triples_triple project_id",
    "triples_triple": "project_id",
}

GUARDS = with_project(
    [
        *frozen_when("triples_revision", SUBMITTED, "a submitted revision"),
        *frozen_when(
            "triples_expectedblock", revision_is_submitted("OLD"), "an expected block of a submitted revision"
        ),
        Guard(
            "triples_expectedblock",
            "INSERT",
            "a submitted revision takes no further blocks",
            revision_is_submitted("NEW"),
        ),
        Guard("triples_triple", "DELETE", "a triple is never deleted; drop or retire it"),
        *append_only("triples_importedentry", "where a triple came from"),
        Guard("triples_triple", "UPDATE", NEEDS_A_PERSON, LEFT_DRAFT, name="machine_update"),
        Guard("triples_triple", "INSERT", NEEDS_A_PERSON, LEFT_DRAFT, name="machine_insert"),
        Guard(
            "triples_triple",
            "UPDATE",
            "a machine-written triple stays marked as one",
            'OLD."is_machine_written" AND NOT NEW."is_machine_written"',
            name="machine_mark",
        ),
        Guard(
            "triples_triple",
            "UPDATE",
            "who adopted a triple is never changed",
            'OLD."adopted_by_id" IS NOT NULL AND'
            ' (NEW."adopted_by_id" IS NULL OR NEW."adopted_by_id" <> OLD."adopted_by_id")',
            name="machine_adopter",
        ),
        *append_only("triples_rejection", "why a candidate was rejected"),
        *append_only("triples_askedrevision", "the query by which a Q&A is asked"),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("triples", "0002_guards"),
        ("triples", "0003_asked_revisions"),
        ("triples", "0004_deleted_projects"),
    ]

    dependencies = [
        ("triples", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
