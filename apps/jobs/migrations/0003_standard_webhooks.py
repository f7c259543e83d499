"""Webhooks choose their events, change over from one secret to another, and are switched off when nothing is accepted.

Messages get the form of Standard Webhooks, also those that wait or may be sent again.
"""

from django.db import migrations, models

FORMER_EVENTS = ["gate.changed"]


def choose_former_events(apps, schema_editor):
    """What was there before was only told of gates."""
    apps.get_model("jobs", "Webhook").objects.update(events=FORMER_EVENTS)


def to_standard(apps, schema_editor):
    _rewrite(apps, "event", _standard)


def to_former(apps, schema_editor):
    _rewrite(apps, "type", _former)


def _rewrite(apps, key, changed):
    outbox = apps.get_model("jobs", "Outbox").objects.filter(kind="webhook")
    for row in outbox.only("payload").iterator(chunk_size=500):
        if key in row.payload["body"]:
            row.payload["body"] = changed(row.payload["body"])
            row.save(update_fields=["payload"])


def _standard(body):
    data = {name: value for name, value in body.items() if name not in {"event", "at"}}
    return {"type": body["event"], "timestamp": body["at"], "data": data}


def _former(body):
    return {**body["data"], "event": body["type"], "at": body["timestamp"]}


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_states_are_counted")]

    operations = [
        migrations.AddField(
            "outbox",
            "answered",
            models.PositiveSmallIntegerField(help_text="The status that the last attempt got over HTTP.", null=True),
        ),
        migrations.AddField(
            "webhook",
            "former_secret",
            models.CharField(blank=True, default="", help_text="Name of the one that signs as well.", max_length=60),
            preserve_default=False,
        ),
        migrations.AddField("webhook", "former_until", models.DateTimeField(null=True)),
        migrations.AddField(
            "webhook",
            "events",
            models.JSONField(default=list, help_text="Types of the events that it gets."),
        ),
        migrations.AddField("webhook", "failing_since", models.DateTimeField(null=True)),
        migrations.AddField("webhook", "disabled_at", models.DateTimeField(null=True)),
        migrations.RunPython(choose_former_events, migrations.RunPython.noop),
        migrations.RunPython(to_standard, to_former),
    ]
