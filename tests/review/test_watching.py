"""What a monitor is told of reviews: verdicts in all."""

import pytest
from django.utils import timezone

from apps.review.models import Verdict
from apps.review.selectors.seats import verdict_metrics
from tests.review.factories import make_accepted
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


def value() -> float:
    ((sample,),) = [metric.samples for metric in verdict_metrics(timezone.now())]
    return sample.value


def test_every_verdict_counts_once_more():
    before = value()

    make_accepted(make_team())

    assert value() - before == Verdict.objects.count() == 2
