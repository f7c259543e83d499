from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

GUARDS = [
    Guard(
        "judging_round",
        "UPDATE",
        "only a closed round of imported grades is withdrawn",
        "NEW.\"withdrawn_at\" IS NOT NULL AND (OLD.\"kind\" <> 'imported' OR OLD.\"state\" <> 'closed')",
        name="withdrawing",
    ),
    Guard(
        "judging_round",
        "UPDATE",
        "a round that is withdrawn stays withdrawn",
        'OLD."withdrawn_at" IS NOT NULL AND NOT (' + same("withdrawn_at") + ")",
        name="withdrawn",
    ),
]


class Migration(migrations.Migration):
    """A round of imported grades can be withdrawn, whose rows stay."""

    dependencies = [
        ("judging", "0002_guards"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="withdrawn_at",
            field=models.DateTimeField(help_text="When the import of its grades was undone.", null=True),
        ),
        InstallGuards(GUARDS),
    ]
