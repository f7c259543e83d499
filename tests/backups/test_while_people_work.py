"""A backup while sixteen people grade: it has a state that existed, and keeps nobody waiting for its end."""

import threading

import pytest
from django.utils import timezone

from apps.backups.execution.making import make_backup
from apps.backups.formats.archive import Archive
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement
from tests.backups.running import done, environment, rows_in
from tests.factories import AT
from tests.judging.factories import give, make_round, people_of
from tests.races import each_at_once

pytestmark = pytest.mark.django_db(transaction=True)
HANDS = 16


@pytest.mark.slow
def test_a_backup_under_sixteen_graders_has_a_state_that_existed(tmp_path):
    round_ = make_round(queries=8, blocks=60, annotators=HANDS, overlap=0.5, judges=2)
    people, given, made, is_half_way = people_of(round_), [], [], threading.Event()
    before: set[int] = set()

    def grade(person):
        while seats := claim_seats(round_=round_, annotator=person, n=2, at=AT):
            for seat in seats:
                given.append(give(seat, person, 2, key=f"{person.pk}-{seat.pk}").pk)
                if len(given) >= 100:
                    is_half_way.set()

    def keep(_):
        assert is_half_way.wait(60)
        before.update(given)
        made.append(make_backup(tmp_path / "backup.zip", at=timezone.now()))

    each_at_once(lambda act: keep(None) if act is None else grade(act), [*people, None])
    with Archive(made[0].path) as archive:
        kept, seats = rows_in(archive, "judging_judgement"), rows_in(archive, "judging_seat")

    assert before <= {row["id"] for row in kept} < set(Judgement.objects.values_list("pk", flat=True))
    assert sorted(row["seat_id"] for row in kept) == sorted(seat["id"] for seat in seats if seat["state"] == "done")
    assert len(given) == 8 * 60 * 1.5
    done("restore", made[0].path, env=environment(tmp_path / "data"))
