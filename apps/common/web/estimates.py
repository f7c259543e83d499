"""A figure with its interval as the API writes it."""

from typing import Any

from rest_framework import serializers


class EstimateSerializer(serializers.Serializer[Any]):
    """A figure with its interval (95 % unless the request names another) and its `n`.

    `value` is null where it is not defined, `low` and `high` where it has no interval; `reason` then says why. `method`
    names how the interval was computed, "" without one.
    """

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
