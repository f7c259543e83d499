from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same

KEYS = "goldsets_signingkey"
FACTS = same("id", "project_id", "public_key", "sealed", "made_by_id", "made_at")

GUARDS = [
    Guard(KEYS, "UPDATE", "a signing key never changes, and ends once", f'OLD."ended_at" IS NOT NULL OR NOT ({FACTS})'),
    Guard(KEYS, "DELETE", "a signing key is never deleted: what it signed names it"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("goldsets", "0005_signing_keys"),
    ]

    operations = [InstallGuards(GUARDS)]
