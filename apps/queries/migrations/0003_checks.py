import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from apps.common.database.triggers import Guard, InstallGuards, KeepGuards, with_project

GUARDS = with_project(
    [
        Guard(
            "queries_failurereport",
            "UPDATE",
            "a report of a failed search that was decided is never changed",
            "OLD.\"state\" <> 'open'",
        ),
    ],
    {"queries_failurereport": "project_id"},
)
A_PERSON = {"on_delete": django.db.models.deletion.PROTECT, "related_name": "+", "to": settings.AUTH_USER_MODEL}
IS_DECIDED = Q(decided_at__isnull=False, decided_by__isnull=False)


class Migration(migrations.Migration):
    """What the checks found in a query when it came in, until somebody settles it; and reports of failed searches.

    Queries of before were not checked and have no remarks.
    """

    dependencies = [("queries", "0002_triggers")]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="query",
                name="remarks",
                field=models.JSONField(
                    blank=True,
                    default=dict,
                    help_text="What the checks found and nobody has settled: a sentence by check.",
                ),
            )
        ),
        migrations.CreateModel(
            name="FailureReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(blank=True, help_text="What was searched for.")),
                ("expected", models.TextField(blank=True, help_text="What should have been found, in words.")),
                (
                    "passage",
                    models.CharField(blank=True, help_text="Outside id of a passage that answers.", max_length=200),
                ),
                ("remarks", models.JSONField(default=dict, help_text="What the checks found: a sentence by check.")),
                ("has_consent", models.BooleanField(help_text="The reporter lets the project keep the query.")),
                ("reported_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("taken", "taken as a query"), ("rejected", "rejected")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=400)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.ForeignKey(null=True, **A_PERSON)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="failure_reports",
                        to="accounts.project",
                    ),
                ),
                (
                    "query",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="failure_report",
                        to="queries.query",
                    ),
                ),
                ("reported_by", models.ForeignKey(**A_PERSON)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "state", "reported_at"], name="queries_fai_project_7a2b60_idx")
                ],
                "constraints": [
                    models.CheckConstraint(condition=Q(has_consent=True), name="failure_report_has_consent"),
                    models.CheckConstraint(
                        name="failure_report_state_goes_with_its_values",
                        condition=Q(state="open", query=None, decided_at=None, decided_by=None) & ~Q(text="")
                        | Q(state="taken", query__isnull=False) & IS_DECIDED
                        | Q(state="rejected", query=None, text="", expected="") & IS_DECIDED,
                    ),
                ],
            },
        ),
        InstallGuards(GUARDS),
    ]
