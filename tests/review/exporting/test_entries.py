"""What an entry says, and who took it."""

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.submitting import submit_triple
from apps.review.selectors.exports import WrongExport
from apps.triples.actions.imports import adopt_candidate
from apps.triples.enums import State
from tests.factories import AT, make_member
from tests.review.exporting.taking import entries, exported
from tests.review.factories import answer_both, make_accepted, make_triple, reviewers_of
from tests.triples.factories import make_candidate

pytestmark = pytest.mark.django_db


def test_an_accepted_triple_is_a_published_entry(team):
    triple = make_accepted(team, question="How long may access last?")
    names = sorted(reviewer.name for reviewer in reviewers_of(triple))

    [entry] = entries(team)

    block = {"block_id": "access", "document_id": "handbook", "page_range": [31, 32]}
    assert entry == {
        "id": "T-0001",
        "query_id": None,
        "question": "How long may access last?",
        "expected_block": block,
        "expected_blocks": [
            block | {"evidence": [{"start": 0, "end": 36, "text": "A session lasts at most eight hours."}]}
        ],
        "match": "any",
        "expected_answer": "At most eight hours.",
        "metadata": {
            "domain": "",
            "difficulty": "",
            "added_by": triple.author.name,
            "added_at": AT.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "reviewed_by": names,
            "resolution": "consensus",
            "machine_written": False,
        },
        "snapshot": {"corpus": triple.snapshot.corpus.slug, "digest": triple.snapshot.digest},
    }


def test_a_machine_written_triple_says_what_wrote_it_and_who_adopted_it(team):
    person = make_member(team, Role.ANNOTATOR, name="Ann")
    candidate = make_candidate(team, machine="model-x")
    adopt_candidate(project=team, triple_id=candidate.pk, person=person, at=AT)
    answer_both(submit_triple(project=team, triple_id=candidate.pk, author=person, at=AT), "confirm", "confirm")

    [entry] = entries(team)

    assert entry["metadata"]["machine_written"] == {"by": "model-x", "adopted_by": "Ann"}
    assert entry["metadata"]["added_by"] == "Ann"


@pytest.mark.parametrize("state", State)
def test_a_state_can_be_chosen(team, state):
    make_triple(team, state)

    found = {chosen: [entry["id"] for entry in entries(team, chosen)] for chosen in (state, "all")}

    assert "T-0001" in found[state]
    assert "T-0001" in found["all"]
    assert entries(team, State.IN_REVIEW if state != State.IN_REVIEW else State.ACCEPTED) == []


@pytest.mark.parametrize(("state", "form"), [("nonsense", "jsonl"), ("accepted", "xml")])
def test_a_state_or_a_form_that_there_is_none_of_is_refused(team, state, form):
    with pytest.raises(WrongExport, match="Known"):
        exported(team, state, form=form)


def test_who_took_a_file_is_on_the_record(team):
    exported(team, "all")

    assert Event.objects.get(action="triples.exported").after == {"format": "jsonl", "state": "all"}
