from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, frozen_when, with_project

ELSEWHERE = (
    'NEW."slice_id" IS NOT NULL AND (NEW."split" <> \'dev\' OR NOT EXISTS (SELECT 1 FROM "goldsets_slice"'
    ' WHERE "id" = NEW."slice_id" AND "version_id" = NEW."version_id"))'
)

PATHS = {
    "evaluation_closedcomparison": "baseline_id evaluation_evaluation project_id",
    "evaluation_evaluation": "project_id",
    "evaluation_score": "evaluation_id evaluation_evaluation project_id",
}

GUARDS = with_project(
    [
        *append_only("evaluation_score", "a score"),
        *frozen_when("evaluation_evaluation", 'OLD."scored_at" IS NOT NULL', "a finished evaluation"),
        *append_only("evaluation_closedcomparison", "a closed comparison"),
        Guard(
            "evaluation_evaluation",
            "INSERT",
            "an evaluation is on a slice of its version, on dev",
            ELSEWHERE,
            name="slice",
        ),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("evaluation", "0002_guards"),
        ("evaluation", "0004_slices"),
        ("evaluation", "0005_deleted_projects"),
    ]

    dependencies = [
        ("evaluation", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
