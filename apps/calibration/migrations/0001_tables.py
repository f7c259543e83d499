from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Calibration",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("side", models.CharField(choices=[("author", "as an author"), ("reviewer", "as a reviewer")], max_length=10)),
            ("period", models.CharField(blank=True, max_length=20)),
            ("why", models.JSONField(default=dict)),
            ("item_count", models.PositiveSmallIntegerField()),
            (
                "state",
                models.CharField(choices=[("open", "Open"), ("answered", "Answered"), ("closed", "Closed")], default="open", max_length=10),
            ),
            ("opened_at", models.DateTimeField()),
            ("answered_at", models.DateTimeField(null=True)),
            ("closed_at", models.DateTimeField(null=True)),
            ("note", models.TextField(blank=True)),
            ("closed_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("opened_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("partner", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="calibrations", to="accounts.project")),
            ("subject", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "number"), name="calibration_number_in_project"),
                models.UniqueConstraint(
                    condition=models.Q(("period", ""), _negated=True),
                    fields=("project", "subject", "side", "period"),
                    name="calibration_once_per_person_side_and_period",
                ),
                models.UniqueConstraint(
                    condition=models.Q(("state", "closed"), _negated=True),
                    fields=("project", "subject", "side"),
                    name="calibration_one_at_a_time_per_person_and_side",
                ),
                models.CheckConstraint(condition=models.Q(("subject", models.F("partner")), _negated=True), name="calibration_takes_two"),
                models.CheckConstraint(condition=models.Q(("side__in", ["author", "reviewer"])), name="calibration_side_is_known"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(
                            ("closed_at__isnull", False),
                            ("closed_by__isnull", False),
                            ("state", "closed"),
                            models.Q(("note", ""), _negated=True),
                        ),
                        models.Q(("closed_at", None), ("closed_by", None), ("note", ""), ("state__in", ["open", "answered"])),
                        _connector="OR",
                    ),
                    name="calibration_closed_has_who_when_and_a_note",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("answered_at", None), ("state", "open")),
                        models.Q(("answered_at__isnull", False), ("state", "answered")),
                        ("state", "closed"),
                        _connector="OR",
                    ),
                    name="calibration_answered_has_a_time",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="CalibrationItem",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveSmallIntegerField()),
            ("calibration", models.ForeignKey(on_delete=models.PROTECT, related_name="items", to="calibration.calibration")),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="triples.revision")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("calibration", "number"), name="calibration_item_number_once"),
                models.UniqueConstraint(fields=("calibration", "revision"), name="calibration_item_once"),
            ]
        },
    ),
    migrations.CreateModel(
        name="CalibrationMessage",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("text", models.TextField()),
            ("posted_at", models.DateTimeField()),
            ("author", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("calibration", models.ForeignKey(on_delete=models.PROTECT, related_name="messages", to="calibration.calibration")),
        ],
        options={
            "constraints": [models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="calibration_message_has_text")]
        },
    ),
    migrations.CreateModel(
        name="CalibrationVerdict",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("choice", models.CharField(choices=[("confirm", "Confirm"), ("flag", "Flag")], max_length=8)),
            ("reasons", models.JSONField(default=list, help_text="What is wrong: values of Reason, none for a confirm.")),
            (
                "category",
                models.CharField(
                    blank=True,
                    choices=[
                        ("numeric", "Numeric precision"),
                        ("synonym", "Synonym or tense"),
                        ("compound", "Compound claim"),
                        ("other", "Other"),
                    ],
                    max_length=10,
                ),
            ),
            ("note", models.TextField(blank=True)),
            ("idempotency_key", models.CharField(max_length=64)),
            ("given_at", models.DateTimeField()),
            ("item", models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="calibration.calibrationitem")),
            ("person", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "supersedes",
                models.OneToOneField(
                    null=True, on_delete=models.PROTECT, related_name="superseded_by", to="calibration.calibrationverdict"
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("supersedes", None)),
                    fields=("item", "person"),
                    name="calibration_verdict_one_chain_per_item_and_person",
                ),
                models.UniqueConstraint(fields=("person", "idempotency_key"), name="calibration_verdict_key_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("category", ""), ("choice", "confirm"), ("reasons", [])),
                        models.Q(("choice", "flag"), models.Q(("reasons", []), _negated=True)),
                        _connector="OR",
                    ),
                    name="calibration_flag_has_reasons_and_confirm_none",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("calibration", "0001_initial")
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("triples", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
