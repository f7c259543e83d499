"""What other rooms read from judging."""

import itertools
import json
import re

import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.common.database.batched_reads import answer_to
from apps.corpus.actions.corpora import freeze_snapshot
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.eta import ticks
from apps.judging.core.resolution import Resolution
from apps.judging.models import RoundAnnotator, Seat
from apps.judging.selectors.board import answers_in, held_by, taken_seats
from apps.judging.selectors.deciding import adjudicable, left_to_another_lead
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.pending_work import JudgingWork, undecided_in, what_waits_for
from apps.judging.selectors.progress import by_query, stuck, totals
from apps.judging.selectors.reading import readings
from apps.judging.selectors.rejudging import KnownGrade
from apps.judging.selectors.rounds import round_summaries
from apps.queries.models import Query
from apps.retrieval.selectors.blinding import has_pairs_to_judge
from tests.corpus.factories import import_text, make_corpus
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import entries_of, give, judge_all, later, make_pool, make_round, own_progress, people_of

pytestmark = pytest.mark.django_db


def waiting_for(user: User, project: Project) -> JudgingWork:
    return answer_to(project, what_waits_for(user, project, roles_of(user, project)))


def test_resolved_grades_name_query_text_grade_and_what_it_rests_on():
    round_ = make_round(queries=1, blocks=3, overlap=1.0)
    mara, sef = people_of(round_)
    one, two, three = entries_of(round_)
    judge_all(round_, mara, lambda seat: {one.pk: 2, two.pk: 0, three.pk: None}[seat.entry_id])
    for seat in claim_seats(round_=round_, annotator=sef, n=5, at=AT):
        if seat.entry_id != three.pk:
            give(seat, sef, {one.pk: 2, two.pk: 3}[seat.entry_id])

    found = [(p.query_id, p.version_id, p.grade, p.resolution, p.judges) for p in resolved_grades(round_)]

    assert found == [
        (one.query_id, one.version_id, 2, Resolution.UNANIMOUS, 2),
        (two.query_id, two.version_id, None, Resolution.UNRESOLVED, 2),
        (three.query_id, three.version_id, None, Resolution.UNRESOLVED, 1),
    ]


def test_a_pair_nobody_judged_has_no_line():
    round_ = make_round(queries=1, blocks=3, overlap=0.0)
    mara = people_of(round_)[0]
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    give(seat, mara, 0)

    assert [(p.entry_id, p.grade) for p in resolved_grades(round_)] == [(seat.entry_id, 0)]


def test_a_second_thought_counts_and_the_first_does_not():
    round_ = make_round(queries=1, blocks=1, overlap=0.0)
    mara = people_of(round_)[0]
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    give(seat, mara, 3)
    give(seat, mara, 1)

    assert [p.grade for p in resolved_grades(round_)] == [1]


def test_a_snapshot_has_the_grades_of_its_rounds_and_the_later_round_counts_once_it_is_done():
    first = make_round(queries=1, blocks=2, overlap=0.0)
    mara, sef = people_of(first)
    judge_all(first, mara, lambda seat: 1)
    second = make_round(first.project, pool=first.pool, annotators=[mara, sef], overlap=1.0, judge_again=True)
    one, two = entries_of(first)
    for person in (mara, sef):
        for seat in claim_seats(round_=second, annotator=person, n=2, at=AT):
            if person == mara or seat.entry_id == one.pk:
                give(seat, person, 3)

    found = {p.entry_id: (p.grade, p.round_id) for p in resolved_grades(first.pool.snapshot)}

    assert found == {one.pk: (3, second.pk), two.pk: (1, first.pk)}


def test_progress_counts_by_person_and_by_query():
    round_ = make_round(queries=2, blocks=2, overlap=1.0)
    mara, sef = people_of(round_)
    seats = claim_seats(round_=round_, annotator=mara, n=3, at=AT)
    give(seats[0], mara, 1, active_ms=60_000)
    give(seats[1], mara, None, active_ms=120_000)

    assert totals(round_)[:3] == (8, 2, 1)
    answers = answers_in(round_, at=AT)
    assert [(each.done, each.cant_judge, each.pace) for each in map(answers.of, (mara, sef))] == [
        (2, 1, "1:30"), (0, 0, ""),
    ]  # fmt: skip
    assert held_by(taken_seats(round_, at=AT)) == {mara.pk: 1}
    assert sum(q.done for q in by_query(round_)) == 2
    assert [q.planned for q in by_query(round_)] == [4, 4]


def test_ones_own_goal_is_ones_share_without_what_others_took_of_it():
    round_ = make_round(queries=1, blocks=10, overlap=0.0)
    mara, sef = people_of(round_)

    assert own_progress(round_, mara)[:2] == (0, 5)
    for _ in range(7):
        give(claim_seats(round_=round_, annotator=sef, n=1, at=AT)[0], sef)
    assert own_progress(round_, mara)[:2] == (0, 3)
    assert own_progress(round_, sef)[:2] == (7, 5)
    assert (own_progress(round_, sef).beyond, own_progress(round_, sef).to_go) == (3, 0)
    judge_all(round_, mara)
    assert own_progress(round_, mara)[:2] == (3, 3)
    assert own_progress(round_, sef) == (7, 5, None, 0)


