"""The page of the guided split."""

import pytest
from django.urls import reverse

from apps.corpus.execution.search_index import index_snapshot
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.module_rows import rows_of_module
from tests.review.factories import make_disputed, reload
from tests.triples.factories import make_team, version_of

EVIDENCE = "A session lasts at most eight hours. It closes by itself at the end of the incident"
QUESTION = "How long does access last, and how does it end?"
ANSWER = "At most eight hours in a session; it closes by itself."


@rows_of_module
def triple():
    return make_disputed(make_team(), question=QUESTION, answer=ANSWER, evidence=EVIDENCE)


@pytest.fixture
def author(client, triple):
    client.force_login(triple.author)
    return client


def url(triple):
    return reverse("review:split", args=[triple.project.slug, triple.pk])


def posted(page):
    """What the browser would send of the page as it stands."""
    data = {"claims": str(page.context["count"])}
    for claim in page.context["claims"]:
        number, form = claim["number"], claim["form"]
        for name in ("question", "answer", "quotes", "sought", "block"):
            data[f"{name}_{number}"] = form[name].value() or ""
        ticks = [tick for origin in claim["origins"] for tick in (*origin.first, *origin.others)]
        data[f"passages_{number}"] = [tick.value for tick in ticks if tick.is_chosen]
    return data


def chosen(page):
    """The passages that are ticked, claim by claim."""
    return [
        [tick.text for origin in claim["origins"] for tick in (*origin.first, *origin.others) if tick.is_chosen]
        for claim in page.context["claims"]
    ]


def evidence_of(triple):
    block = triple.current.expected_blocks.get()
    return block.version.block.outside_id, [block.version.text[start:end] for start, end in block.spans]


def test_claims_are_proposed_with_the_passage_that_says_them(author, triple):
    page = author.get(url(triple))

    assert [claim["form"]["answer"].value() for claim in page.context["claims"]] == [
        "At most eight hours in a session.",
        "It closes by itself.",
    ]
    assert [claim["form"]["question"].value() for claim in page.context["claims"]] == [
        "How long does access last?",
        "How does it end?",
    ]
    assert chosen(page) == [
        ["A session lasts at most eight hours."],
        ["It closes by itself at the end of the incident"],
    ]
    assert "Split it into atomic claims" in page.content.decode()


def test_an_unedited_proposal_creates_drafts_with_links_both_ways(author, triple):
    sent = author.post(url(triple), posted(author.get(url(triple))))

    one, two = triple.children.order_by("number")
    assert sent.url == reverse("triples:edit", args=[triple.project.slug, one.pk])
    assert (reload(triple).state, one.state, two.state) == (State.SPLIT, State.DRAFT, State.DRAFT)
    assert evidence_of(one) == ("access", ["A session lasts at most eight hours."])
    assert evidence_of(two) == ("access", ["It closes by itself at the end of the incident"])
    parent = author.get(reverse("review:triple", args=[triple.project.slug, triple.pk])).content.decode()
    child = author.get(reverse("review:triple", args=[triple.project.slug, one.pk])).content.decode()
    assert one.label in parent
    assert two.label in parent
    assert "split from <a" in child


def test_each_claim_opens_on_the_bench_with_what_was_chosen(author, triple):
    bench = author.post(url(triple), posted(author.get(url(triple))), follow=True)

    page = bench.content.decode()
    assert "How long does access last?" in page
    assert "<mark>A session lasts at most eight hours.</mark>" in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"question_2": " "}, "Claim 2 has no question of its own."),
        ({"answer_1": ""}, "Claim 1 has no answer."),
        ({"passages_2": []}, "Claim 2 has no evidence: choose a sentence, or another passage and words of it."),
        ({"quotes_2": "words it never says"}, "Claim 2: “words it never says” is in none of its passages."),
        ({"question_1": "w" * 2001}, "Claim 1: Ensure this value has at most 2000 characters"),
        ({"passages_1": ["0:0:5", "x", "0:9:3", "9999999999999999999:1:2"]}, "Claim 1 has no evidence"),
        ({"claims": "1"}, "A split makes 2 to 6 claims, not 1."),
    ],
)
def test_a_rejection_names_the_claim_and_keeps_the_input(author, triple, changes, sentence):
    data = posted(author.get(url(triple))) | {"answer_2": "My own & words."} | changes

    back = author.post(url(triple), data)

    page = back.content.decode()
    assert back.status_code == 400
    assert sentence in page
    assert data["claims"] == "1" or "My own &amp; words." in page
    assert (reload(triple).state, Triple.objects.count()) == (State.DISPUTED, 1)


