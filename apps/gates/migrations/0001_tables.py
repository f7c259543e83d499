from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Gate",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=120)),
            (
                "tier",
                models.CharField(
                    choices=[
                        ("smoke", "smoke: every change, 50 queries"),
                        ("full", "full: before merging, every query"),
                        ("deep", "deep: before a release, every query and test"),
                    ],
                    default="full",
                    max_length=5,
                ),
            ),
            ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
            ("rule", models.JSONField(help_text="As `gates.core.rule` writes it.")),
            ("created_at", models.DateTimeField()),
            ("retired_at", models.DateTimeField(null=True)),
            ("baseline", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="retrieval.run")),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("gold_set", models.ForeignKey(on_delete=models.PROTECT, related_name="gates", to="goldsets.goldset")),
            ("replaces", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="replaced_by", to="gates.gate")),
            ("system", models.ForeignKey(on_delete=models.PROTECT, related_name="gates", to="retrieval.system")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("retired_at", None)), fields=("gold_set", "system", "name"), name="gate_name_in_use_once"
                ),
                models.UniqueConstraint(condition=models.Q(("replaces__isnull", False)), fields=("replaces",), name="gate_replaced_once"),
                models.CheckConstraint(condition=models.Q(("tier__in", ["smoke", "full", "deep"])), name="gate_tier_is_known"),
            ]
        },
    ),
    migrations.CreateModel(
        name="GateResult",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("state", models.CharField(choices=[("passed", "passed"), ("failed", "failed"), ("unknown", "not known")], max_length=8)),
            ("value", models.FloatField(null=True)),
            ("ci_low", models.FloatField(null=True)),
            ("ci_high", models.FloatField(null=True)),
            ("n", models.PositiveIntegerField(help_text="Queries that the value is of.", null=True)),
            ("gap", models.CharField(max_length=16, null=True)),
            ("bound", models.FloatField(null=True)),
            ("words", models.CharField(max_length=400)),
            ("decided_at", models.DateTimeField()),
            ("evaluation", models.ForeignKey(on_delete=models.PROTECT, related_name="gate_results", to="evaluation.evaluation")),
            ("gate", models.ForeignKey(on_delete=models.PROTECT, related_name="results", to="gates.gate")),
        ],
        options={
            "indexes": [models.Index(fields=["gate", "-id"], name="gate_result_newest_first")],
            "constraints": [
                models.UniqueConstraint(fields=("gate", "evaluation"), name="gate_result_once"),
                models.CheckConstraint(condition=models.Q(("state__in", ["passed", "failed", "unknown"])), name="gate_state_is_known"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Badge",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("token", models.CharField(max_length=64, unique=True)),
            ("created_at", models.DateTimeField()),
            ("revoked_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("gold_set", models.ForeignKey(on_delete=models.PROTECT, related_name="badges", to="goldsets.goldset")),
            ("system", models.ForeignKey(on_delete=models.PROTECT, related_name="badges", to="retrieval.system")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(condition=models.Q(("revoked_at", None)), fields=("gold_set", "system"), name="badge_one_in_use")
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("gates", "0001_initial")
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("evaluation", "0001_tables"),
        ("goldsets", "0001_tables"),
        ("retrieval", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
