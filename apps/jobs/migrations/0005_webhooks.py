"""Tell machines elsewhere: addresses of a project, and messages to them in the outbox."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def forget_messages(apps, schema_editor):
    """The table before knows no such messages."""
    apps.get_model("jobs", "Outbox").objects.filter(kind="webhook").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_secrets"),
        ("jobs", "0004_notification_about"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=2000)),
                ("secret", models.CharField(help_text="Name of the project's secret that signs.", max_length=60)),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "ended_by",
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="webhooks", to="accounts.project"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(("ended_at", None)), fields=("project", "url"), name="webhook_told_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            Q(("ended_at", None), ("ended_by", None)),
                            Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="webhook_ended_by_goes_with_ended_at",
                    ),
                ],
            },
        ),
        migrations.RemoveConstraint(model_name="outbox", name="outbox_kind_is_known"),
        migrations.AlterField(
            model_name="outbox",
            name="kind",
            field=models.CharField(choices=[("mail", "mail"), ("webhook", "webhook")], max_length=16),
        ),
        migrations.AddConstraint(
            model_name="outbox",
            constraint=models.CheckConstraint(
                condition=Q(("kind__in", ["mail", "webhook"])), name="outbox_kind_is_known"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_messages),
    ]
