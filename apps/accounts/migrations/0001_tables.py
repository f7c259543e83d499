import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import apps.accounts.models
from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="LoginAttempt",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("account", models.CharField(db_index=True, max_length=254)),
            ("address", models.GenericIPAddressField(db_index=True, null=True)),
            ("device", models.CharField(blank=True, default="", max_length=32)),
            ("at", models.DateTimeField(db_index=True)),
        ],
    ),
    migrations.CreateModel(
        name="User",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("password", models.CharField(max_length=128, verbose_name="password")),
            ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
            ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail address")),
            ("name", models.CharField(max_length=120)),
            ("is_active", models.BooleanField(default=True)),
            ("is_operator", models.BooleanField(default=False, help_text="May make projects and invite their first lead.")),
            ("time_zone", models.CharField(default="UTC", max_length=64)),
            ("created_at", models.DateTimeField()),
            ("deactivated_at", models.DateTimeField(blank=True, null=True)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("deactivated_at", None), ("is_active", True)),
                        models.Q(("deactivated_at__isnull", False), ("is_active", False)),
                        _connector="OR",
                    ),
                    name="user_deactivated_at_goes_with_is_active",
                ),
                models.UniqueConstraint(django.db.models.functions.text.Lower("email"), name="user_email_is_unique_in_any_case"),
            ]
        },
    ),
    migrations.CreateModel(
        name="Project",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("slug", models.SlugField(max_length=60, unique=True)),
            ("name", models.CharField(max_length=120)),
            ("scale", models.JSONField(default=apps.accounts.models.default_scale, help_text="Grades from 0 up, each with name and hint.")),
            ("policies", models.JSONField(default=apps.accounts.models.default_policies)),
            ("is_demo", models.BooleanField(default=False)),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("archived_at", models.DateTimeField(null=True)),
            ("archived_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("archived_at", None), ("archived_by", None)),
                        models.Q(("archived_at__isnull", False), ("archived_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="project_archived_by_goes_with_archived_at",
                )
            ]
        },
    ),
    migrations.CreateModel(
        name="ApiToken",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=80)),
            ("prefix", models.CharField(max_length=12)),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("scopes", models.JSONField(default=list)),
            ("created_at", models.DateTimeField()),
            ("expires_at", models.DateTimeField()),
            ("last_used_at", models.DateTimeField(null=True)),
            ("revoked_at", models.DateTimeField(null=True)),
            ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="tokens", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="tokens", to="accounts.project")),
        ],
    ),
    migrations.CreateModel(
        name="Membership",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "role",
                models.CharField(
                    choices=[("annotator", "annotator"), ("reviewer", "reviewer"), ("lead", "lead"), ("viewer", "viewer")], max_length=16
                ),
            ),
            ("granted_at", models.DateTimeField()),
            ("ended_at", models.DateTimeField(null=True)),
            ("ended_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("granted_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="memberships", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="memberships", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("ended_at", None)), fields=("project", "user", "role"), name="membership_one_live_role"
                ),
                models.CheckConstraint(
                    condition=models.Q(("role__in", ["annotator", "reviewer", "lead", "viewer"])), name="membership_role_is_known"
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Invitation",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("email", models.EmailField(blank=True, max_length=254)),
            ("roles", models.JSONField(default=list)),
            ("makes_operator", models.BooleanField(default=False)),
            ("token_digest", models.CharField(max_length=64, unique=True)),
            ("created_at", models.DateTimeField()),
            ("expires_at", models.DateTimeField()),
            ("used_at", models.DateTimeField(null=True)),
            ("revoked_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("used_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="invitations", to="accounts.project")),
            ("name", models.CharField(blank=True, default="", help_text="As the lead wrote it.", max_length=120)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("used_at", None), ("used_by", None)),
                        models.Q(("used_at__isnull", False), ("used_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="invitation_used_by_goes_with_used_at",
                ),
                models.CheckConstraint(
                    condition=models.Q(("expires_at__gt", models.F("created_at"))), name="invitation_expires_after_it_is_made"
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Secret",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=60)),
            ("sealed", models.BinaryField()),
            ("created_at", models.DateTimeField()),
            ("changed_at", models.DateTimeField()),
            ("changed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="accounts.project")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("project", "name"), name="secret_name_in_project")]},
    ),
    migrations.CreateModel(
        name="PasswordReset",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("token_digest", models.CharField(max_length=64, unique=True)),
            ("created_at", models.DateTimeField()),
            ("expires_at", models.DateTimeField()),
            ("used_at", models.DateTimeField(null=True)),
            ("revoked_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "indexes": [models.Index(fields=["user", "created_at"], name="reset_of_user")],
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("expires_at__gt", models.F("created_at"))), name="reset_expires_after_it_is_made"
                ),
                models.CheckConstraint(
                    condition=models.Q(("used_at", None), ("revoked_at", None), _connector="OR"), name="reset_used_or_revoked"
                ),
                models.UniqueConstraint(
                    condition=models.Q(("revoked_at", None), ("used_at", None)), fields=("user",), name="reset_one_open_link"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="UsedState",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("state_digest", models.CharField(max_length=64, unique=True)),
            ("at", models.DateTimeField(db_index=True)),
        ],
    ),
    migrations.CreateModel(
        name="Identity",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("issuer", models.CharField(max_length=255)),
            ("subject", models.CharField(max_length=255)),
            ("linked_at", models.DateTimeField()),
            ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="identities", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("issuer", "subject"), name="identity_is_of_one_person"),
                models.UniqueConstraint(fields=("user", "issuer"), name="identity_one_for_each_issuer"),
                models.CheckConstraint(
                    condition=models.Q(models.Q(("issuer", ""), _negated=True), models.Q(("subject", ""), _negated=True)),
                    name="identity_is_named",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Visit",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("began_at", models.DateTimeField()),
            ("last_used_at", models.DateTimeField()),
            ("address", models.GenericIPAddressField(null=True)),
            ("browser", models.CharField(blank=True, help_text="As the browser calls itself, such as Firefox.", max_length=80)),
            ("session", models.OneToOneField(on_delete=models.CASCADE, related_name="visit", to="sessions.session")),
            ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="visits", to=settings.AUTH_USER_MODEL)),
        ],
    ),
    migrations.CreateModel(
        name="ProjectDeletion",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("slug", models.SlugField(max_length=60)),
            ("name", models.CharField(max_length=120)),
            ("counts", models.JSONField(default=dict, help_text="What was in it, when somebody asked.")),
            ("requested_at", models.DateTimeField()),
            ("links", models.PositiveBigIntegerField(default=0)),
            ("head", models.CharField(blank=True, default="", max_length=64)),
            ("finished_at", models.DateTimeField(null=True)),
            (
                "project",
                models.OneToOneField(db_constraint=False, on_delete=models.DO_NOTHING, related_name="deletion", to="accounts.project"),
            ),
            ("requested_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("finished_at", None), models.Q(("head", ""), _negated=True), _connector="OR"),
                    name="project_deletion_ends_with_the_head_noted",
                )
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_names_and_resets"),
        ("accounts", "0003_archived_projects"),
        ("accounts", "0004_open_links"),
        ("accounts", "0005_archived_by"),
        ("accounts", "0006_identities"),
        ("accounts", "0007_visits"),
    ]

    dependencies = [
        ("sessions", "0001_initial"),
    ]

    operations = [CreateTables(TABLES)]
