from django.db import migrations

from apps.common.database.triggers import InstallGuards, frozen_when, with_project

PATHS = {
    "reports_biasreport": "project_id",
    "reports_negativesreport": "project_id",
    "reports_stabilityreport": "project_id",
}

GUARDS = with_project(
    [
        *frozen_when("reports_biasreport", 'OLD."computed_at" IS NOT NULL', "a finished bias report"),
        *frozen_when("reports_stabilityreport", 'OLD."computed_at" IS NOT NULL', "a finished stability report"),
        *frozen_when("reports_negativesreport", 'OLD."computed_at" IS NOT NULL', "a finished report on negatives"),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("reports", "0002_guards"),
        ("reports", "0003_negatives_report"),
        ("reports", "0004_deleted_projects"),
    ]

    dependencies = [
        ("reports", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
