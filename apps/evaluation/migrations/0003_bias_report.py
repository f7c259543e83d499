import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.triggers import InstallGuards, frozen_when

GUARDS = frozen_when("evaluation_biasreport", 'OLD."computed_at" IS NOT NULL', "a finished bias report")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("evaluation", "0002_guards"),
        ("goldsets", "0002_guards"),
        ("jobs", "0004_notification_about"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BiasReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
                ("runs", models.JSONField(help_text="Keys of the runs, ascending.")),
                (
                    "measures",
                    models.JSONField(
                        help_text="Measure names in the order asked for; the first weighs what to judge first."
                    ),
                ),
                ("depth", models.PositiveIntegerField(default=0)),
                ("digest", models.CharField(max_length=64)),
                ("result", models.JSONField(default=dict, help_text="As `execution.bias` writes it.")),
                ("requested_at", models.DateTimeField()),
                ("computed_at", models.DateTimeField(null=True)),
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
                        related_name="bias_reports",
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
                        related_name="bias_reports",
                        to="goldsets.version",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("version", "digest"), name="bias_report_once")],
            },
        ),
        InstallGuards(GUARDS),
    ]
