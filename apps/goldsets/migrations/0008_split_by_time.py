from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

GUARDS = [
    Guard(
        "goldsets_version",
        "UPDATE",
        "a frozen version stays split as it was",
        f"OLD.\"state\" <> 'draft' AND NOT ({same('split_by')})",
        name="split_by",
    ),
]


class Migration(migrations.Migration):
    """By what a version chooses its groups for test; those that are there chose by group.

    In SQL, since Django would rebuild the table on SQLite, and a rebuilt table has lost its guards.
    """

    dependencies = [
        ("goldsets", "0007_public_releases"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE goldsets_version ADD COLUMN split_by varchar(8) DEFAULT 'group' NOT NULL",
            "ALTER TABLE goldsets_version DROP COLUMN split_by",
            state_operations=[
                migrations.AddField(
                    "version",
                    "split_by",
                    models.CharField(
                        choices=[
                            ("group", "by group: a hash of the group and the seed decides"),
                            ("time", "by time: the newest questions are in test"),
                        ],
                        db_default="group",
                        default="group",
                        max_length=8,
                    ),
                ),
            ],
        ),
        InstallGuards(GUARDS),
    ]
