from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="BiasReport",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
            ("requested_at", models.DateTimeField()),
            ("runs", models.JSONField(help_text="Keys of the runs, ascending.")),
            ("digest", models.CharField(max_length=64)),
            ("computed_at", models.DateTimeField(null=True)),
            ("measures", models.JSONField(help_text="Measure names in the requested order; the first weighs what to judge first.")),
            ("depth", models.PositiveIntegerField(default=0)),
            ("result", models.JSONField(default=dict, help_text="As `execution.bias` writes it.")),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="bias_reports", to="accounts.project")),
            ("requested_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="bias_reports", to="goldsets.version")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("version", "digest"), name="bias_report_once")]},
    ),
    migrations.CreateModel(
        name="StabilityReport",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
            ("measures", models.JSONField(help_text="Measure names in the requested order.")),
            ("requested_at", models.DateTimeField()),
            ("runs", models.JSONField(help_text="Keys of the runs, ascending.")),
            ("digest", models.CharField(max_length=64)),
            ("computed_at", models.DateTimeField(null=True)),
            ("result", models.JSONField(default=dict, help_text="As the job of its kind in `reports.execution` writes it.")),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="stability_reports", to="accounts.project")),
            ("requested_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="stability_reports", to="goldsets.version")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("version", "digest"), name="stability_report_once")]},
    ),
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
            ("baseline", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="retrieval.run")),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="negatives_reports", to="accounts.project")),
            ("requested_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="negatives_reports", to="goldsets.version")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("version", "digest"), name="negatives_report_once")]},
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("reports", "0001_initial")
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("goldsets", "0001_tables"),
        ("jobs", "0001_tables"),
        ("retrieval", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
