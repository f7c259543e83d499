from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, same, with_project

# Two whole numbers that only rise; the mark stands on a record that is sealed, so nothing is ever passed over.
UNSEALED = """NEW."record_id" <> 0 AND NOT EXISTS (
  SELECT 1 FROM "audit_link" link WHERE link."kind" = NEW."kind" AND link."record_id" = NEW."record_id")"""

PATHS = {
    "audit_chain": "project_id",
    "audit_event": "project_id",
    "audit_link": "chain_id audit_chain project_id",
}

GUARDS = with_project(
    [
        *append_only("audit_event", "an audit event"),
        *append_only("audit_link", "a link of the audit chain"),
        Guard(
            "audit_chain",
            "UPDATE",
            "a chain keeps its name and its project",
            f"NOT ({same('id', 'name', 'project_id')})",
        ),
        Guard("audit_chain", "UPDATE", "a chain only grows", 'NEW."length" < OLD."length"', name="shorter"),
        Guard("audit_chain", "DELETE", "a chain is never deleted"),
    ],
    PATHS,
)
# It is of no project.
MARK = [
    Guard(
        "audit_sealmark",
        "UPDATE",
        "the mark of the sealer only rises",
        f'NEW."record_id" < OLD."record_id" OR NOT ({same("id", "kind")})',
    ),
    Guard("audit_sealmark", "UPDATE", "the mark of the sealer stands on a sealed record", UNSEALED, name="unsealed"),
    Guard("audit_sealmark", "INSERT", "the mark of the sealer stands on a sealed record", UNSEALED, name="begun"),
    Guard("audit_sealmark", "DELETE", "the mark of the sealer is never deleted"),
]


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("audit", "0002_guards"),
        ("audit", "0004_deleted_projects"),
    ]

    dependencies = [
        ("audit", "0001_tables"),
    ]

    operations = [InstallGuards([*GUARDS, *MARK])]