def test_ones_own_goal_takes_in_what_is_reserved_and_leaves_out_what_may_not_be_judged():
    project = make_project()
    mara, sef = make_member(project, Role.ANNOTATOR, name="Mara"), make_member(project, Role.ANNOTATOR, name="Sef")
    pool = make_pool(project, queries=2, blocks=5)
    first = pool.entries.order_by("pk").first()
    known = [KnownGrade(first.query_id, first.version_id, 3, "an earlier round")]
    Query.objects.filter(pk=first.query_id).update(domain="security")

    round_ = make_round(
        project, pool=pool, annotators=[mara, sef], overlap=0.0, known=known, remits={sef.pk: {"domain": ["security"]}}
    )

    assert round_.plan["seats"] == Seat.objects.filter(round=round_, reserved_for=None).count()
    assert totals(round_).planned == Seat.objects.filter(round=round_).count() == round_.plan["seats"] + 2
    assert [(row.planned, row.done) for row in round_summaries(project)] == [(totals(round_).planned, 0)]
    judge_all(round_, mara)
    left = Seat.objects.filter(round=round_).exclude(state="done").count()
    assert own_progress(round_, sef)[:2] == (0, left)


def test_a_round_from_before_its_seats_were_written_down_is_counted():
    round_ = make_round(queries=1, blocks=9, overlap=0.0)
    mara = people_of(round_)[0]
    RoundAnnotator.objects.update(share=None)
    Seat.objects.update(meant_for=None)
    round_.plan = None

    assert totals(round_)[:3] == (9, 0, 0)
    assert own_progress(round_, mara)[:2] == (0, 5)


def test_ones_own_progress_counts_nothing_but_ones_own(django_assert_num_queries, monkeypatch):
    round_ = make_round(queries=3, blocks=9, overlap=1.0)
    mara = people_of(round_)[0]
    for seat in claim_seats(round_=round_, annotator=mara, n=4, at=AT):
        give(seat, mara, active_ms=60_000)
    monkeypatch.setattr("apps.judging.selectors.my_progress.LOOK", 5)

    with django_assert_num_queries(2) as asked:
        assert own_progress(round_, mara) == (4, 27, 60_000, 200)

    reads = [part for query in asked for part in query["sql"].split('FROM "judging_seat"')[1:]]
    assert len(reads) > 5
    assert all(any(word in read for word in ("annotator_id", "reserved_for_id", "'open'")) for read in reads)


def test_people_beyond_their_share_continue_as_long_as_there_are_pairs(monkeypatch):
    round_ = make_round(queries=1, blocks=10, overlap=0.0)
    mara = people_of(round_)[0]
    for _ in range(6):
        give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara)

    assert own_progress(round_, mara) == (6, 5, None, 4)
    monkeypatch.setattr("apps.judging.selectors.my_progress.LOOK", 2)
    monkeypatch.setattr("apps.judging.selectors.my_progress.MOST_EXTRA", 1)
    assert own_progress(round_, mara) == (6, 5, None, 1)


def test_the_goal_of_a_person_does_not_move_with_their_grades():
    """A goal that grew would tell which pair comes back."""
    round_ = make_round(queries=2, blocks=20, annotators=2, overlap=0.0, again=0.5)
    mara = people_of(round_)[0]
    goals = {own_progress(round_, mara).total}

    for seat in claim_seats(round_=round_, annotator=mara, n=12, at=AT):
        give(seat, mara)
        goals.add(own_progress(round_, mara).total)

    assert Seat.objects.filter(reserved_for=mara, pass_number=2).exists()
    assert goals == {30}


def test_the_counter_stays_at_the_share_when_somebody_goes_on(client):
    round_ = make_round(queries=1, blocks=10, overlap=0.0)
    mara = people_of(round_)[0]
    client.force_login(mara)
    url = reverse("judging:judge", args=[round_.project.slug, round_.pk])
    told = []
    for place in range(1, 7):
        page = client.get(url, {"more": "1"} if place == 6 else {}).content.decode()
        told.append(re.sub("<[^>]+>", "", re.search(r"data-count>(.*)\n", page).group(1)))
        give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara)

    assert told == [*(f"pair {place} of 5" for place in range(1, 6)), "pair 6 past your 5"]


def test_a_seat_is_stuck_when_everybody_who_still_judges_has_been_on_its_pair():
    round_ = make_round(queries=1, blocks=2, annotators=2, overlap=1.0)
    mara, sef = people_of(round_)
    judge_all(round_, mara)
    assert stuck(round_) == 0

    projects.set_roles(project=round_.project, user=sef, roles=[Role.VIEWER], actor=lead_of(round_.project), at=AT)

    assert stuck(round_) == 2


def test_ranks_stay_hidden_from_whoever_may_still_be_given_pairs_of_a_pool():
    round_ = make_round()
    mara = people_of(round_)[0]

    assert has_pairs_to_judge(mara, round_.pool)
    assert not has_pairs_to_judge(lead_of(round_.project), round_.pool)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    assert not has_pairs_to_judge(mara, round_.pool)


