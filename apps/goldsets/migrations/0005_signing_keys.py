import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

KEYS = "goldsets_signingkey"
FACTS = same("id", "project_id", "public_key", "sealed", "made_by_id", "made_at")

GUARDS = [
    Guard(KEYS, "UPDATE", "a signing key never changes, and ends once", f'OLD."ended_at" IS NOT NULL OR NOT ({FACTS})'),
    Guard(KEYS, "DELETE", "a signing key is never deleted: what it signed names it"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("goldsets", "0004_slices"),
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_key", models.CharField(max_length=60)),
                ("sealed", models.BinaryField(help_text="The private key, sealed under SECRET_KEY.")),
                ("made_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signing_keys",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("project",), name="signing_key_one_in_use"
                    )
                ]
            },
        ),
        InstallGuards(GUARDS),
    ]
