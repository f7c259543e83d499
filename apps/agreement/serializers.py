"""The shape of agreement in the API."""

from rest_framework import serializers


class CoefficientSerializer(serializers.Serializer):
    """A value with its interval and n; what is undefined has no value but a reason."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True, required=False)
    method = serializers.CharField(required=False)
    reason = serializers.CharField(required=False)


class AgreementSerializer(serializers.Serializer):
    pairs_judged_twice = serializers.IntegerField()
    grades = CoefficientSerializer()
    verdicts = CoefficientSerializer()
