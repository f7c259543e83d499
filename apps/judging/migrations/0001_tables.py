from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Guideline",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("markdown", models.TextField(blank=True)),
            ("grades", models.JSONField(help_text="For each grade: grade, name, definition, examples.")),
            ("published_at", models.DateTimeField()),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="guidelines", to="accounts.project")),
            ("published_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("project", "number"), name="guideline_number_in_project")]},
    ),
    migrations.CreateModel(
        name="KeyMap",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("keys", models.JSONField(help_text="For each act that was given another key: act and key.")),
            ("person", models.OneToOneField(on_delete=models.PROTECT, related_name="key_map", to=settings.AUTH_USER_MODEL)),
        ],
    ),
    migrations.CreateModel(
        name="Round",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("name", models.CharField(max_length=120)),
            (
                "kind",
                models.CharField(
                    choices=[("judging", "judging"), ("imported", "imported"), ("propagated", "carried over")],
                    default="judging",
                    max_length=10,
                ),
            ),
            (
                "state",
                models.CharField(
                    choices=[("opening", "opening"), ("open", "open"), ("closed", "closed")], default="opening", max_length=10
                ),
            ),
            ("overlap_share", models.FloatField(default=0.2, help_text="Share of pairs judged by `judges` people, 0 to 1.")),
            ("judges", models.PositiveSmallIntegerField(default=2, help_text="Judgements a pair of the overlap gets.")),
            ("seed", models.BigIntegerField(default=0)),
            ("plan", models.JSONField(help_text="The rest of the plan, as `plan.Plan` writes it.", null=True)),
            ("lease_minutes", models.PositiveIntegerField(default=30)),
            ("origin", models.CharField(blank=True, max_length=300)),
            ("created_at", models.DateTimeField()),
            ("opened_at", models.DateTimeField(null=True)),
            ("closed_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("guideline", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="rounds", to="judging.guideline")),
            ("pool", models.ForeignKey(on_delete=models.PROTECT, related_name="rounds", to="retrieval.pool")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="rounds", to="accounts.project")),
            ("withdrawn_at", models.DateTimeField(help_text="When the import of its grades was undone.", null=True)),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "number"), name="round_number_in_project"),
                models.CheckConstraint(
                    condition=models.Q(("overlap_share__gte", 0), ("overlap_share__lte", 1)), name="round_overlap_is_a_share"
                ),
                models.CheckConstraint(condition=models.Q(("judges__gte", 1)), name="round_asks_for_a_judge"),
            ]
        },
    ),
    migrations.CreateModel(
        name="PilotDecision",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("alpha", models.FloatField(help_text="Ordinal α over the pilot; empty where it is undefined.", null=True)),
            ("reason", models.TextField(blank=True, help_text="Why a lead opened the round all the same.")),
            ("decided_at", models.DateTimeField()),
            ("decided_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("round", models.OneToOneField(on_delete=models.PROTECT, related_name="pilot_decision", to="judging.round")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("decided_by", None), models.Q(("reason", ""), _negated=True), _connector="OR"),
                    name="pilot_decision_of_a_lead_has_a_reason",
                )
            ]
        },
    ),
    migrations.CreateModel(
        name="KnownAnswer",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("grade", models.SmallIntegerField()),
            ("origin", models.CharField(help_text="Where the grade is known from.", max_length=300)),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="retrieval.poolentry")),
            ("round", models.ForeignKey(on_delete=models.PROTECT, related_name="known_answers", to="judging.round")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("round", "entry"), name="known_answer_once")]},
    ),
    migrations.CreateModel(
        name="KeptPair",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="retrieval.poolentry")),
            ("kept_from", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="judging.round")),
            ("round", models.ForeignKey(on_delete=models.PROTECT, related_name="kept_pairs", to="judging.round")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("round", "entry"), name="kept_pair_once")]},
    ),
    migrations.CreateModel(
        name="Adjudication",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("grade", models.SmallIntegerField(help_text="Empty: the pair can't be judged at all.", null=True)),
            ("reason", models.TextField()),
            (
                "error_type",
                models.CharField(
                    choices=[
                        ("unclear_query", "unclear query"),
                        ("unclear_guideline", "unclear guideline"),
                        ("unreadable", "unreadable passage"),
                        ("slip", "slip"),
                        ("ambiguity", "real ambiguity"),
                        ("not_recorded", "not recorded"),
                    ],
                    max_length=20,
                ),
            ),
            ("given_at", models.DateTimeField()),
            ("adjudicator", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="adjudications", to="retrieval.poolentry")),
            (
                "supersedes",
                models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="superseded_by", to="judging.adjudication"),
            ),
            ("round", models.ForeignKey(on_delete=models.PROTECT, related_name="adjudications", to="judging.round")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("supersedes", None)), fields=("round", "entry"), name="adjudication_one_chain_per_pair"
                ),
                models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="adjudication_has_a_reason"),
            ]
        },
    ),
    migrations.CreateModel(
        name="RoundAnnotator",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("cursor", models.BigIntegerField(default=0)),
            ("only", models.JSONField(help_text="What they may judge; empty: every pair of the round.", null=True)),
            ("annotator", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("round", models.ForeignKey(on_delete=models.PROTECT, related_name="annotators", to="judging.round")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("round", "annotator"), name="round_annotator_once")]},
    ),
    migrations.CreateModel(
        name="Seat",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveSmallIntegerField(help_text="From 1 to the judgements this pair gets.")),
            (
                "pass_number",
                models.PositiveSmallIntegerField(
                    default=1, help_text="0: a check against a known answer. 2 and up: the same pair again, blindly."
                ),
            ),
            ("state", models.CharField(choices=[("open", "open"), ("leased", "leased"), ("done", "done")], default="open", max_length=8)),
            ("lease_expires_at", models.DateTimeField(null=True)),
            (
                "due_after",
                models.PositiveIntegerField(
                    help_text="A reserved seat is offered once its person has judged so many pairs of the round.", null=True
                ),
            ),
            (
                "annotator",
                models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
            ),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="seats", to="retrieval.poolentry")),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="queries.query")),
            (
                "reserved_for",
                models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
            ),
            ("round", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="seats", to="judging.round")),
        ],
        options={
            "indexes": [
                models.Index(fields=["round", "state", "query"], name="judging_seat_open"),
                models.Index(
                    condition=models.Q(("state", "leased")), fields=["round", "annotator", "lease_expires_at"], name="judging_seat_leased"
                ),
                models.Index(
                    condition=models.Q(("reserved_for__isnull", False)),
                    fields=["round", "reserved_for", "state"],
                    name="judging_seat_reserved",
                ),
            ],
            "constraints": [
                models.UniqueConstraint(fields=("round", "entry", "number"), name="judging_seat_number_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("annotator", None), ("lease_expires_at", None), ("state", "open")),
                        models.Q(("annotator__isnull", False), ("lease_expires_at__isnull", False), ("state", "leased")),
                        models.Q(("annotator__isnull", False), ("state", "done")),
                        _connector="OR",
                    ),
                    name="judging_seat_state_fits_annotator",
                ),
                models.UniqueConstraint(
                    condition=models.Q(("annotator__isnull", False)),
                    fields=("round", "annotator", "entry", "pass_number"),
                    name="judging_one_seat_per_person_pair_and_pass",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Judgement",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("pass_number", models.PositiveSmallIntegerField(default=1)),
            ("grade", models.SmallIntegerField(null=True)),
            (
                "cant_judge",
                models.CharField(
                    blank=True,
                    choices=[
                        ("unclear_query", "unclear query"),
                        ("unreadable", "unreadable passage"),
                        ("needs_expert", "needs an expert"),
                        ("missing_context", "missing context"),
                    ],
                    max_length=20,
                ),
            ),
            ("note", models.TextField(blank=True)),
            ("spans", models.JSONField(default=list, help_text="[start, end] in code points of the block's text.")),
            ("active_ms", models.PositiveIntegerField(null=True)),
            ("away_ms", models.PositiveIntegerField(null=True)),
            ("idempotency_key", models.CharField(max_length=64)),
            ("given_at", models.DateTimeField()),
            (
                "annotator",
                models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="judgements", to=settings.AUTH_USER_MODEL),
            ),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="judgements", to="retrieval.poolentry")),
            ("guideline", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="judging.guideline")),
            ("supersedes", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="superseded_by", to="judging.judgement")),
            ("round", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="judgements", to="judging.round")),
            ("seat", models.ForeignKey(on_delete=models.PROTECT, related_name="judgements", to="judging.seat")),
        ],
        options={
            "indexes": [
                models.Index(fields=["round", "entry"], name="judgement_of_pair"),
                models.Index(fields=["round", "annotator", "given_at"], name="judgement_of_person"),
            ],
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("supersedes", None)),
                    fields=("entry", "annotator", "pass_number", "round"),
                    name="judgement_one_chain_per_person_pair_and_pass",
                ),
                models.UniqueConstraint(condition=models.Q(("supersedes", None)), fields=("seat",), name="judgement_one_chain_per_seat"),
                models.UniqueConstraint(fields=("annotator", "idempotency_key"), name="judgement_key_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("cant_judge", ""), ("grade__isnull", False)),
                        models.Q(("grade", None), models.Q(("cant_judge", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="judgement_is_a_grade_or_a_reason",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="UndecidedPair",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("entry", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="retrieval.poolentry")),
            ("oldest", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="judging.judgement")),
            ("round", models.ForeignKey(on_delete=models.PROTECT, related_name="undecided", to="judging.round")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("round", "entry"), name="undecided_pair_once")]},
    ),
    migrations.CreateModel(
        name="PlaceholderClaim",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("claimed_at", models.DateTimeField()),
            ("ended_at", models.DateTimeField(null=True)),
            ("claimed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("ended_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("member", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("placeholder", models.ForeignKey(on_delete=models.PROTECT, related_name="claims", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="placeholder_claims", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("ended_at", None)), fields=("placeholder",), name="placeholder_is_one_member_at_most"
                ),
                models.CheckConstraint(
                    condition=models.Q(("placeholder", models.F("member")), _negated=True), name="placeholder_is_somebody_else"
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("ended_at", None), ("ended_by", None)),
                        models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="placeholder_claim_is_ended_by_somebody",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("judging", "0001_initial"),
        ("judging", "0004_leaner_indexes"),
        ("judging", "0009_placeholder_claims"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("queries", "0001_tables"),
        ("retrieval", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
