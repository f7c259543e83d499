from collections import Counter

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import policy
from apps.queries.actions import queries as queries_actions
from apps.queries.actions.sources import set_targets
from apps.queries.enums import SourceKind
from apps.queries.forms import targets_in
from apps.queries.presenters import StratumShare, balance_board, shares, tally
from apps.queries.selectors import stratum_count
from apps.triples.actions.triples import start_draft
from tests.factories import AT, lead_of, make_member, make_project
from tests.queries.factories import make_query, make_source
from tests.triples.factories import make_snapshot, make_team

ROWS = [
    stratum_count("log", "how-to", "easy", "", ["failure:typo", "failure:acronym"], 3),
    stratum_count("log", "", "hard", "tax", ["failure:typo", "other"], 1),
    stratum_count(None, "", "easy", "tax", None, 4),
]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("source", {"log": 4, "": 4}),
        ("difficulty", {"easy": 7, "hard": 1}),
        ("failure_mode", {"typo": 4, "acronym": 3, "": 4}),
    ],
)
def test_every_property_is_counted_and_each_of_several_failure_modes(name, counts):
    assert tally(ROWS, name) == Counter(counts)


def test_shares_put_the_largest_first_and_the_unnamed_last():
    found = shares({"": 5, "a": 2, "b": 3})

    assert [(share.value, share.number, share.share) for share in found] == [
        ("b", 3, 0.3),
        ("a", 2, 0.2),
        ("", 5, 0.5),
    ]


def test_shares_keep_a_given_order():
    assert [share.value for share in shares({"hard": 9, "easy": 1}, order=["easy", "medium", "hard"])] == [
        "easy",
        "hard",
    ]


def test_a_target_without_queries_is_listed_as_short():
    assert shares({"a": 10}, {"a": 0.5, "b": 0.3}) == [
        StratumShare("a", 10, 1.0, 0.5, 0),
        StratumShare("b", 0, 0.0, 0.3, 3),
    ]


def test_no_queries_have_no_shares():
    assert shares({}, {"a": 0.4}) == [StratumShare("a", 0, 0.0, 0.4, 0)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("how-to = 30\n\nlook-up=70 %", {"how-to": 0.3, "look-up": 0.7}),
        ("a = b = 12.5", {"a = b": 0.125}),
        ("", {}),
    ],
)
def test_targets_are_read_from_lines(lines, found):
    assert targets_in(lines) == found


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("how-to", "Line 1, “how-to”"),
        ("a = 10\nb = many", "Line 2, “b = many”"),
        ("a = 0", "Line 1"),
        ("a = 101", "Line 1"),
        ("a = 60\nb = 50", "add up to 110 %"),
    ],
)
def test_a_wrong_target_is_named_by_its_line(lines, says):
    with pytest.raises(ValueError, match=says):
        targets_in(lines)


def aimed(project, **targets) -> None:
    set_targets(project=project, targets=targets, actor=lead_of(project), at=AT)
    project.refresh_from_db()


@pytest.mark.django_db
def test_the_board_has_queries_and_triples_and_leaves_variants_beside():
    project = make_team()
    first = make_query(project, domain="tax", tags=["failure:typo"])
    make_query(project, domain="access")
    queries_actions.add_variants(
        project=project, query_ids=[first.pk], kinds=["lower", "short"], seed=1, actor=lead_of(project), at=AT
    )
    before = balance_board(project)
    author = make_member(project, Role.ANNOTATOR)
    start_draft(project=project, author=author, snapshot=make_snapshot(project), query=first, at=AT)
    after = balance_board(project)

    assert (after.queries, after.triples - before.triples) == (before.queries, 1)
    assert before.variants > 0
    rows = {board.name: {row.value: row for row in board.rows} for board in after.strata}
    assert rows["domain"]["tax"].queries.number == 1
    assert rows["domain"]["tax"].triples.number == 1
    assert rows["failure_mode"]["typo"].triples.number == 1


@pytest.mark.django_db
def test_what_to_add_next_are_the_three_most_short_each_with_its_door():
    project = make_project()
    log = make_source(project, name="Log", kind=SourceKind.QUERY_LOG, target_share=0.4)
    make_source(project, name="Talks", kind=SourceKind.INTERVIEW, target_share=0.3)
    for _ in range(10):
        make_query(project, source=None, domain="access")
    aimed(project, domain={"tax": 0.5, "access": 0.5}, query_type={"how-to": 0.1})

    board = balance_board(project)

    assert [(one.items, one.name, one.label, one.short) for one in board.next] == [
        ("Queries", "domain", "tax", 5),
        ("Queries", "source", "Log", 4),
        ("Queries", "source", "Talks", 3),
    ]
    slug = project.slug
    assert [one.url for one in board.next] == [
        f"{reverse('queries:new', args=[slug])}?domain=tax",
        reverse("corpus:import-new", args=[slug, "log"]),
        reverse("corpus:import-new", args=[slug, "queries"]),
    ]
    assert log.target_share == 0.4


@pytest.mark.django_db
@pytest.mark.parametrize("count", [1, 6])
def test_the_board_takes_as_many_statements_for_few_and_many(client, count, django_assert_num_queries):
    project = make_project()
    for number in range(count):
        make_query(project, source=make_source(project), domain=f"d{number}")
    aimed(project, domain={"tax": 0.5})
    client.force_login(lead_of(project))

    with django_assert_num_queries(8):
        client.get(reverse("queries:balance", args=[project.slug]))


@pytest.mark.django_db
def test_targets_are_set_on_the_page_and_over_the_api_and_the_door_has_the_value_chosen(client):
    project = make_project()
    make_query(project, domain="access")
    client.force_login(lead_of(project))
    page = reverse("queries:balance", args=[project.slug])

    wrong = client.post(reverse("queries:balance-targets", args=[project.slug]), {"domain": "tax"})
    client.post(reverse("queries:balance-targets", args=[project.slug]), {"domain": "tax = 100"})

    assert wrong.status_code == 400
    assert "write a value and its share" in wrong.text
    assert "tax = 100</textarea>" in client.get(page).text
    door = client.get(page).context["board"].next[0].url
    assert 'value="tax"' in client.get(door).text
    api = reverse("queries-api:balance", args=[project.slug])
    sent = client.post(api, {"query_type": {"how-to": 0.25}}, content_type="application/json").json()
    project.refresh_from_db()
    assert policy(project, "balance_targets")["query_type"] == {"how-to": 0.25}
    assert policy(project, "balance_targets")["domain"] == {"tax": 1.0}
    assert [one["value"] for one in sent["next"]] == ["tax"]
    assert client.post(api, {"domain": {"a": 0.8, "b": 0.7}}, content_type="application/json").status_code == 400
