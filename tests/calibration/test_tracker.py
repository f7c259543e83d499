"""The quality log and the rates, over HTTP."""

import csv
import io
from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.calibration.selectors import rates
from apps.calibration.selectors.rates import breakdown, rates_from
from apps.metrics.agreement.ratings import Rate
from apps.review.actions.disputes import adjudicate
from apps.review.enums import Category, Decision, RateSide, Reason, VerdictChoice
from apps.review.selectors import tracking
from apps.review.selectors.tracking import Dimension, FlagTally, LogFilter
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.agreement.factories import answer_items, make_calibration, review_once
from tests.factories import AT, lead_of, make_member, make_project
from tests.module_rows import rows_of_module
from tests.review.factories import answer, make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@rows_of_module
def project():
    """Two reviewers, and one author with three triples: both confirm, one flags, both flag."""
    project = make_project()
    for name in ("Petra Lomas", "Sef Arden"):
        make_member(project, Role.REVIEWER, name=name)
    author = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
    review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)
    review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.FLAG, at=AT + timedelta(days=40))
    review_once(project, author, VerdictChoice.FLAG, VerdictChoice.FLAG, at=AT + timedelta(days=41))
    return project


def page(client, name, project, status=200, **query) -> str:
    answer = client.get(reverse(f"calibration:{name}", args=[project.slug]), query)
    assert answer.status_code == status
    return answer.content.decode()


def lead_member(project):
    return membership_in(lead_of(project), project.slug)


def kinds(project, **narrowed) -> list[str]:
    return [entry.kind for entry in rates.page_of(lead_member(project), LogFilter(**narrowed)).entries]


# The log


def test_every_flag_and_every_drop_is_logged_newest_first(project):
    entries = rates.page_of(lead_member(project), LogFilter()).entries

    assert [(entry.kind, str(entry.triple)) for entry in entries] == [
        ("flag", "T-0003"),
        ("flag", "T-0003"),
        ("drop", "T-0003"),
        ("flag", "T-0002"),
    ]
    assert (entries[0].reasons, entries[0].category, entries[0].text) == (
        ["Answer overstated"],
        "Numeric precision",
        "SECRET-NOTE",
    )
    assert (entries[0].author.name, entries[0].month, entries[0].origin) == ("Jun Hallam", "2026-04", "people")
    assert entries[2].text == "Both reviewers flagged it."


def test_an_open_round_is_not_logged_and_moves_no_rate(project):
    triple = make_in_review(project)
    before = rates.page_of(lead_member(project), LogFilter())
    rated = tracking.tallies(project, RateSide.REVIEWER)

    answer(triple, reviewers_of(triple)[0], VerdictChoice.FLAG)

    assert rates.page_of(lead_member(project), LogFilter()) == before
    assert tracking.tallies(project, RateSide.REVIEWER) == rated


def test_a_superseded_flag_is_not_logged(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    answer(triple, one, VerdictChoice.FLAG)
    answer(triple, one)
    answer(triple, two)

    assert len(kinds(project)) == 4


def test_the_log_is_narrowed_by_each_filter(project):
    author = Triple.objects.first().author
    flagger = rates.page_of(lead_member(project), LogFilter()).entries[3].who

    assert len(kinds(project, author=author.pk)) == 4
    assert kinds(project, author=flagger.pk) == []
    assert kinds(project, reviewer=flagger.pk) == ["flag", "drop", "flag"]
    assert len(kinds(project, reason=Reason.OVERSTATED)) == 4
    assert kinds(project, reason=Reason.WRONG_BLOCK) == []
    assert len(kinds(project, category=Category.NUMERIC)) == 4
    assert kinds(project, category=Category.SYNONYM) == []
    assert kinds(project, month="2026-03") == []
    assert len(kinds(project, month="2026-04")) == 4
    assert kinds(project, domain="nowhere") == []
    assert kinds(project, source=1) == []
    assert kinds(project, origin="machine") == []
    assert len(kinds(project, origin="people")) == 4


def test_pages_of_the_log_contain_each_line_once(project):
    member = lead_member(project)
    whole = rates.page_of(member, LogFilter()).entries

    seen, cursor = [], None
    while True:
        part = rates.page_of(member, LogFilter(), cursor, most=1)
        seen += part.entries
        if part.next is None:
            break
        cursor = rates.cursor_from(str(part.next))

    assert seen == whole


def test_every_way_to_drop_is_logged():
    project = make_team()

    make_triple(project, State.DROPPED)

    assert sorted(kinds(project)) == ["drop", "flag"]


@pytest.mark.parametrize(
    "query",
    [
        {"author": "x"},
        {"author": "9" * 30},
        {"reviewer": "²"},
        {"reason": "nothing"},
        {"month": "March"},
        {"origin": "elsewhere"},
        {"source": "0"},
    ],
)
def test_an_invalid_filter_is_reported(client, project, query):
    client.force_login(lead_of(project))

    page(client, "log", project, status=400, **query)
    page(client, "log-download", project, status=400, **query)


@pytest.mark.parametrize("cursor", ["x", "1", "1.x", "1.²", ".", "-1.2", "1." + "9" * 20])
def test_a_cursor_of_something_else_is_rejected(client, project, cursor):
    client.force_login(lead_of(project))

    page(client, "log", project, status=404, before=cursor)


def test_the_download_contains_the_same_lines_and_no_formula(client, project):
    author = Triple.objects.first().author
    review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.FLAG, note="=1+1")
    client.force_login(lead_of(project))

    answer = client.get(reverse("calibration:log-download", args=[project.slug]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))

    assert answer["Content-Type"].startswith("text/csv")
    assert sorted(row["what"] for row in rows) == ["drop", "flag", "flag", "flag", "flag"]
    assert "'=1+1" in {row["text"] for row in rows}
    assert {row["author"] for row in rows} == {"Jun Hallam"}


