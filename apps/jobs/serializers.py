"""A job in the API."""

from rest_framework import serializers

from apps.jobs.models import Job


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
