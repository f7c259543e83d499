import uuid

from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="PeriodicTask",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=80, unique=True)),
            ("taken_at", models.DateTimeField()),
        ],
    ),
    migrations.CreateModel(
        name="WorkerBeat",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("worker", models.CharField(max_length=120, unique=True)),
            ("started_at", models.DateTimeField()),
            ("seen_at", models.DateTimeField(db_index=True)),
            ("host", models.CharField(default="", max_length=32)),
        ],
    ),
    migrations.CreateModel(
        name="Job",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=80)),
            ("title", models.CharField(max_length=200)),
            ("params", models.JSONField(default=dict)),
            (
                "state",
                models.CharField(
                    choices=[
                        ("queued", "waiting"),
                        ("running", "running"),
                        ("done", "done"),
                        ("failed", "failed"),
                        ("cancelled", "cancelled"),
                    ],
                    default="queued",
                    max_length=16,
                ),
            ),
            ("attempt", models.PositiveIntegerField(default=0)),
            ("max_attempts", models.PositiveIntegerField(default=3)),
            ("lease_expires_at", models.DateTimeField(null=True)),
            ("next_at", models.DateTimeField(help_text="Not to be claimed before.", null=True)),
            ("nudged_at", models.DateTimeField(null=True)),
            ("worker", models.CharField(blank=True, max_length=120)),
            ("created_at", models.DateTimeField()),
            ("started_at", models.DateTimeField(null=True)),
            ("finished_at", models.DateTimeField(null=True)),
            ("cancel_requested_at", models.DateTimeField(null=True)),
            ("done", models.PositiveBigIntegerField(default=0)),
            ("total", models.PositiveBigIntegerField(null=True)),
            ("progress_text", models.CharField(blank=True, max_length=200)),
            ("progress_at", models.DateTimeField(null=True)),
            ("result", models.JSONField(null=True)),
            ("error", models.TextField(blank=True)),
            ("created_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="jobs", to="accounts.project")),
        ],
        options={
            "indexes": [
                models.Index(condition=models.Q(("state__in", ["queued", "running"])), fields=["state", "id"], name="job_open"),
                models.Index(fields=["project", "-id"], name="job_newest_first"),
                models.Index(fields=["state"], name="job_by_state"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])), name="job_state_is_known"
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("finished_at__isnull", False), ("state__in", ["cancelled", "done", "failed"])),
                        models.Q(models.Q(("state__in", ["cancelled", "done", "failed"]), _negated=True), ("finished_at", None)),
                        _connector="OR",
                    ),
                    name="job_finished_at_goes_with_an_end",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("lease_expires_at__isnull", False), ("state", "running")),
                        models.Q(models.Q(("state", "running"), _negated=True), ("lease_expires_at", None)),
                        _connector="OR",
                    ),
                    name="job_lease_goes_with_running",
                ),
                models.CheckConstraint(condition=models.Q(("attempt__lte", models.F("max_attempts"))), name="job_attempts_are_limited"),
            ],
        },
    ),
    migrations.CreateModel(
        name="JobChunk",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("key", models.CharField(max_length=200)),
            ("attempt", models.PositiveIntegerField()),
            ("job", models.ForeignKey(on_delete=models.PROTECT, related_name="chunks", to="jobs.job")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("job", "key"), name="job_chunk_happens_once")]},
    ),
    migrations.CreateModel(
        name="MailChoice",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            (
                "how",
                models.CharField(
                    choices=[("digest", "A digest in working hours"), ("at_once", "At once, in working hours"), ("never", "Never")],
                    default="digest",
                    max_length=8,
                ),
            ),
            ("from_hour", models.PositiveSmallIntegerField(default=9)),
            ("to_hour", models.PositiveSmallIntegerField(default=17)),
            ("weekdays_only", models.BooleanField(default=True)),
            ("digest_at", models.DateTimeField(help_text="When the last digest was put together.", null=True)),
            ("person", models.OneToOneField(on_delete=models.PROTECT, related_name="mail_choice", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=models.Q(("how__in", ["digest", "at_once", "never"])), name="mail_how_is_known"),
                models.CheckConstraint(
                    condition=models.Q(("from_hour__lt", models.F("to_hour")), ("to_hour__lte", 24)), name="mail_hours_are_a_span"
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Notification",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=40)),
            ("sentence", models.CharField(max_length=300)),
            ("path", models.CharField(max_length=300)),
            ("key", models.CharField(max_length=160)),
            ("about", models.BigIntegerField(help_text="The triple whose verdicts it tells of; it may be hidden for a while.", null=True)),
            ("created_at", models.DateTimeField()),
            ("read_at", models.DateTimeField(null=True)),
            ("mailed_at", models.DateTimeField(null=True)),
            ("person", models.ForeignKey(on_delete=models.PROTECT, related_name="notifications", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="notifications", to="accounts.project")),
        ],
        options={
            "indexes": [
                models.Index(fields=["person", "project", "-id"], name="notification_newest_first"),
                models.Index(condition=models.Q(("read_at", None)), fields=["person", "project"], name="notification_unread"),
                models.Index(
                    condition=models.Q(("mailed_at", None), ("read_at", None)), fields=["person", "id"], name="notification_to_mail"
                ),
            ],
            "constraints": [models.UniqueConstraint(fields=("person", "key"), name="notification_once")],
        },
    ),
    migrations.CreateModel(
        name="Outbox",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("delivery_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
            ("kind", models.CharField(choices=[("mail", "mail"), ("webhook", "webhook")], max_length=16)),
            ("payload", models.JSONField()),
            (
                "state",
                models.CharField(
                    choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed")], default="waiting", max_length=16
                ),
            ),
            ("attempts", models.PositiveIntegerField(default=0)),
            ("next_at", models.DateTimeField()),
            ("created_at", models.DateTimeField()),
            ("sent_at", models.DateTimeField(null=True)),
            ("error", models.TextField(blank=True)),
            ("project", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="accounts.project")),
            ("answered", models.PositiveSmallIntegerField(help_text="The status that the last attempt got over HTTP.", null=True)),
        ],
        options={
            "indexes": [
                models.Index(condition=models.Q(("state", "waiting")), fields=["next_at"], name="outbox_due"),
                models.Index(fields=["state"], name="outbox_by_state"),
            ],
            "constraints": [
                models.CheckConstraint(condition=models.Q(("kind__in", ["mail", "webhook"])), name="outbox_kind_is_known"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("sent_at__isnull", False), ("state", "sent")),
                        models.Q(("sent_at", None), ("state__in", ["waiting", "failed"])),
                        _connector="OR",
                    ),
                    name="outbox_sent_at_goes_with_sent",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Upload",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=32)),
            ("purpose", models.CharField(max_length=64)),
            ("filename", models.CharField(max_length=255)),
            ("path", models.CharField(max_length=120, unique=True)),
            ("sha256", models.CharField(max_length=64)),
            ("size", models.PositiveBigIntegerField()),
            ("options", models.JSONField(default=dict)),
            (
                "state",
                models.CharField(
                    choices=[("stored", "stored"), ("used", "used"), ("discarded", "discarded")], default="stored", max_length=16
                ),
            ),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="uploads", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=models.Q(("state__in", ["stored", "used", "discarded"])), name="upload_state_is_known")
            ]
        },
    ),
    migrations.CreateModel(
        name="Webhook",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("url", models.CharField(max_length=2000)),
            ("secret", models.CharField(help_text="Name of the project's secret that signs.", max_length=60)),
            ("created_at", models.DateTimeField()),
            ("ended_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("ended_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="webhooks", to="accounts.project")),
            ("former_secret", models.CharField(blank=True, help_text="Name of the one that signs as well.", max_length=60)),
            ("former_until", models.DateTimeField(null=True)),
            ("events", models.JSONField(default=list, help_text="Types of the events that it gets.")),
            ("failing_since", models.DateTimeField(null=True)),
            ("disabled_at", models.DateTimeField(null=True)),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("project", "url"), name="webhook_told_once"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("ended_at", None), ("ended_by", None)),
                        models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="webhook_ended_by_goes_with_ended_at",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("jobs", "0001_initial"),
        ("jobs", "0002_states_are_counted"),
        ("jobs", "0003_standard_webhooks"),
        ("jobs", "0004_workers_tell_their_host"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
