from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="SealMark",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=32, unique=True)),
            ("record_id", models.PositiveBigIntegerField(default=0)),
        ],
    ),
    migrations.CreateModel(
        name="Chain",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=32, unique=True)),
            ("length", models.PositiveBigIntegerField(default=0)),
            ("digest", models.CharField(max_length=64)),
            ("signature", models.CharField(blank=True, default="", help_text="Of the head, with the audit key.", max_length=64)),
            (
                "project",
                models.ForeignKey(
                    db_constraint=False, null=True, on_delete=models.DO_NOTHING, related_name="chains", to="accounts.project"
                ),
            ),
            (
                "moves",
                models.JSONField(
                    help_text="How keys were renumbered since it was sealed: one entry for each server, the last first.", null=True
                ),
            ),
        ],
    ),
    migrations.CreateModel(
        name="Event",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("action", models.CharField(max_length=64)),
            ("object_type", models.CharField(blank=True, max_length=64)),
            ("object_id", models.CharField(blank=True, max_length=64)),
            ("object_label", models.CharField(blank=True, max_length=200)),
            ("before", models.JSONField(null=True)),
            ("after", models.JSONField(null=True)),
            ("at", models.DateTimeField()),
            ("request_id", models.CharField(blank=True, max_length=64)),
            (
                "actor",
                models.ForeignKey(
                    db_constraint=False, null=True, on_delete=models.DO_NOTHING, related_name="+", to=settings.AUTH_USER_MODEL
                ),
            ),
            (
                "project",
                models.ForeignKey(
                    db_constraint=False, null=True, on_delete=models.DO_NOTHING, related_name="events", to="accounts.project"
                ),
            ),
        ],
        options={
            "indexes": [
                models.Index(fields=["project", "-id"], name="event_newest_first"),
                models.Index(fields=["object_type", "object_id", "-id"], name="event_by_object"),
            ],
            "constraints": [models.CheckConstraint(condition=models.Q(("action", ""), _negated=True), name="event_action_is_named")],
        },
    ),
    migrations.CreateModel(
        name="Link",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("position", models.PositiveBigIntegerField()),
            ("kind", models.CharField(max_length=32)),
            ("record_id", models.PositiveBigIntegerField()),
            ("record_digest", models.CharField(max_length=64)),
            ("chain_digest", models.CharField(max_length=64)),
            ("chain", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="links", to="audit.chain")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("chain", "position"), name="link_one_at_a_position"),
                models.UniqueConstraint(fields=("kind", "record_id"), name="link_record_is_sealed_once"),
                models.CheckConstraint(condition=models.Q(("position__gte", 1)), name="link_positions_start_at_one"),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("audit", "0001_initial"),
        ("audit", "0003_leaner_indexes"),
        ("audit", "0005_moved_chains"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
