from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="ReviewSeat",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveSmallIntegerField()),
            ("opened_at", models.DateTimeField()),
            (
                "lease_expires_at",
                models.DateTimeField(
                    help_text="A pulled seat can be pulled by others once this has passed. None: no lease.", null=True
                ),
            ),
            ("released_at", models.DateTimeField(null=True)),
            ("answered_at", models.DateTimeField(help_text="When the first verdict came from this seat.", null=True)),
            ("closed_at", models.DateTimeField(help_text="When both verdicts of the round were in.", null=True)),
            (
                "reviewer",
                models.ForeignKey(on_delete=models.PROTECT, related_name="review_seats", to=settings.AUTH_USER_MODEL),
            ),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="seats", to="triples.revision")),
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
                models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to=settings.AUTH_USER_MODEL),
            ),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="triples.revision")),
            ("seat", models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="review.reviewseat")),
            (
                "supersedes",
                models.OneToOneField(
                    null=True, on_delete=models.PROTECT, related_name="superseded_by", to="review.verdict"
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
            ]
        },
    ),
    migrations.CreateModel(
        name="DisputeMessage",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("round", models.PositiveIntegerField()),
            ("text", models.TextField()),
            ("posted_at", models.DateTimeField()),
            ("author", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="messages", to="triples.triple")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="message_has_text")
            ]
        },
    ),
    migrations.CreateModel(
        name="Escalation",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("since", models.DateTimeField(help_text="When the triple began to wait: its `changed_at` then.")),
            ("told_at", models.DateTimeField()),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="escalations", to="triples.triple")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("triple", "since"), name="escalation_once")]},
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
                models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
            ),
            (
                "revision",
                models.ForeignKey(on_delete=models.PROTECT, related_name="resolutions", to="triples.revision"),
            ),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="resolutions", to="triples.triple")),
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
            ]
        },
    ),
    migrations.CreateModel(
        name="CandidateBlock",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "spans",
                models.JSONField(default=list, help_text="[start, end] of what answers it; none for all of its text."),
            ),
            (
                "state",
                models.CharField(
                    choices=[
                        ("open", "Two reviewers are asked"),
                        ("disputed", "A lead decides"),
                        ("confirmed", "Added"),
                        ("rejected", "Not added"),
                        ("withdrawn", "Withdrawn"),
                    ],
                    default="open",
                    max_length=12,
                ),
            ),
            ("proposed_at", models.DateTimeField()),
            ("evaluation", models.PositiveBigIntegerField(null=True)),
            ("closed_at", models.DateTimeField(null=True)),
            ("reason", models.TextField(blank=True)),
            (
                "added",
                models.OneToOneField(
                    help_text="The revision that has it.",
                    null=True,
                    on_delete=models.PROTECT,
                    related_name="candidate_block",
                    to="triples.revision",
                ),
            ),
            (
                "decided_by",
                models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
            ),
            ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="triples.revision")),
            (
                "triple",
                models.ForeignKey(on_delete=models.PROTECT, related_name="candidate_blocks", to="triples.triple"),
            ),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
        ],
        options={
            "indexes": [
                models.Index(
                    condition=models.Q(("state__in", ["open", "disputed"])),
                    fields=["proposed_at"],
                    name="candidate_open",
                )
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("state__in", ["open", "disputed", "confirmed", "rejected", "withdrawn"])),
                    name="candidate_state_is_known",
                ),
                models.UniqueConstraint(
                    condition=models.Q(("state__in", ["open", "disputed"])),
                    fields=("triple", "version"),
                    name="candidate_asked_once",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("added__isnull", False), ("state", "confirmed")),
                        models.Q(models.Q(("state", "confirmed"), _negated=True), ("added", None)),
                        _connector="OR",
                    ),
                    name="candidate_confirmed_is_added",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("closed_at", None), ("state__in", ["open", "disputed"])),
                        models.Q(
                            models.Q(("state__in", ["open", "disputed"]), _negated=True), ("closed_at__isnull", False)
                        ),
                        _connector="OR",
                    ),
                    name="candidate_asked_is_not_closed",
                ),
                models.CheckConstraint(
                    condition=models.Q(("decided_by", None), models.Q(("reason", ""), _negated=True), _connector="OR"),
                    name="candidate_decided_has_a_reason",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="CandidateAnswer",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveSmallIntegerField()),
            ("choice", models.CharField(choices=[("confirm", "Also right"), ("reject", "Not right")], max_length=8)),
            ("note", models.TextField(blank=True)),
            ("idempotency_key", models.CharField(max_length=64)),
            ("given_at", models.DateTimeField()),
            (
                "reviewer",
                models.ForeignKey(
                    on_delete=models.PROTECT, related_name="candidate_answers", to=settings.AUTH_USER_MODEL
                ),
            ),
            (
                "supersedes",
                models.OneToOneField(
                    null=True, on_delete=models.PROTECT, related_name="superseded_by", to="review.candidateanswer"
                ),
            ),
            (
                "candidate",
                models.ForeignKey(on_delete=models.PROTECT, related_name="answers", to="review.candidateblock"),
            ),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("number__in", [1, 2])), name="candidate_answer_is_first_or_second"
                ),
                models.CheckConstraint(
                    condition=models.Q(("choice__in", ["confirm", "reject"])), name="candidate_answer_choice_is_known"
                ),
                models.UniqueConstraint(
                    condition=models.Q(("supersedes", None)),
                    fields=("candidate", "number"),
                    name="candidate_answer_two_at_most",
                ),
                models.UniqueConstraint(
                    condition=models.Q(("supersedes", None)),
                    fields=("candidate", "reviewer"),
                    name="candidate_answer_once_per_person",
                ),
                models.UniqueConstraint(fields=("reviewer", "idempotency_key"), name="candidate_answer_key_once"),
            ]
        },
    ),
    migrations.CreateModel(
        name="MissNote",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "kind",
                models.CharField(
                    choices=[("wrong", "The returned passage is wrong"), ("unclear", "The question is unclear")],
                    max_length=8,
                ),
            ),
            ("passage", models.CharField(blank=True, max_length=64)),
            ("text", models.TextField(blank=True)),
            ("made_at", models.DateTimeField()),
            ("evaluation", models.PositiveBigIntegerField(null=True)),
            ("withdrawn_at", models.DateTimeField(null=True)),
            ("made_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="triples.revision")),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="miss_notes", to="triples.triple")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("kind", "unclear"), ("passage", "")),
                        models.Q(("kind", "wrong"), models.Q(("passage", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="miss_note_wrong_names_a_passage",
                ),
                models.UniqueConstraint(
                    condition=models.Q(("withdrawn_at", None)),
                    fields=("revision", "kind", "passage"),
                    name="miss_note_once",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("review", "0001_initial"),
        ("review", "0003_candidate_blocks"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("corpus", "0001_tables"),
        ("triples", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