def test_what_waits_for_a_person():
    round_ = make_round(queries=1, blocks=2, overlap=1.0)
    mara, sef = people_of(round_)
    lead = lead_of(round_.project)

    assert waiting_for(mara, round_.project)[:2] == (2, round_)
    judge_all(round_, mara, lambda seat: 0)
    judge_all(round_, sef, lambda seat: 3, at=later(5))
    assert waiting_for(mara, round_.project)[:3] == (0, None, 0)
    assert waiting_for(lead, round_.project) == JudgingWork(0, None, 2, round_, AT, 0, None, round_)
    assert waiting_for(make_member(round_.project, Role.VIEWER), round_.project)[:3] == (0, None, 0)


def test_open_decisions_of_a_lead_are_counted_like_the_pairs_themselves():
    """Every way in which three people answer a pair, in an open round and in a closed one."""
    project = make_project()
    lead = make_member(project, Role.LEAD, Role.ANNOTATOR)
    answers = list(itertools.product([0, 1, None], repeat=3))
    rounds = []
    for judged in (2, 3):
        people = [lead, *(make_member(project, Role.ANNOTATOR) for _ in range(2))]
        round_ = make_round(project, queries=1, blocks=len(answers), annotators=people, overlap=1.0, judges=3)
        entries = list(round_.pool.entries.order_by("pk").values_list("pk", flat=True))
        given = dict(zip(entries, answers, strict=True))
        for place, person in enumerate(people[:judged]):
            judge_all(round_, person, lambda seat, g=given, p=place: g[seat.entry_id][p])
        rounds.append(round_)
    other = lead_of(project)

    def read(person):
        return [(r, len(adjudicable(r, person))) for r in rounds if adjudicable(r, person)]

    def counted(person):
        return [(row.round, row.others) for row in undecided_in(project, person) if row.others]

    assert counted(other) == read(other) == [(rounds[1], 13)]
    assert counted(lead) == read(lead) == []
    close_round(round_id=rounds[0].pk, actor=other, at=AT)
    rounds[0].refresh_from_db()
    assert counted(other) == read(other)
    assert waiting_for(lead, project).left == sum(left_to_another_lead(r, lead) for r in rounds) > 0


@pytest.mark.parametrize("rounds", [1, 3])
def test_open_decisions_of_a_lead_take_the_same_queries_for_few_rounds_and_many(rounds, django_assert_num_queries):
    project = make_project()
    for _ in range(rounds):
        round_ = make_round(project, queries=1, blocks=2, overlap=1.0)
        for grade, person in enumerate(people_of(round_)):
            judge_all(round_, person, lambda seat, g=grade: g)

    lead = lead_of(project)

    with django_assert_num_queries(5):
        assert waiting_for(lead, project).to_adjudicate == 2 * rounds


def test_a_round_with_every_planned_grade_is_ready_to_be_closed():
    round_ = make_round(queries=1, blocks=2, overlap=0.0)
    lead, mara = lead_of(round_.project), people_of(round_)[0]
    assert waiting_for(lead, round_.project).full_round is None

    judge_all(round_, mara)

    assert waiting_for(lead, round_.project).full_round == round_
    assert waiting_for(mara, round_.project).full_round is None
    assert [row.is_full for row in round_summaries(round_.project)] == [True]
    close_round(round_id=round_.pk, actor=lead, at=AT)
    assert waiting_for(lead, round_.project).full_round is None


def test_there_is_nothing_to_grade_in_a_closed_round():
    round_ = make_round()
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert waiting_for(people_of(round_)[0], round_.project)[:2] == (0, None)


@pytest.mark.parametrize(
    ("done", "total", "kinds"),
    [
        (0, 0, []),
        (0, 2, ["now", "todo"]),
        (1, 3, ["done", "now", "todo"]),
        (2, 2, ["done", "done"]),
    ],
)
def test_each_tick_represents_a_pair(done, total, kinds):
    assert [tick.kind for tick in ticks(done, total)] == kinds


def test_very_many_pairs_share_ticks():
    drawn = ticks(1_000, 10_000)

    assert len(drawn) == 240
    assert [tick.kind for tick in drawn].count("done") == 24


def test_passages_of_documents_with_one_title_are_read_with_the_id_of_the_document():
    project = make_project()
    corpus = make_corpus(project, {})
    rows = [
        {
            "block_id": f"{name}#1",
            "document_id": f"{name}.yaml",
            "document_title": title,
            "title": "Backups",
            "text": "x",
        }
        for name, title in (("aws", "component"), ("gcp", "component"), ("book", "Handbook"))
    ]
    import_text(corpus, "\n".join(json.dumps(row) for row in rows))
    snapshot = freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT, name="Spring")
    round_ = make_round(project, pool=make_pool(project, queries=1, snapshot=snapshot), annotators=1, overlap=0.0)
    (mara,) = people_of(round_)

    read = [readings([seat], annotator_id=mara.pk)[0].document for seat in Seat.objects.filter(round=round_)]

    assert sorted(read) == ["Handbook", "aws.yaml", "gcp.yaml"]
