import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.triggers import InstallGuards, frozen_when


GUARDS = frozen_when("reports_negativesreport", 'OLD."computed_at" IS NOT NULL', "a finished report on negatives")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_archived_by"),
        ("goldsets", "0008_split_by_time"),
        ("jobs", "0001_initial"),
        ("reports", "0002_guards"),
        ("retrieval", "0003_passages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="NegativesReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
                ("measures", models.JSONField(help_text="Measure names in the requested order.")),
                ("requested_at", models.DateTimeField()),
                ("runs", models.JSONField(help_text="Keys of the runs, ascending.")),
                ("digest", models.CharField(max_length=64)),
                ("computed_at", models.DateTimeField(null=True)),
                ("depth", models.PositiveIntegerField()),
                ("result", models.JSONField(default=dict, help_text="As `execution.negatives` writes it.")),
                (
                    "baseline",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="retrieval.run"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="negatives_reports",
                        to="accounts.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="negatives_reports",
                        to="goldsets.version",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("version", "digest"), name="negatives_report_once")],
            },
        ),
        InstallGuards(GUARDS),
    ]
