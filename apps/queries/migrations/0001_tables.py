from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Source",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("slug", models.SlugField(max_length=60)),
            ("name", models.CharField(max_length=120)),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("query_log", "query log"),
                        ("failure_case", "failure case"),
                        ("adversarial", "adversarial probe"),
                        ("interview", "interview"),
                        ("public_rfp", "public RFP"),
                        ("customer", "customer material"),
                        ("synthetic", "synthetic"),
                    ],
                    max_length=20,
                ),
            ),
            ("target_share", models.FloatField(help_text="Share of the set aimed at, 0 to 1.", null=True)),
            ("created_at", models.DateTimeField()),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="sources", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "slug"), name="source_slug_in_project"),
                models.CheckConstraint(
                    condition=models.Q(
                        ("kind__in", ["query_log", "failure_case", "adversarial", "interview", "public_rfp", "customer", "synthetic"])
                    ),
                    name="source_kind_is_known",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        ("target_share", None), models.Q(("target_share__gte", 0), ("target_share__lte", 1)), _connector="OR"
                    ),
                    name="source_target_is_a_share",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Query",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("outside_id", models.CharField(max_length=200)),
            ("text", models.TextField()),
            ("label", models.CharField(blank=True, max_length=200)),
            ("intent", models.TextField(blank=True, help_text="What the asker needs, in a sentence or two.")),
            ("description", models.TextField(blank=True)),
            (
                "difficulty",
                models.CharField(
                    blank=True, choices=[("easy", "easy"), ("standard", "standard"), ("medium", "medium"), ("hard", "hard")], max_length=10
                ),
            ),
            ("domain", models.CharField(blank=True, max_length=80)),
            ("query_type", models.CharField(blank=True, max_length=40)),
            ("group_key", models.CharField(blank=True, help_text="Entity or time group; a split keeps it whole.", max_length=120)),
            ("tags", models.JSONField(blank=True, default=list)),
            ("metadata", models.JSONField(blank=True, default=dict)),
            ("created_at", models.DateTimeField()),
            ("locked_at", models.DateTimeField(null=True)),
            ("retired_at", models.DateTimeField(null=True)),
            ("retired_reason", models.CharField(blank=True, max_length=200)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="queries", to="accounts.project")),
            ("source", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="queries", to="queries.source")),
            (
                "is_asked",
                models.BooleanField(
                    db_default=False, default=False, help_text="The question of a Q&A that came from no query; no list shows it."
                ),
            ),
        ],
        options={
            "verbose_name_plural": "queries",
            "indexes": [models.Index(fields=["project", "retired_at", "outside_id"], name="queries_que_project_fc3975_idx")],
            "constraints": [
                models.UniqueConstraint(fields=("project", "outside_id"), name="query_id_in_project"),
                models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="query_has_text"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Permission",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("owner", models.CharField(max_length=200)),
            ("scope", models.CharField(choices=[("internal", "internal"), ("public", "public")], max_length=12)),
            ("evidence", models.TextField(blank=True, help_text="Contract, mail or policy that grants it.")),
            ("licence", models.CharField(blank=True, max_length=80)),
            ("granted_at", models.DateTimeField()),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ("revocation_reason", models.TextField(blank=True)),
            ("revoked_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("source", models.ForeignKey(on_delete=models.PROTECT, related_name="permissions", to="queries.source")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=models.Q(("scope__in", ["internal", "public"])), name="permission_scope_is_known"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("revoked_at", None), ("revoked_by", None)),
                        models.Q(("revoked_at__isnull", False), ("revoked_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="permission_revoked_by_goes_with_revoked_at",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("queries", "0001_initial"),
        ("queries", "0004_standard_difficulty"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
