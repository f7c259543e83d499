from django.db import migrations

from apps.common.database.triggers import InstallGuards, append_only, with_project

GUARDS = with_project(
    append_only("evaluation_comparison", "the record of a comparison"),
    {"evaluation_comparison": "version_id goldsets_version gold_set_id goldsets_goldset project_id"},
)


class Migration(migrations.Migration):
    """Nobody changes or deletes the record that two runs were compared; it goes with its project."""

    dependencies = [
        ("evaluation", "0009_comparisons"),
    ]

    operations = [InstallGuards(GUARDS)]
