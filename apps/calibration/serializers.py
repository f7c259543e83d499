"""Serializers of the quality log and flag rates."""

from typing import Any

from rest_framework import serializers

from apps.accounts.models import User
from apps.calibration.selectors.rates import DENOMINATORS, PersonRates, SideRates
from apps.common.web.api import EstimateSerializer, next_page
from apps.common.web.forms import ChoiceField
from apps.metrics.agreement.ratings import Rate


class EntryOut(serializers.Serializer):
    """A flag, with its reasons, or a drop. People are named as on the page of the triple."""

    what = ChoiceField(["flag", "drop"], source="kind")
    at = serializers.DateTimeField()
    triple = serializers.CharField(source="triple.label")
    round = serializers.IntegerField(source="revision.round")
    reasons = serializers.ListField(child=serializers.CharField())
    category = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    author = serializers.CharField(source="author.name")
    who = serializers.CharField(source="who.name", allow_null=True)
    domain = serializers.CharField(source="triple.domain", allow_blank=True)
    source = serializers.CharField(source="triple.source.name", allow_null=True)  # type: ignore[assignment]
    difficulty = serializers.CharField(source="triple.difficulty", allow_blank=True)
    origin = ChoiceField(["people", "machine"])


class LogOut(serializers.Serializer):
    entries = EntryOut(many=True)
    next = next_page()


class RateOut(EstimateSerializer):
    """`flags` of `n`; without any review there is neither value nor interval."""

    flags = serializers.IntegerField(source="hits")

    def to_representation(self, rate: Rate) -> dict[str, Any]:
        return {"flags": rate.hits, **rate.estimate.as_json}


class PersonRateOut(serializers.Serializer):
    person = serializers.CharField()
    is_calibrating = serializers.BooleanField()
    signal = serializers.CharField(allow_null=True)
    people = RateOut()
    machine = RateOut()


class EverybodyOut(serializers.Serializer):
    people = RateOut()
    machine = RateOut()


class RatesOut(serializers.Serializer):
    side = serializers.CharField()
    denominator = serializers.CharField()
    everybody = EverybodyOut()
    rates = PersonRateOut(many=True)


def rates_out(side: SideRates, shown: list[PersonRates]) -> dict[str, Any]:
    names = dict(User.objects.filter(pk__in=[row.person for row in shown]).values_list("pk", "name"))
    return {
        "side": side.side.value,
        "denominator": DENOMINATORS[side.side],
        "everybody": side.everybody,
        "rates": [
            {
                "person": names[row.person],
                "is_calibrating": row.is_calibrating,
                "signal": row.signal.rule if row.signal else None,
                "people": row.people,
                "machine": row.machine,
            }
            for row in shown
        ],
    }
