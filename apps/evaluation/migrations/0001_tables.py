from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Evaluation",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("split", models.CharField(blank=True, help_text="Empty: dev and test together.", max_length=4)),
            ("measures", models.JSONField(help_text="Measure names in the requested order.")),
            ("requested_at", models.DateTimeField()),
            (
                "measures_digest",
                models.CharField(help_text="Over the measures, with the hit rule and the slice where there is one.", max_length=64),
            ),
            ("seed", models.BigIntegerField(default=20)),
            ("counts", models.JSONField(default=dict)),
            ("query_ids", models.JSONField(default=list, help_text="Outside ids in the order of each score's values.")),
            ("scored_at", models.DateTimeField(null=True)),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="evaluations", to="accounts.project")),
            ("requested_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="evaluations", to="retrieval.run")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="evaluations", to="goldsets.version")),
            ("hit", models.CharField(blank=True, db_default="", default="", help_text="A hit rule; empty: by grades.", max_length=60)),
            ("slice", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="evaluations", to="goldsets.slice")),
            (
                "slice_size",
                models.PositiveIntegerField(help_text="The first questions of the slice, by number, that were scored.", null=True),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("run", "version", "split", "measures_digest", "seed"), name="evaluation_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("slice", None), ("slice_size", None)),
                        models.Q(("slice__isnull", False), ("slice_size__gte", 1), ("slice_size__isnull", False)),
                        _connector="OR",
                    ),
                    name="evaluation_slice_has_a_size",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="ClosedComparison",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("measure", models.CharField(max_length=80)),
            ("verdict", models.TextField()),
            ("closed_at", models.DateTimeField()),
            ("closed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("baseline", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="evaluation.evaluation")),
            ("candidate", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="evaluation.evaluation")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("baseline", "candidate", "measure"), name="comparison_closed_once")]},
    ),
    migrations.CreateModel(
        name="RegressionNote",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("measure", models.CharField(max_length=80)),
            ("query_id_text", models.CharField(max_length=200)),
            ("decision", models.CharField(choices=[("accept", "Accept"), ("fix", "Fix"), ("grades_wrong", "Grades wrong")], max_length=16)),
            ("explanation", models.TextField(blank=True)),
            ("decided_at", models.DateTimeField()),
            ("baseline", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="evaluation.evaluation")),
            ("candidate", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="evaluation.evaluation")),
            ("decided_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "pool",
                models.ForeignKey(
                    help_text="Where its pairs are judged again.",
                    null=True,
                    on_delete=models.PROTECT,
                    related_name="+",
                    to="retrieval.pool",
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("baseline", "candidate", "measure", "query_id_text"), name="regression_note_once"),
                models.CheckConstraint(
                    condition=models.Q(("decision__in", ["accept", "fix", "grades_wrong"])), name="regression_decision_is_known"
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="RunNote",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("tried", models.TextField(blank=True)),
            ("commit", models.CharField(blank=True, max_length=80)),
            ("configuration", models.TextField(blank=True)),
            ("verdict", models.TextField(blank=True)),
            (
                "cost",
                models.DecimalField(decimal_places=4, help_text="Of 1,000 queries, in the project's currency.", max_digits=12, null=True),
            ),
            ("written_at", models.DateTimeField()),
            ("run", models.OneToOneField(on_delete=models.PROTECT, related_name="ledger", to="retrieval.run")),
            ("written_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("cost", None), ("cost__gte", 0), _connector="OR"), name="run_cost_is_not_negative"
                )
            ]
        },
    ),
    migrations.CreateModel(
        name="Score",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("measure", models.CharField(max_length=80)),
            ("order", models.PositiveSmallIntegerField()),
            ("mean", models.FloatField(null=True)),
            ("ci_low", models.FloatField(null=True)),
            ("ci_high", models.FloatField(null=True)),
            ("bca_low", models.FloatField(help_text="The same interval, bias-corrected and accelerated.", null=True)),
            ("bca_high", models.FloatField(null=True)),
            ("people_low", models.FloatField(help_text="Interval over people too: what their leanings add.", null=True)),
            ("people_high", models.FloatField(null=True)),
            ("n", models.PositiveIntegerField()),
            ("values", models.BinaryField()),
            ("evaluation", models.ForeignKey(on_delete=models.PROTECT, related_name="scores", to="evaluation.evaluation")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("evaluation", "measure"), name="score_once_per_measure")]},
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("evaluation", "0001_initial"),
        ("evaluation", "0003_hit_rules"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("goldsets", "0001_tables"),
        ("jobs", "0001_tables"),
        ("retrieval", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
