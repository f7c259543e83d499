"""One key means one thing on all screens of review, as `docs/reference/review-keys.md` lists them."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.enums import CandidateState
from apps.triples.enums import State
from tests.factories import lead_of, make_member
from tests.review.candidates import make_candidate_block, make_open
from tests.review.factories import make_disputed, make_in_review, make_triple, reviewers_of

pytestmark = pytest.mark.django_db

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "review-keys.md"
SCREENS = {"review", "passage", "dispute", "claims", "stale"}
LABELS = {
    "a": {"Decide"},
    "c": {"Confirm", "Also right", "Add it"},
    "d": {"Drop"},
    "f": {"Flag", "Not right", "Do not add it"},
    "l": {"Split"},
    "o": {"Add a claim"},
    "p": {"Pin to the new text"},
    "r": {"Revise", "Rewrite it", "Reopen as a new draft", "Reword the question"},
    "s": {"Skip"},
    "w": {"Withdraw the flag"},
    "x": {"Retire"},
}
TAG = re.compile(r'<(\w+)\b[^>]*\bdata-key="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)


def listed() -> dict[str, set[str]]:
    """The screens of each key of the table."""
    found: dict[str, set[str]] = {}
    for keys, where in re.findall(r"^\| (`.*?) \| .* \| (.*) \|$", TABLE.read_text(), re.MULTILINE):
        names = re.findall(r"`([^`]+)`", keys)
        if " to " in keys:
            names = [str(number) for number in range(int(names[0]), int(names[1]) + 1)]
        for name in names:
            assert name not in found, f"{name} is listed twice"
            found[name] = set(SCREENS) if where == "all" else set(where.split(", "))
    return found


def open_as(client, person, name, project, *args, **query) -> str:
    client.force_login(person)
    answer = client.get(reverse(f"review:{name}", args=[project.slug, *args]), query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def pages(client, project):
    """Each screen as everybody who acts on it sees it."""
    review, disputed, lead = make_in_review(project), make_disputed(project), lead_of(project)
    stale, dropped = make_triple(project, State.ACCEPTED, stale=True), make_triple(project, State.DROPPED)
    asked, answering = make_open(project, question="Who opens the door?")
    decider = make_member(project, Role.LEAD, name="Decider")
    differing = make_candidate_block(project, CandidateState.DISPUTED, decider)
    doing = [(disputed.author, "drop"), (reviewers_of(disputed)[1], "withdraw"), (lead, "adjudicate")]
    dispute = [open_as(client, person, "triple", project, disputed.pk, do=do) for person, do in doing]
    dispute += [open_as(client, person, "triple", project, disputed.pk) for person, _ in doing]
    return {
        "review": [open_as(client, reviewers_of(review)[0], "screen", project, review.pk)],
        "passage": [
            open_as(client, answering[0], "candidate", project, asked.pk),
            open_as(client, decider, "candidate", project, differing.pk),
        ],
        "dispute": [
            *dispute,
            open_as(client, lead, "triple", project, stale.pk),
            open_as(client, dropped.author, "triple", project, dropped.pk),
        ],
        "claims": [open_as(client, disputed.author, "split", project, disputed.pk)],
        "stale": [open_as(client, person, "stale-triple", project, stale.pk) for person in (lead, stale.author)],
    }


def test_no_two_screens_give_one_key_two_meanings(pages):
    known, wrong = listed(), []
    for screen, shown in pages.items():
        desks = [page.partition('id="main"')[2] for page in shown]
        for tag, key, inside in (found for desk in desks for found in TAG.findall(desk)):
            label = unescape(re.search(r"<b>(.*?)</b>", inside)[1]) if "<b>" in inside else ""
            if screen not in known.get(key, ()):
                wrong.append((screen, key, tag, "is not in the table"))
            elif label and label not in LABELS.get(key, {label}):
                wrong.append((screen, key, label))

    assert wrong == []
    keys = {
        screen: {key for page in shown for key in re.findall(r'data-key="([^"]+)"', page)}
        for screen, shown in pages.items()
    }
    named = {(key, screen) for key, screens in known.items() for screen in screens if not key.isdigit()}
    assert {(key, screen) for key, screen in named if key not in keys[screen]} == {("v", "dispute")}  # of two revisions
