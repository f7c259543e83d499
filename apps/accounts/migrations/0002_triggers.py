from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same

KEEPS = same("id", "project_id", "slug", "name", "counts", "requested_by_id", "requested_at")
HEAD = f"""OLD."head" <> '' AND NOT ({same("links", "head")})"""

GUARDS = [
    Guard(
        "accounts_projectdeletion",
        "UPDATE",
        "that a project was deleted is never changed",
        f'NOT ({KEEPS}) OR ({HEAD}) OR OLD."finished_at" IS NOT NULL',
    ),
    Guard("accounts_projectdeletion", "DELETE", "that a project was deleted is never deleted"),
]


class Migration(migrations.Migration):
    """That a project was deleted stays on record."""

    replaces = [
        ("accounts", "0008_project_deletions"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
