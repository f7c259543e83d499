import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("triples", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReviewSeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("opened_at", models.DateTimeField()),
                (
                    "lease_expires_at",
                    models.DateTimeField(
                        help_text="A pulled seat can be pulled by others once this has passed. None: no lease.",
                        null=True,
                    ),
                ),
                ("released_at", models.DateTimeField(null=True)),
                (
                    "answered_at",
                    models.DateTimeField(help_text="When the first verdict came from this seat.", null=True),
                ),
                ("closed_at", models.DateTimeField(help_text="When both verdicts of the round were in.", null=True)),
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_seats",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="seats", to="triples.revision"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("answered_at", None), ("released_at", None)),
                        fields=["reviewer", "opened_at"],
                        name="review_seat_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("closed_at", None), ("released_at", None)),
                        fields=["reviewer", "-answered_at"],
                        name="review_seat_in_open_round",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("released_at", None)),
                        fields=("revision", "number"),
                        name="review_seat_number_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("released_at", None)),
                        fields=("revision", "reviewer"),
                        name="review_seat_once_per_person",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number__in", [1, 2])), name="review_seat_is_first_or_second"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("choice", models.CharField(choices=[("confirm", "Confirm"), ("flag", "Flag")], max_length=8)),
                (
                    "reasons",
                    models.JSONField(default=list, help_text="What is wrong: values of Reason, none for a confirm."),
                ),
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
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verdicts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="verdicts", to="triples.revision"
                    ),
                ),
                (
                    "seat",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="verdicts", to="review.reviewseat"
                    ),
                ),
                (
                    "supersedes",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="superseded_by",
                        to="review.verdict",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("supersedes", None)),
                        fields=("revision", "reviewer"),
                        name="verdict_one_chain_per_revision_and_reviewer",
                    ),
                    models.UniqueConstraint(fields=("reviewer", "idempotency_key"), name="verdict_key_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("category", ""), ("choice", "confirm"), ("reasons", [])),
                            models.Q(("choice", "flag"), models.Q(("reasons", []), _negated=True)),
                            _connector="OR",
                        ),
                        name="verdict_flag_has_reasons_and_confirm_none",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DisputeMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("posted_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "triple",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="messages", to="triples.triple"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="message_has_text")
                ],
            },
        ),
        migrations.CreateModel(
            name="Escalation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(help_text="When the triple began to wait: its `changed_at` then.")),
                ("told_at", models.DateTimeField()),
                (
                    "triple",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="escalations", to="triples.triple"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("triple", "since"), name="escalation_once")],
            },
        ),
        migrations.CreateModel(
            name="Resolution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("consensus", "Consensus"),
                            ("revised", "Revised"),
                            ("policy", "Policy"),
                            ("adjudicated", "Adjudicated"),
                            ("split", "Split"),
                            ("dropped", "Dropped"),
                        ],
                        max_length=12,
                    ),
                ),
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
                ("reason", models.TextField(blank=True)),
                ("resolved_at", models.DateTimeField()),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="resolutions", to="triples.revision"
                    ),
                ),
                (
                    "triple",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="resolutions", to="triples.triple"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "adjudicated"), _negated=True),
                            models.Q(("decided_by__isnull", False), models.Q(("reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="resolution_adjudicated_has_judge_and_reason",
                    )
                ],
            },
        ),
    ]
