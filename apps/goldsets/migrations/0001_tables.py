from django.conf import settings
from django.db import migrations, models

import apps.goldsets.models.versions
from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="GoldSet",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("slug", models.SlugField(max_length=60)),
            ("name", models.CharField(max_length=120)),
            ("description", models.TextField(blank=True)),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="gold_sets", to="accounts.project")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("project", "slug"), name="gold_set_slug_in_project")]},
    ),
    migrations.CreateModel(
        name="Version",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            (
                "state",
                models.CharField(
                    choices=[("draft", "draft"), ("frozen", "frozen"), ("released", "released"), ("superseded", "superseded")],
                    default="draft",
                    max_length=12,
                ),
            ),
            ("test_share", models.FloatField(default=0.5, help_text="Share of items aimed at for the test split, 0 to 1.")),
            (
                "group_by",
                models.JSONField(
                    default=apps.goldsets.models.versions.default_group_by, help_text="What a split keeps whole: GroupBy values."
                ),
            ),
            ("seed", models.BigIntegerField(default=0)),
            ("note", models.TextField(blank=True)),
            ("digest", models.CharField(blank=True, help_text="Over all items, once frozen.", max_length=64)),
            ("manifest", models.JSONField(default=dict)),
            ("created_at", models.DateTimeField()),
            ("frozen_at", models.DateTimeField(null=True)),
            ("released_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("frozen_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("gold_set", models.ForeignKey(on_delete=models.PROTECT, related_name="versions", to="goldsets.goldset")),
            ("guideline", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="judging.guideline")),
            ("released_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("rounds", models.ManyToManyField(related_name="+", to="judging.round")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="versions", to="corpus.snapshot")),
            (
                "split_by",
                models.CharField(
                    choices=[
                        ("group", "by group: a hash of the group and the seed decides"),
                        ("time", "by time: the newest questions are in test"),
                    ],
                    db_default="group",
                    default="group",
                    max_length=8,
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("gold_set", "number"), name="version_number_in_gold_set"),
                models.UniqueConstraint(
                    condition=models.Q(("state", "released")), fields=("gold_set",), name="version_one_released_per_gold_set"
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
                    condition=models.Q(("test_share__gte", 0), ("test_share__lte", 1)), name="version_test_share_is_a_share"
                ),
            ]
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
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="losses", to="goldsets.version")),
        ],
        options={"verbose_name_plural": "version losses"},
    ),
    migrations.CreateModel(
        name="VersionQuery",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("outside_id", models.CharField(max_length=200)),
            ("text", models.TextField()),
            ("split", models.CharField(choices=[("dev", "dev"), ("test", "test")], max_length=4)),
            ("fields", models.JSONField(default=dict)),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="version_queries", to="queries.query")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="queries", to="goldsets.version")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("version", "outside_id"), name="version_query_once")]},
    ),
    migrations.CreateModel(
        name="VersionGrade",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("block_id", models.CharField(max_length=300)),
            ("position", models.PositiveIntegerField(help_text="The block's position in the version's snapshot.")),
            ("grade", models.SmallIntegerField()),
            ("resolution", models.CharField(max_length=16)),
            ("judges", models.PositiveSmallIntegerField(default=1, help_text="People whose answers the grade rests on.")),
            ("block_version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="grades", to="goldsets.version")),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="grades", to="goldsets.versionquery")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("query", "block_version"), name="version_grade_once")]},
    ),
    migrations.CreateModel(
        name="VersionTriple",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("label", models.CharField(max_length=20)),
            ("split", models.CharField(choices=[("dev", "dev"), ("test", "test")], max_length=4)),
            ("content", models.JSONField()),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="triples.revision")),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="version_triples", to="triples.triple")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="triples", to="goldsets.version")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("version", "triple"), name="version_triple_once")]},
    ),
    migrations.CreateModel(
        name="Slice",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "kind",
                models.CharField(
                    choices=[("rotating", "Rotating"), ("challenge", "Challenge"), ("regression", "Regression"), ("canary", "Canary")],
                    max_length=10,
                ),
            ),
            ("quarter", models.CharField(blank=True, help_text="Of a rotating slice, such as 2026-Q4: its seed.", max_length=7)),
            ("rows", models.PositiveIntegerField(help_text="The members of a rotating slice; it takes no more.", null=True)),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="slices", to="goldsets.version")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("version", "kind", "quarter"), name="slice_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("kind", "rotating"), ("rows__isnull", False), models.Q(("quarter", ""), _negated=True)),
                        models.Q(("kind__in", ["challenge", "regression", "canary"]), ("quarter", ""), ("rows", None)),
                        _connector="OR",
                    ),
                    name="slice_rotates_by_quarter",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="SliceMember",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField(help_text="Of the question, from 1 in the order of adding.")),
            ("name", models.CharField(help_text="The outside id of the query, else the label of the triple.", max_length=200)),
            ("why", models.CharField(help_text="Why the question is in the slice, as a sentence or its end.", max_length=200)),
            ("added_at", models.DateTimeField()),
            ("added_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("query", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="goldsets.versionquery")),
            ("slice", models.ForeignKey(on_delete=models.PROTECT, related_name="members", to="goldsets.slice")),
            ("triple", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="goldsets.versiontriple")),
        ],
        options={
            "indexes": [models.Index(fields=["slice", "number"], name="slice_member_in_order")],
            "constraints": [
                models.UniqueConstraint(fields=("slice", "query"), name="slice_query_once"),
                models.UniqueConstraint(fields=("slice", "triple"), name="slice_triple_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("query", None), ("triple__isnull", False)),
                        models.Q(("query__isnull", False), ("triple", None)),
                        _connector="OR",
                    ),
                    name="slice_member_is_query_or_triple",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="SigningKey",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("public_key", models.CharField(max_length=60)),
            ("sealed", models.BinaryField(help_text="The private key, sealed under SECRET_KEY.")),
            ("made_at", models.DateTimeField()),
            ("ended_at", models.DateTimeField(null=True)),
            ("made_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="signing_keys", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("project",), name="signing_key_one_in_use")
            ]
        },
    ),
    migrations.CreateModel(
        name="PublicRelease",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "state",
                models.CharField(
                    choices=[
                        ("preparing", "being prepared"),
                        ("failed", "not prepared"),
                        ("prepared", "prepared"),
                        ("signed", "signed"),
                        ("released", "released"),
                        ("withdrawn", "withdrawn"),
                    ],
                    default="preparing",
                    max_length=12,
                ),
            ),
            ("title", models.CharField(max_length=120)),
            ("holder", models.CharField(blank=True, help_text="Who is credited; empty for nobody.", max_length=120)),
            ("licence", models.CharField(max_length=40)),
            ("splits", models.JSONField(default=list)),
            ("card", models.JSONField(default=dict, help_text="The text of each section of the data card.")),
            ("report", models.JSONField(default=dict, help_text="What goes, what stays, and what was taken out, in counts.")),
            ("digest", models.CharField(blank=True, max_length=64)),
            ("size", models.PositiveBigIntegerField(default=0)),
            ("prepared_at", models.DateTimeField()),
            ("asked_at", models.DateTimeField(null=True)),
            ("signed_at", models.DateTimeField(null=True)),
            ("released_at", models.DateTimeField(null=True)),
            ("withdrawn_at", models.DateTimeField(null=True)),
            ("withdrawal_reason", models.TextField(blank=True)),
            ("asked", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("prepared_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("released_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("signed_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="public_releases", to="goldsets.version")),
            ("withdrawn_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "job",
                models.ForeignKey(
                    help_text="The last one that built the files.", null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job"
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("state", "withdrawn"), _negated=True),
                    fields=("version",),
                    name="public_release_one_live_per_version",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        ("signed_by", None), models.Q(("signed_by", models.F("prepared_by")), _negated=True), _connector="OR"
                    ),
                    name="public_release_signer_is_another",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("signed_at", None), ("signed_by", None)),
                        models.Q(("signed_at__isnull", False), ("signed_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="public_release_signature_has_a_signer",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(
                            ("released_at", None),
                            ("signed_at", None),
                            ("state__in", ["preparing", "failed", "prepared"]),
                            ("withdrawn_at", None),
                        ),
                        models.Q(("released_at", None), ("signed_at__isnull", False), ("state", "signed"), ("withdrawn_at", None)),
                        models.Q(
                            ("released_at__isnull", False), ("signed_at__isnull", False), ("state", "released"), ("withdrawn_at", None)
                        ),
                        models.Q(("state", "withdrawn"), ("withdrawn_at__isnull", False)),
                        _connector="OR",
                    ),
                    name="public_release_state_fits_its_times",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        ("state__in", ["preparing", "failed", "withdrawn"]), models.Q(("digest", ""), _negated=True), _connector="OR"
                    ),
                    name="public_release_has_a_digest",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="PublicPart",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("data", models.BinaryField()),
            ("release", models.ForeignKey(on_delete=models.PROTECT, related_name="parts", to="goldsets.publicrelease")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("release", "number"), name="public_part_once")]},
    ),
    migrations.CreateModel(
        name="PublicLook",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("digest", models.CharField(max_length=64)),
            ("at", models.DateTimeField()),
            ("person", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("release", models.ForeignKey(on_delete=models.PROTECT, related_name="looks", to="goldsets.publicrelease")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("release", "person", "digest"), name="public_look_once")]},
    ),
    migrations.CreateModel(
        name="PublicStay",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(choices=[("triples", "Q&As"), ("queries", "queries"), ("passages", "passages")], max_length=8)),
            ("name", models.CharField(max_length=300)),
            (
                "reason",
                models.CharField(
                    choices=[
                        ("no_source", "No source is recorded"),
                        ("no_permission", "Its source has no permission"),
                        ("revoked", "Permission was revoked"),
                        ("expired", "Permission has run out"),
                        ("internal", "Permission says internal"),
                        ("customer", "Customer’s material"),
                        ("sealed", "It is in the test split"),
                        ("passage", "Its passage stays in"),
                        ("name", "A person’s name cannot be taken out"),
                        ("word", "An internal word cannot be taken out"),
                        ("redacted", "Its text was redacted"),
                        ("nothing_left", "None of its passages goes out"),
                    ],
                    max_length=16,
                ),
            ),
            ("detail", models.CharField(blank=True, max_length=200)),
            ("release", models.ForeignKey(on_delete=models.PROTECT, related_name="stays", to="goldsets.publicrelease")),
        ],
        options={"indexes": [models.Index(fields=["release", "kind", "reason", "id"], name="public_stay_by_reason")]},
    ),
    migrations.CreateModel(
        name="TrainingManifest",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=120)),
            ("file", models.CharField(max_length=255)),
            ("digest", models.CharField(help_text="Over all entries, whatever file they came in.", max_length=64)),
            ("counts", models.JSONField(default=dict, help_text="The number of entries of each kind.")),
            ("added_at", models.DateTimeField()),
            ("retired_at", models.DateTimeField(null=True)),
            ("added_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="training_manifests", to="accounts.project")),
            ("retired_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("retired_at", None)), fields=("project", "name"), name="training_name_once_in_use"
                ),
                models.UniqueConstraint(
                    condition=models.Q(("retired_at", None)), fields=("project", "digest"), name="training_digest_once_in_use"
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("retired_at", None), ("retired_by", None)),
                        models.Q(("retired_at__isnull", False), ("retired_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="training_retired_at_goes_with_retired_by",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="TrainingEntry",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("question", "id of a question"),
                        ("block", "id of a passage"),
                        ("document", "id of a document"),
                        ("text", "text hash"),
                    ],
                    max_length=8,
                ),
            ),
            ("value", models.CharField(max_length=300)),
            (
                "manifest",
                models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="entries", to="goldsets.trainingmanifest"),
            ),
        ],
        options={
            "verbose_name_plural": "training entries",
            "constraints": [
                models.UniqueConstraint(fields=("manifest", "value", "kind"), name="training_entry_once"),
                models.CheckConstraint(
                    condition=models.Q(("kind__in", ["question", "block", "document", "text"])), name="training_entry_kind_is_known"
                ),
            ],
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("goldsets", "0001_initial"),
        ("goldsets", "0005_signing_keys"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("corpus", "0001_tables"),
        ("jobs", "0001_tables"),
        ("judging", "0001_tables"),
        ("queries", "0001_tables"),
        ("triples", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
