"""Jobs and deliveries in the API."""

from rest_framework import serializers

from apps.jobs.models import Job, Outbox


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job in the API. `seconds_left` is null when it cannot be estimated."""

    seconds_left = serializers.IntegerField(read_only=True, allow_null=True)

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "title",
            "state",
            "attempt",
            "created_at",
            "started_at",
            "finished_at",
            "cancel_requested_at",
            "done",
            "total",
            "progress_text",
            "seconds_left",
            "error",
        )
        read_only_fields = fields


class DeliverySerializer(serializers.ModelSerializer[Outbox]):
    """A message to a webhook. `answered` is the status that the last attempt got, null for none."""

    webhook = serializers.IntegerField(source="payload.webhook", read_only=True)
    body = serializers.DictField(source="payload.body", read_only=True)

    class Meta:
        model = Outbox
        fields = (
            "id",
            "delivery_id",
            "webhook",
            "body",
            "state",
            "attempts",
            "created_at",
            "next_at",
            "sent_at",
            "answered",
            "error",
        )
        read_only_fields = fields