def test_what_is_reviewed_once_more_is_not_in_the_log_of_the_two():
    made = make_calibration()
    two = membership_in(made.subject, made.project.slug)
    lead = membership_in(made.lead, made.project.slug)

    hidden = rates.page_of(two, LogFilter()).entries
    shown = rates.page_of(lead, LogFilter()).entries
    answer_items(made, made.subject)
    answer_items(made, made.partner)

    assert len(shown) == 4
    assert len(hidden) == 2
    assert rates.page_of(two, LogFilter()).entries == shown


# Rates


def tally(person, month, flags, n, *, is_machine=False):
    return FlagTally(person, month, is_machine, flags, n)


def test_rates_are_worked_by_hand():
    found = rates_from(
        [tally(1, "2026-01", 2, 20), tally(1, "2026-02", 8, 20), tally(2, "2026-01", 0, 40), tally(3, "2026-01", 1, 4)],
        RateSide.REVIEWER,
        least=20,
        few=20,
    )

    one, two, three = (next(row for row in found.people if row.person == person) for person in (1, 2, 3))
    assert found.mean == pytest.approx(11 / 84)
    assert (one.people, two.people, three.people) == (Rate(10, 40), Rate(0, 40), Rate(1, 4))
    assert [round(end, 3) for end in one.people.interval] == [0.142, 0.402]
    assert [round(end, 3) for end in two.people.interval] == [0.0, 0.088]
    assert (one.is_calibrating, three.is_calibrating) == (False, True)
    assert (one.signal.rule, two.signal, three.signal) == ("outside", None, None)
    assert found.everybody.people == Rate(11, 84)
    assert [row.person for row in found.people] == [1, 2, 3]


def test_machine_written_triples_are_counted_apart_and_move_no_chart():
    found = rates_from(
        [tally(1, "2026-01", 2, 20), tally(1, "2026-01", 20, 20, is_machine=True)], RateSide.AUTHOR, least=20, few=20
    )

    assert (found.people[0].people, found.people[0].machine) == (Rate(2, 20), Rate(20, 20))
    assert found.mean == 0.1
    assert [(group.hits, group.n) for group in found.groups(1)] == [(2, 20)]


def test_authors_are_rated_by_first_rounds_and_reviewers_by_all(project):
    triple = make_triple(project, State.DISPUTED)

    again = adjudicate(
        project=project, triple_id=triple.pk, lead=lead_of(project), decision=Decision.RETURN, reason="Again.", at=AT
    )
    for reviewer in reviewers_of(again):
        answer(again, reviewer)

    assert sum(row.n for row in tracking.tallies(project, RateSide.AUTHOR)) == 8
    assert sum(row.n for row in tracking.tallies(project, RateSide.REVIEWER)) == 10


def test_breakdowns_add_up_to_the_rate(project):
    whole = rates.side_rates(project, RateSide.AUTHOR).everybody.people

    for by in Dimension:
        parts = rates.breakdown(project, RateSide.AUTHOR, by)
        assert (sum(part.people.hits for part in parts), sum(part.people.n for part in parts)) == (whole.hits, whole.n)
    assert [(part.label, part.people) for part in rates.breakdown(project, RateSide.AUTHOR, Dimension.MONTH)] == [
        ("2026-03", Rate(0, 2)),
        ("2026-04", Rate(3, 4)),
    ]


