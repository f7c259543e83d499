import apps.goldsets.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("corpus", "0001_initial"),
        ("judging", "0001_initial"),
        ("queries", "0001_initial"),
        ("triples", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="GoldSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60)),
                ("name", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="gold_sets", to="accounts.project"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "slug"), name="gold_set_slug_in_project")],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("frozen", "frozen"),
                            ("released", "released"),
                            ("superseded", "superseded"),
                        ],
                        default="draft",
                        max_length=12,
                    ),
                ),
                (
                    "test_share",
                    models.FloatField(default=0.5, help_text="Share of items aimed at for the test split, 0 to 1."),
                ),
                (
                    "group_by",
                    models.JSONField(
                        default=apps.goldsets.models.default_group_by,
                        help_text="What a split keeps whole: GroupBy values.",
                    ),
                ),
                ("seed", models.BigIntegerField(default=0)),
                ("note", models.TextField(blank=True)),
                ("digest", models.CharField(blank=True, help_text="Over all items, once frozen.", max_length=64)),
                ("manifest", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("frozen_at", models.DateTimeField(null=True)),
                ("released_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "frozen_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "gold_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="goldsets.goldset"
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="judging.guideline"
                    ),
                ),
                (
                    "released_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("rounds", models.ManyToManyField(related_name="+", to="judging.round")),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="corpus.snapshot"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("gold_set", "number"), name="version_number_in_gold_set"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "released")),
                        fields=("gold_set",),
                        name="version_one_released_per_gold_set",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("digest", ""), ("frozen_at", None), ("released_at", None), ("state", "draft")),
                            models.Q(
                                ("frozen_at__isnull", False),
                                ("released_at", None),
                                ("state", "frozen"),
                                models.Q(("digest", ""), _negated=True),
                            ),
                            models.Q(
                                ("frozen_at__isnull", False),
                                ("released_at__isnull", False),
                                ("state__in", ["released", "superseded"]),
                                models.Q(("digest", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="version_state_fits_its_times",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("test_share__gte", 0), ("test_share__lte", 1)),
                        name="version_test_share_is_a_share",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VersionLoss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("query", "query"), ("pair", "judged pair")], max_length=8)),
                ("query_name", models.CharField(max_length=200)),
                ("block_name", models.CharField(blank=True, max_length=300)),
                ("grade", models.SmallIntegerField(null=True)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("text_changed", "The text of the passage has changed in this snapshot."),
                            ("block_gone", "The passage is not in this snapshot."),
                            ("query_retired", "The query is retired."),
                            ("ruled_out", "A lead decided that it can’t be judged."),
                            ("not_chosen", "It was not judged in any chosen round."),
                            ("nothing_left", "None of its judged pairs or Q&As is left."),
                        ],
                        max_length=16,
                    ),
                ),
                ("sentence", models.TextField()),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="losses", to="goldsets.version"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "version losses",
            },
        ),
        migrations.CreateModel(
            name="VersionQuery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("outside_id", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("split", models.CharField(choices=[("dev", "dev"), ("test", "test")], max_length=4)),
                ("fields", models.JSONField(default=dict)),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="version_queries", to="queries.query"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="queries", to="goldsets.version"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("version", "outside_id"), name="version_query_once")],
            },
        ),
        migrations.CreateModel(
            name="VersionGrade",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("block_id", models.CharField(max_length=300)),
                ("position", models.PositiveIntegerField(help_text="The block's position in the version's snapshot.")),
                ("grade", models.SmallIntegerField()),
                ("resolution", models.CharField(max_length=16)),
                (
                    "judges",
                    models.PositiveSmallIntegerField(default=1, help_text="People whose answers the grade rests on."),
                ),
                (
                    "block_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.blockversion"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grades", to="goldsets.version"
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grades", to="goldsets.versionquery"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("query", "block_version"), name="version_grade_once")],
            },
        ),
        migrations.CreateModel(
            name="VersionTriple",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=20)),
                ("split", models.CharField(choices=[("dev", "dev"), ("test", "test")], max_length=4)),
                ("content", models.JSONField()),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="triples.revision"
                    ),
                ),
                (
                    "triple",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="version_triples", to="triples.triple"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="triples", to="goldsets.version"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("version", "triple"), name="version_triple_once")],
            },
        ),
    ]
