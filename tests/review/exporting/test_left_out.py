"""What an entry says and who took it, and that what a person may not have is not in the file."""

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.queries.models import Permission, Source
from apps.review.actions.submitting import submit_triple
from apps.review.selectors.exports import WrongExport
from apps.triples.actions.imports import adopt_candidate
from apps.triples.actions.triples import start_draft
from apps.triples.enums import State
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import Wording
from tests.factories import AT, lead_of, make_member
from tests.review.exporting.taking import entries, exported, left_out
from tests.review.factories import answer, answer_both, make_accepted, make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_candidate, make_draft, make_snapshot

pytestmark = pytest.mark.django_db


def test_nothing_of_an_open_round_is_in_it(team):
    silent, confirmed, flagged = (make_in_review(team, question=f"Same question {n}?") for n in range(3))
    answer(confirmed, reviewers_of(confirmed)[0])
    answer(flagged, reviewers_of(flagged)[0], "flag")

    for person in [*reviewers_of(silent), lead_of(team), silent.author]:
        found = entries(team, "all", person=person)
        for entry in found:
            entry["id"] = entry["question"] = entry["metadata"]["added_by"] = ""
        assert len(found) == 3
        assert found[0] == found[1] == found[2]
        assert found[0]["metadata"]["reviewed_by"] == []


def test_what_is_blinded_to_a_person_is_not_in_their_file(team, monkeypatch):
    make_accepted(team)
    lead = lead_of(team)
    monkeypatch.setattr(
        "apps.review.selectors.exports.blinded_among",
        lambda page, person: {triple.pk for triple in page if person == lead},
    )

    [blinded] = entries(team, person=lead_of(team))
    [open_] = entries(team, person=make_member(team, Role.LEAD))

    assert (blinded["metadata"]["reviewed_by"], blinded["metadata"]["resolution"]) == ([], "")
    assert (len(open_["metadata"]["reviewed_by"]), open_["metadata"]["resolution"]) == (2, "consensus")


def test_drafts_leave_with_their_author_and_with_leads_only(team):
    author, other = (make_member(team, Role.ANNOTATOR) for _ in range(2))
    make_draft(team, author=author)

    assert [len(entries(team, "draft", person=person)) for person in (author, lead_of(team), other)] == [1, 1, 0]
    assert [len(entries(team, "all", person=person)) for person in (author, lead_of(team), other)] == [1, 1, 0]


def test_candidates_leave_with_those_who_may_adopt_them(team):
    make_candidate(team)
    annotator, reviewer = make_member(team, Role.ANNOTATOR), make_member(team, Role.REVIEWER)

    assert [len(entries(team, "candidates", person=person)) for person in (annotator, reviewer)] == [1, 0]
    assert [len(entries(team, "all", person=person)) for person in (annotator, reviewer)] == [1, 0]
    assert entries(team, "draft", person=lead_of(team)) == []


def sourced(team, **permission):
    source = Source.objects.create(project=team, slug="rfp", name="RFPs", kind="public_rfp", created_at=AT)
    if permission:
        Permission.objects.create(source=source, owner="Owner", scope="internal", granted_at=AT, **permission)
    triple = make_accepted(team)
    Triple.objects.filter(pk=triple.pk).update(source=source)
    return triple


@pytest.mark.parametrize(
    ("permission", "reason"),
    [
        ({"revoked_at": AT}, "RFPs had its permission revoked: T-0001."),
        ({"expires_at": AT}, "RFPs has an expired permission: T-0001."),
    ],
)
def test_a_triple_whose_source_lost_its_permission_is_left_out_and_named(team, permission, reason):
    if "revoked_at" in permission:
        permission = permission | {"revoked_by": lead_of(team), "revocation_reason": "Asked to"}
    sourced(team, **permission)
    make_accepted(team)

    assert [entry["id"] for entry in entries(team)] == ["T-0002"]
    assert left_out(team) == [reason]


@pytest.mark.parametrize("permission", [{}, {"licence": "CC-BY"}])
def test_a_source_that_lost_nothing_leaves_nothing_out(team, permission):
    sourced(team, **permission)

    assert entries(team)[0]["metadata"]["source"] == "rfp"
    assert left_out(team) == []


def test_a_draft_that_is_not_a_whole_entry_is_left_out_and_named(team):
    author = make_member(team, Role.ANNOTATOR)
    snapshot = make_snapshot(team)
    start_draft(project=team, author=author, snapshot=snapshot, at=AT, wording=Wording(question="When?"))

    assert entries(team, "draft") == []
    assert left_out(team, "draft") == ["A question, an answer or a passage is missing: T-0001."]


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