def test_claims_are_added_and_left_out_without_losing_the_others(author, triple):
    data = posted(author.get(url(triple))) | {"answer_2": "My own words."}

    more = author.post(url(triple), data | {"do": "add"})
    again = posted(more) | {"question_3": "What is third?", "quotes_3": "a further session needs a fresh approval"}
    fewer = author.post(url(triple), again | {"do": "remove:1"})

    assert (more.status_code, more.context["count"], more.context["go_on"]) == (200, 3, 3)
    assert fewer.context["count"] == 2
    assert [claim["form"]["answer"].value() for claim in fewer.context["claims"]] == ["My own words.", ""]
    assert [claim["form"]["question"].value() for claim in fewer.context["claims"]][1] == "What is third?"
    assert chosen(fewer) == [["It closes by itself at the end of the incident"], []]
    assert author.post(url(triple), posted(fewer) | {"do": "remove:1"}).context["count"] == 2
    six = posted(fewer) | {"claims": "6"}
    assert author.post(url(triple), six | {"do": "add"}).context["count"] == 6


def test_another_block_is_found_and_chosen_for_one_claim(author, triple):
    index_snapshot(triple.snapshot)
    rotation = version_of(triple.snapshot, "rotation")
    data = posted(author.get(url(triple))) | {"sought_2": "root key rotated", "do": "again"}

    found = author.post(url(triple), data)
    assert [hit.title for hit in found.context["claims"][1]["hits"]] == ["Rotation", "Backups"]
    assert found.context["claims"][0]["hits"] == []

    with_block = author.post(url(triple), data | {"do": f"block:2:{rotation.block_id}"})
    offered = [
        tick for origin in with_block.context["claims"][1]["origins"] if origin.is_found for tick in origin.first
    ]
    assert [tick.text for tick in offered] == [rotation.text]

    last = posted(with_block) | {
        "question_2": "How often is a root key rotated?",
        "answer_2": "Every twelve months.",
        "passages_2": [offered[0].value],
    }
    author.post(url(triple), last)
    assert evidence_of(triple.children.get(number=3)) == ("rotation", [rotation.text])


def test_typed_words_of_a_block_are_evidence(author, triple):
    data = posted(author.get(url(triple))) | {"passages_1": [], "quotes_1": "at most\n eight hours\n"}

    author.post(url(triple), data | {"quotes_1": "at most eight hours"})

    assert evidence_of(triple.children.get(number=2)) == ("access", ["at most eight hours"])


def test_figures_are_checked_claim_by_claim(author, triple):
    data = posted(author.get(url(triple))) | {"answer_1": "At most 9 hours.", "do": "again"}

    page = author.post(url(triple), data)

    levels = [[check.level for check in claim["checks"]] for claim in page.context["claims"]]
    assert "stop" in levels[0]
    assert "stop" not in levels[1]


def test_the_page_runs_no_more_queries_for_more_claims(author, triple, django_assert_max_num_queries):
    data = posted(author.get(url(triple))) | {"do": "again", "claims": "6"}

    with django_assert_max_num_queries(16):
        author.post(url(triple), data)


@pytest.mark.parametrize(
    "sent", [{"claims": "9" * 40}, {"claims": "-1"}, {"do": "remove:99"}, {"do": "block:2:x"}, {"do": "?"}]
)
def test_what_no_page_sends_is_taken_calmly(author, triple, sent):
    page = author.post(url(triple), posted(author.get(url(triple))) | {"do": "add"} | sent)

    assert (page.status_code, reload(triple).state) == (200, State.DISPUTED)
    assert 2 <= page.context["count"] <= 6
