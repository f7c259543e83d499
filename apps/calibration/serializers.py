"""Serializers of the quality log and flag rates."""

from typing import Any

from rest_framework import serializers

from apps.accounts.models import User
from apps.calibration.selectors.rates import DENOMINATORS, LogEntry, PersonRates, SideRates
from apps.common.web.api import EstimateSerializer
from apps.common.web.forms import ChoiceField
from apps.metrics.agreement.ratings import Rate


class EntryOut(serializers.Serializer):
    """A flag, with its reasons, or a drop. People are named as on the page of the triple."""

    what = ChoiceField(["flag", "drop"])
    at = serializers.DateTimeField()
    triple = serializers.CharField()
    round = serializers.IntegerField()
    reasons = serializers.ListField(child=serializers.CharField())
    category = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    author = serializers.CharField()
    who = serializers.CharField(allow_null=True)
    domain = serializers.CharField(allow_blank=True)
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    difficulty = serializers.CharField(allow_blank=True)
    origin = ChoiceField(["people", "machine"])


class LogOut(serializers.Serializer):
    entries = EntryOut(many=True)
    next = serializers.CharField(allow_null=True)


class RateOut(EstimateSerializer):
    """`flags` of `n`; without any review there is neither value nor interval."""

    flags = serializers.IntegerField()


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


def entry_out(entry: LogEntry) -> dict[str, Any]:
    triple = entry.triple
    return {
        "what": entry.kind,
        "at": entry.at,
        "triple": triple.label,
        "round": entry.revision.round,
        "reasons": entry.reasons,
        "category": entry.category,
        "text": entry.text,
        "author": entry.author.name,
        "who": entry.who.name if entry.who else None,
        "domain": triple.domain,
        "source": triple.source.name if triple.source else None,
        "difficulty": triple.difficulty,
        "origin": entry.origin,
    }


def rate_out(rate: Rate) -> dict[str, Any]:
    return {
        "flags": rate.hits,
        **rate.estimate.as_json,
    }


def rates_out(side: SideRates, shown: list[PersonRates]) -> dict[str, Any]:
    names = dict(User.objects.filter(pk__in=[row.person for row in shown]).values_list("pk", "name"))
    return {
        "side": side.side.value,
        "denominator": DENOMINATORS[side.side],
        "everybody": {"people": rate_out(side.everybody.people), "machine": rate_out(side.everybody.machine)},
        "rates": [
            {
                "person": names[row.person],
                "is_calibrating": row.is_calibrating,
                "signal": row.signal.rule if row.signal else None,
                "people": rate_out(row.people),
                "machine": rate_out(row.machine),
            }
            for row in shown
        ],
    }
