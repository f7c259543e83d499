from django.db import migrations
from django.db.models import Count, Max, Min, OuterRef, Q, Subquery


def fill(apps, schema_editor):
    """Say of every seat what its verdicts say: when the first came, and when the second of its round did."""
    seats = apps.get_model("review", "ReviewSeat").objects
    verdicts = apps.get_model("review", "Verdict").objects.order_by()
    first = verdicts.filter(seat=OuterRef("pk")).values("seat").annotate(at=Min("given_at")).values("at")
    live = verdicts.filter(revision=OuterRef("revision"), superseded_by=None).values("revision")
    last = live.annotate(at=Max("given_at"), both=Count("pk")).filter(both__gte=2).values("at")
    seats.update(answered_at=Subquery(first))
    seats.filter(Q(released_at=None)).update(closed_at=Subquery(last))


class Migration(migrations.Migration):
    dependencies = [("review", "0004_seats_answered_and_closed")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
