from collections import Counter
from itertools import groupby
from operator import itemgetter

from django.db import migrations

from apps.judging.core.plan import PROPERTIES, Shares, fits

FACTS = ("domain", "query_type", "difficulty", "source__slug")
AT_ONCE = 5_000


def plan_what_is_left(apps, schema_editor):
    """Plan the shares of each open round that has none, as if it opened now with what is left to judge."""
    Round = apps.get_model("judging", "Round")
    unplanned = apps.get_model("judging", "RoundAnnotator").objects.filter(share=None).values("round")
    rounds = Round.objects.filter(pk__in=unplanned, kind="judging", state__in=["opening", "open"]).order_by("pk")
    for round_ in rounds:
        _plan(apps, schema_editor.connection, round_)


def _plan(apps, connection, round_):
    places, seats = apps.get_model("judging", "RoundAnnotator").objects, apps.get_model("judging", "Seat").objects
    people = places.filter(round=round_, annotator__in=_annotators(apps, round_)).order_by("annotator")
    remits = dict(people.values_list("annotator", "only"))
    rows = list(
        seats.filter(round=round_, pass_number=1, reserved_for=None)
        .order_by("query", "entry", "number")
        .values_list("query", "entry", "pk", "state", "annotator")
    )
    judges = _judges(apps, {query for query, *_ in rows}, remits)
    begun = Counter(person for *_, person in rows if person)
    left = sum(state == "open" for *_, state, _ in rows)
    shares = Shares(remits, seed=round_.seed, left=left, before=begun)
    meant = [(person, pk) for _, _, pk, state, person in rows if state == "leased"]
    for (query, entry), of_pair in groupby(rows, key=itemgetter(0, 1)):
        of_pair = list(of_pair)
        free = [pk for _, _, pk, state, _ in of_pair if state == "open"]
        able = [person for person in judges[query] if all(person != taken for *_, taken in of_pair)]
        if number := min(len(free), len(able)):  # the rest is in nobody's share: nobody is left who can judge it
            meant += zip(shares.judges_of(query, entry, number, able), free)
    with connection.cursor() as cursor:
        for start in range(0, len(meant), AT_ONCE):
            part = meant[start : start + AT_ONCE]
            cursor.executemany("UPDATE judging_seat SET meant_for_id = %s WHERE id = %s", part)
    for place in places.filter(round=round_):
        place.share = shares.loads.get(place.annotator_id, begun[place.annotator_id])
        place.save(update_fields=["share"])


def _annotators(apps, round_):
    """Who still judges in the project."""
    roles = apps.get_model("accounts", "Membership").objects.filter(project=round_.project_id, ended_at=None)
    return roles.filter(role="annotator", user__is_active=True).values("user")


def _judges(apps, queries, remits):
    rows = apps.get_model("queries", "Query").objects.filter(pk__in=queries).values_list("pk", *FACTS)
    facts = {pk: dict(zip(PROPERTIES, values)) for pk, *values in rows}
    return {pk: [person for person, only in remits.items() if fits(only, facts[pk])] for pk in facts}


class Migration(migrations.Migration):
    """Rounds that were open when shares came have them too: people are told only of pairs that they can have."""

    dependencies = [
        ("judging", "0013_no_retired_queries"),
    ]

    operations = [migrations.RunPython(plan_what_is_left, migrations.RunPython.noop, elidable=True)]
