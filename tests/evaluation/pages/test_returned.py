"""The page of what each returned passage earns, and the list of those that were not located."""

import pytest
from django.urls import reverse

from apps.evaluation.presenters import score_tables
from apps.evaluation.presenters.returned_passages import ReturnedPassages
from apps.metrics.by_text.index import tokens_of, word_places
from apps.metrics.expected.rules import TEXT
from tests.evaluation.by_text import ELSEWHERE, add_same, make_text_scene, piece
from tests.evaluation.factories import GOOD, add_run, qrels_of, score
from tests.reading import plain_words

pytestmark = pytest.mark.django_db
TOO_FEW = "nothing: less than 80\N{NO-BREAK SPACE}% of its words so far"


@pytest.fixture
def scene():
    """Two halves of a, which both touch b as well, then a again, an unjudged block, and a text from elsewhere."""
    made = make_text_scene()
    halves = (f"{piece('a', 1, 10)} {piece('b', 1, 5)}", f"{piece('a', 11, 20)} {piece('b', 6, 9)}")
    add_same(made, "cut", *halves, piece("a"), piece("d"), ELSEWHERE)
    return made


@pytest.fixture
def evaluation(scene):
    return score(scene, "cut", hit=TEXT)


def address(evaluation, name="returned", *args):
    return reverse(f"evaluation:{name}", args=[evaluation.project.slug, evaluation.pk, *args])


def query_of(evaluation, number=0):
    return evaluation.version.queries.order_by("outside_id")[number]


def read(client, url, person) -> str:
    client.force_login(person)
    response = client.get(url)
    assert response.status_code == 200
    return plain_words(response)


def test_each_passage_says_what_it_earns_and_why(evaluation):
    passages = ReturnedPassages(evaluation, query_of(evaluation)).passages

    assert [(one.rank, one.words, one.grade) for one in passages] == [
        (1, 15, None),
        (2, 14, 3),
        (3, 20, None),
        (4, 20, None),
        (5, 8, None),
    ]
    assert [one.earns for one in passages] == [
        "It covers no passage that is new, and counts as not relevant.",
        "It counts as grade 3.",
        "It covers no passage that is new, and counts as not relevant.",
        "What it covers was not judged. It counts as not relevant.",
        "Not located: its words are in no document of this snapshot. It counts as not relevant.",
    ]
    assert [[(block.grade, block.held, block.words, block.why) for block in one.blocks] for one in passages] == [
        [
            (3, 10, 20, TOO_FEW),
            (1, 5, 20, TOO_FEW),
        ],
        [
            (3, 10, 20, "grade 3: enough of its words, together with the results above"),
            (1, 4, 20, TOO_FEW),
        ],
        [(3, 20, 20, "counted at rank 2 already")],
        [(None, 20, 20, "not judged: 100\N{NO-BREAK SPACE}% of its words")],
        [],
    ]


def test_the_words_that_both_have_are_lit_in_both(evaluation):
    (_, second, *_) = ReturnedPassages(evaluation, query_of(evaluation)).passages

    assert f"<mark>{piece('a', 11, 20)}</mark> <mark>{piece('b', 6, 9)}</mark>" in second.html
    assert f"{piece('a', 1, 10)} <mark>{piece('a', 11, 20)}</mark>" in second.blocks[0].html


def test_the_page_leads_on_to_the_next_query_and_to_our_passages(client, scene, evaluation):
    first, second = query_of(evaluation), query_of(evaluation, 1)

    page = read(client, address(evaluation, "returned", first.pk), scene.lead)

    assert f'href="{address(evaluation, "returned", second.pk)}"' in page
    assert 'data-key="k"' not in page
    assert 'class="touched counts"' in page


def test_what_a_system_returned_is_escaped(client, scene):
    add_same(scene, "hostile", f"<script>alert(1)</script> {piece('a')}")
    evaluation = score(scene, "hostile", hit=TEXT)

    client.force_login(scene.lead)
    page = client.get(address(evaluation, "returned", query_of(evaluation).pk)).content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_passages_that_are_not_located_are_listed_by_query(client, scene, evaluation):
    page = read(client, address(evaluation, "not-located"), scene.lead)

    assert "<h1>6 passages not located</h1>" in page
    assert page.count(ELSEWHERE) == 6
    assert f'href="{address(evaluation, "returned", query_of(evaluation).pk)}#rank-5"' in page


def test_the_page_of_the_scores_leads_to_both(client, scene, evaluation):
    page = read(client, address(evaluation, "evaluation"), scene.lead)

    assert f'href="{address(evaluation, "not-located")}"' in page
    assert page.count(f'href="{address(evaluation, "returned", query_of(evaluation).pk)}"') == 2


def test_nothing_of_test_is_shown_to_anybody(client):
    scene = make_text_scene(queries=24, test_share=0.5)
    add_same(scene, "cut", piece("a"), ELSEWHERE)
    evaluation = score(scene, "cut", hit=TEXT, split="")
    sealed = evaluation.version.queries.filter(split="test").first()
    client.force_login(scene.lead)

    assert client.get(address(evaluation, "returned", sealed.pk)).status_code == 404
    listed = client.get(address(evaluation, "not-located")).context["lost"]
    assert {row.query.split for row in listed} == {"dev"}


def test_who_still_judges_a_query_sees_none_of_its_results(client, scene, evaluation, monkeypatch):
    first = query_of(evaluation)
    monkeypatch.setattr(score_tables, "hidden_queries", lambda user, snapshot, keys: {first.query_id: "Still judged."})
    client.force_login(scene.lead)

    assert client.get(address(evaluation, "returned", first.pk)).status_code == 404
    assert len(client.get(address(evaluation, "not-located")).context["lost"]) == 5


@pytest.mark.parametrize("name", ["returned", "not-located"])
def test_scores_by_id_have_no_such_page(client, scene, name):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    evaluation = score(scene, "blocks")
    client.force_login(scene.lead)
    args = [query_of(evaluation).pk] if name == "returned" else []

    assert client.get(address(evaluation, name, *args)).headers["Location"] == address(evaluation, "evaluation")


@pytest.mark.parametrize(
    "text",
    [
        "At the tap, 0.2 mg.",
        "Über­maß_und  ＡＢＣ ﬁn",
        "残留塩素 is 0.2",
        "كَتَبَ الوَلَدُ الدَّرْسَ",
        "",
        "İstanbul ǆ 10⁸",
        "naïve cafe\N{COMBINING ACUTE ACCENT}",
    ],
)
def test_every_word_has_its_place_in_the_text(text):
    places = word_places(text)

    assert len(places) == len(tokens_of(text))
    assert all(tokens_of(text[start:end]) for start, end in places)