def test_reasons_are_counted_among_all_reviews(project):
    found = rates.side_rates(project, RateSide.REVIEWER)

    named = {part.label: part.people for part in rates.by_reason(project, RateSide.REVIEWER, found.everybody)}

    assert named["Answer overstated"] == Rate(3, 6)
    assert named["Wrong passage"] == Rate(0, 6)


def test_a_lead_sees_everybody_and_a_person_themselves(client, project):
    petra = next(row.who for row in rates.page_of(lead_member(project), LogFilter()).entries if row.is_flag)
    client.force_login(lead_of(project))
    everything = page(client, "rates", project, side="reviewer")
    one = page(client, "rates", project, side="reviewer", person=petra.pk)
    client.force_login(petra)
    own = page(client, "rates", project, side="reviewer")

    assert "Petra Lomas" in everything
    assert "Sef Arden" in everything
    assert f"Control chart of {petra.name}" in one
    assert f"Control chart of {petra.name}" in own
    other = {"Petra Lomas", "Sef Arden"} - {petra.name}
    assert not any(name in own for name in other)
    people = [row.person for row in rates.side_rates(project, RateSide.REVIEWER).people]
    page(client, "rates", project, side="reviewer", status=403, person=next(one for one in people if one != petra.pk))


@pytest.mark.parametrize(
    "query", [{"side": "x"}, {"by": "x"}, {"person": "x"}, {"person": "9" * 30}, {"person": "0"}, {"person": "²"}]
)
def test_rates_of_nothing_are_not_there(client, project, query):
    client.force_login(lead_of(project))

    page(client, "rates", project, status=404, **query)


@pytest.mark.parametrize("by", ["month", "domain", "source", "difficulty", "reason"])
def test_each_breakdown_has_its_page(client, project, by):
    client.force_login(lead_of(project))

    assert f"By {by}" in page(client, "rates", project, by=by, side="author")


def test_an_empty_project_says_what_is_missing(client):
    project = make_project()
    client.force_login(lead_of(project))

    assert "No finished review yet" in page(client, "rates", project)
    assert "Nothing has been flagged yet" in page(client, "log", project)
    assert "No calibration yet" in page(client, "calibrations", project)


def test_rates_by_domain_follow_the_triples_and_not_a_cache_of_the_process(project):
    author = Triple.objects.first().author
    review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
    breakdown(project, RateSide.AUTHOR, Dimension.DOMAIN)

    Triple.objects.update(domain="huts")

    assert [part.label for part in breakdown(project, RateSide.AUTHOR, Dimension.DOMAIN)] == ["huts"]


# Questions


def test_each_question_is_counted_by_hand(project):
    author = Triple.objects.first().author
    review_once(project, author, VerdictChoice.FLAG, VerdictChoice.FLAG, reasons=[Reason.WRONG_BLOCK], category="")

    met = tracking.meetings(project)

    assert tracking.flag_table(met) == {0: 1, 1: 1, 2: 2}
    tables = tracking.aspect_tables(met)
    assert dict(tables["question"]) == {0: 4}
    assert dict(tables["block"]) == {0: 3, 2: 1}
    assert dict(tables["answer"]) == {0: 2, 1: 1, 2: 1}


# API


def test_the_api_answers_the_log_page_by_page_and_refuses_what_it_does_not_know(client, project):
    client.force_login(lead_of(project))
    address = reverse("calibration-api:log", args=[project.slug])

    answer = client.get(address, {"reason": "overstated"}).json()

    assert [(entry["what"], entry["triple"]) for entry in answer["entries"]] == [
        ("flag", "T-0003"),
        ("flag", "T-0003"),
        ("drop", "T-0003"),
        ("flag", "T-0002"),
    ]
    assert answer["next"] is None
    for query in ({"before": "x"}, {"author": "9" * 30}, {"revision__note": "x"}):
        assert client.get(address, query).status_code == 400


def test_the_api_answers_rates_to_whom_they_may_be_shown(client, project):
    address = reverse("calibration-api:rates", args=[project.slug])
    client.force_login(lead_of(project))
    everything = client.get(address, {"side": "reviewer"}).json()
    client.force_login(make_member(project, Role.REVIEWER))
    own = client.get(address, {"side": "reviewer"}).json()

    assert everything["everybody"]["people"]["flags"] == 3
    assert {row["person"] for row in everything["rates"]} == {"Petra Lomas", "Sef Arden"}
    assert (own["everybody"], own["rates"]) == (everything["everybody"], [])
    assert client.get(address, {"side": "x"}).status_code == 400
