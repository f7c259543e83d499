import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Query sets: saved filters, and lists of queries that never change."""

    dependencies = [
        ("accounts", "0009_plain_addresses"),
        ("queries", "0005_context"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60)),
                ("name", models.CharField(max_length=120)),
                (
                    "filters",
                    models.JSONField(default=dict, help_text="What a query has to match; only filters that are set."),
                ),
                (
                    "drawn",
                    models.JSONField(
                        help_text="Of a sample: from which set (empty: all), how many, and the seed.", null=True
                    ),
                ),
                (
                    "digest",
                    models.CharField(blank=True, help_text="Over ids and texts, once it is frozen.", max_length=64),
                ),
                ("created_at", models.DateTimeField()),
                ("frozen_at", models.DateTimeField(null=True)),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="query_sets", to="accounts.project"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["project", "slug"], name="query_set_slug_in_project"),
                    models.CheckConstraint(
                        condition=Q(frozen_at=None, frozen_by=None, digest="", drawn=None)
                        | Q(frozen_at__isnull=False, frozen_by__isnull=False) & ~Q(digest=""),
                        name="query_set_frozen_has_person_and_digest",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SetMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="queries.query"
                    ),
                ),
                (
                    "saved_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="members", to="queries.savedset"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=["saved_set", "query"], name="set_member_once")],
            },
        ),
    ]
