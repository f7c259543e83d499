"""Triples as files: what a person gets, what stays inside, and that taking a file in and out again changes no byte."""

import io
import json
import re
import sys

import pytest
from django.core.management import call_command
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.common.inputs import ErrorList
from apps.common.tabular import Source as File
from apps.queries.models import Permission, Source
from apps.review.actions import submit_triple
from apps.review.exporting import STATES, Selection, WrongExport, export_triples
from apps.triples.actions import save_draft, start_draft
from apps.triples.adoption import adopt_candidate
from apps.triples.drafting import BlockChoice, Wording
from apps.triples.enums import State
from apps.triples.formats import FORMATS, read_entries
from apps.triples.importing import import_triples
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.factories import answer, answer_both, make_accepted, make_in_review, make_triple, reviewers_of
from tests.triples.factories import TEXTS, make_candidate, make_draft, make_snapshot, make_team, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def team():
    return make_team()


def exported(project, state="accepted", *, person=None, form="jsonl") -> bytes:
    member = membership_in(person, project.slug) if person else None
    selection = Selection(project, state, member=member, at=AT)
    return b"".join(export_triples(selection, form=form, actor=None, at=AT))


def left_out(project, state="accepted"):
    return [left.sentence for left in Selection(project, state, member=None, at=AT).left_out()]


def entries(project, state="accepted", **options):
    return [json.loads(line) for line in exported(project, state, **options).splitlines()]


def take(project, data: bytes, form="jsonl"):
    file, errors = File("gold", io.BytesIO(data)), ErrorList()
    rows = read_entries(file, errors, format=form)
    return import_triples(project=project, rows=rows, file=file, errors=errors, actor=lead_of(project), at=AT)


# What an entry says ------------------------------------------------------------------------------------------------


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
    with pytest.raises(WrongExport, match="Known are"):
        exported(team, state, form=form)


def test_who_took_a_file_is_on_the_record(team):
    exported(team, "all")

    assert Event.objects.get(action="triples.exported").after == {"format": "jsonl", "state": "all"}


# Blindness ---------------------------------------------------------------------------------------------------------


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


def test_what_is_veiled_to_a_person_is_not_in_their_file(team, monkeypatch):
    make_accepted(team)
    lead = lead_of(team)
    monkeypatch.setattr(
        "apps.review.exporting.veiled_among", lambda page, person: {triple.pk for triple in page if person == lead}
    )

    [veiled] = entries(team, person=lead_of(team))
    [open_] = entries(team, person=make_member(team, Role.LEAD))

    assert (veiled["metadata"]["reviewed_by"], veiled["metadata"]["resolution"]) == ([], "")
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


# Permission --------------------------------------------------------------------------------------------------------


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
        ({"revoked_at": AT}, "RFPs rests on a permission that was revoked: T-0001."),
        ({"expires_at": AT}, "RFPs rests on a permission that has expired: T-0001."),
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


def test_a_draft_that_is_no_whole_entry_is_left_out_and_named(team):
    author = make_member(team, Role.ANNOTATOR)
    snapshot = make_snapshot(team)
    start_draft(project=team, author=author, snapshot=snapshot, at=AT, wording=Wording(question="When?"))

    assert entries(team, "draft") == []
    assert left_out(team, "draft") == ["A question, an answer or a block is missing: T-0001."]


# Out, in, and out again --------------------------------------------------------------------------------------------


def same_corpus(slug="shared"):
    """A project without triples on a corpus that every project made here holds alike."""
    project = make_project()
    snapshot = make_snapshot(project)
    corpus = snapshot.corpus
    type(corpus).objects.filter(pk=corpus.pk).update(slug=slug)
    return project, snapshot


def twin_of(project):
    """An empty project on the same corpus: same slug, same blocks, same digest."""
    first = project.corpora.get()
    twin, snapshot = same_corpus(first.slug)
    return twin, {first.snapshots.get().digest: snapshot.digest}


def in_twin(data: bytes, digests: dict[str, str]) -> bytes:
    """A digest made in tests names its project; in life the same corpus has the same one."""
    for ours, theirs in digests.items():
        data = data.replace(ours.encode(), theirs.encode())
    return data


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_project_comes_out_of_an_empty_one_as_it_came_out_of_the_first(team, form):
    for state in (State.ACCEPTED, State.DRAFT, State.DISPUTED, State.IN_REVIEW):
        make_triple(team, state, note="Asked often.", domain="access", difficulty="hard")
    make_candidate(team, metadata={"added_by": "Bot", "machine_written": {"by": "model-y"}}, id="gs-17")
    first = exported(team, "all", form=form)

    twin, digests = twin_of(team)
    data = in_twin(first, digests)
    take(twin, data, form)

    assert exported(twin, "all", form=form) == data
    assert {triple.state for triple in twin.triples.all()} == {State.DRAFT}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_was_written_comes_out_again_byte_for_byte(data):
    project, snapshot = same_corpus()
    author = make_member(project, Role.ANNOTATOR)
    words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
    for number in range(data.draw(st.integers(1, 3))):
        keys = data.draw(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3, unique=True))
        start_draft(
            project=project,
            author=author,
            snapshot=snapshot,
            at=AT,
            wording=Wording(
                question=f"{number} {data.draw(words)}",
                answer=data.draw(words.filter(str.strip)),
                blocks=tuple(BlockChoice(version_of(snapshot, key).pk, data.draw(marks(TEXTS[key]))) for key in keys),
                needs_all_blocks=data.draw(st.booleans()),
                note=data.draw(words),
            ),
        )
    form = data.draw(st.sampled_from(sorted(FORMATS)))
    first = exported(project, "all", form=form)
    twin, digests = twin_of(project)
    moved = in_twin(first, digests)
    take(twin, moved, form)

    assert exported(twin, "all", form=form) == moved


@st.composite
def marks(draw, text):
    found = []
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text) - 2))
        end = draw(st.integers(start + 1, len(text)))
        if text[start:end].strip():
            found.append((start, end))
    return tuple(found)


def test_the_file_is_given_back_until_the_triple_is_reviewed_here(team):
    claims = {"added_by": "Mara", "added_at": "2020-01-01", "reviewed_by": ["Jun", "Sef"], "resolution": "consensus"}
    block = {"block_id": "access", "evidence": "A session lasts at most eight hours."}
    entry = {"id": "gs-1", "question": "How long?", "expected_block": block, "expected_answer": "At most eight hours."}
    take(team, json.dumps(entry | {"metadata": claims}).encode())
    triple = Triple.objects.get()
    lead = triple.author

    def told(state):
        [found] = entries(team, state)
        return found["id"], {name: found["metadata"][name] for name in claims}

    assert told("draft") == ("gs-1", claims)

    submit_triple(project=team, triple_id=triple.pk, author=lead, at=AT)
    answer(triple, reviewers_of(triple)[0])
    assert told("in_review") == ("gs-1", claims)

    answer(triple, reviewers_of(triple)[1])
    names = sorted(reviewer.name for reviewer in reviewers_of(triple))
    outside, said = told("accepted")
    assert (outside, said["reviewed_by"], said["added_by"]) == ("gs-1", names, lead.name)


def test_what_its_file_said_is_not_said_of_other_words(team):
    entry = {"question": "How long?", "expected_block": {"block_id": "access"}, "expected_answer": "Eight hours."}
    take(team, json.dumps(entry | {"metadata": {"reviewed_by": ["Jun", "Sef"], "resolution": "consensus"}}).encode())
    triple = Triple.objects.get()
    block = BlockChoice(version_of(triple.snapshot, "access").pk)
    save_draft(
        project=team,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=Wording(question="How long?", answer="Nine hours.", blocks=(block,)),
        at=AT,
    )

    [found] = entries(team, "draft")

    assert (found["metadata"]["reviewed_by"], found["metadata"]["resolution"]) == ([], "")


def test_an_export_taken_in_where_it_came_from_changes_nothing(team):
    for state in (State.ACCEPTED, State.DRAFT):
        make_triple(team, state)

    plan = take(team, exported(team, "all"))

    assert plan.counts["unchanged"] == plan.rows == 2


# Doors -------------------------------------------------------------------------------------------------------------


def test_page_and_file(client, team):
    make_accepted(team)
    client.force_login(make_member(team, Role.REVIEWER))

    page = client.get(reverse("review:export", args=[team.slug]))
    file = client.get(reverse("review:export_file", args=[team.slug]) + "?format=yaml")

    assert "Download YAML" in page.content.decode()
    assert b"".join(file.streaming_content).startswith(b'- id: "T-0001"\n')
    assert file["Content-Disposition"] == f'attachment; filename="{team.slug}-triples-accepted.yaml"'
    assert file["X-Content-Type-Options"] == "nosniff"


def test_one_form_chooses_the_state_and_gives_the_file(client, team):
    """Without a press of “Show” the file is of the state that is chosen all the same."""
    make_triple(team, State.DISPUTED)
    client.force_login(make_member(team, Role.REVIEWER))

    page = client.get(reverse("review:export", args=[team.slug])).content.decode()
    (form,) = re.findall(r'<form class="stack" method="get">.*?</form>', page, re.S)

    assert 'name="state"' in form
    assert set(re.findall(r'name="format" value="(\w+)" formaction="([^"]+)"', form)) == {
        (name, reverse("review:export_file", args=[team.slug])) for name in FORMATS
    }


def test_the_page_says_how_many_triples_the_file_holds(client, team, monkeypatch):
    for _ in range(2):
        make_triple(team, State.DISPUTED)
    client.force_login(make_member(team, Role.REVIEWER))

    def said(state: str) -> str:
        page = client.get(reverse("review:export", args=[team.slug]), {"state": state}).content.decode()
        return re.sub(r"<[^>]+>", "", page)

    assert "Disputed: 2 triples in the file." in said("disputed")
    assert "Accepted: no triple for the file." in said("accepted")
    monkeypatch.setattr("apps.review.exporting.MOST_COUNTED", 2)
    assert "Disputed: 2 or more triples in the file." in said("disputed")


@pytest.mark.parametrize("state", STATES)
def test_the_page_shows_every_state(client, team, state):
    client.force_login(lead_of(team))

    assert client.get(reverse("review:export", args=[team.slug]), {"state": state}).status_code == 200


def test_the_api_streams_the_same_and_reports_what_it_leaves_out(client, team):
    sourced(team, revoked_at=AT, revoked_by=lead_of(team), revocation_reason="Asked to")
    make_accepted(team)
    client.force_login(lead_of(team))
    base = f"/api/v1/projects/{team.slug}/triples/export/"

    file = client.get(base, {"format": "jsonl"})
    report = client.get(f"{base}report/").json()

    assert b"".join(file.streaming_content) == exported(team, person=lead_of(team))
    assert report == [
        {"reason": "RFPs rests on a permission that was revoked", "count": 1, "triples": ["T-0001"]},
    ]
    assert client.get(base, {"format": "xml"}).status_code == 400
    assert client.get(base, {"source__slug": "x"}).status_code == 400


def test_the_command_writes_to_a_new_file_or_to_stdout(team, tmp_path, capfdbinary):
    make_accepted(team)
    out = tmp_path / "gold.jsonl"

    call_command("export_triples", project=team.slug, out=out)
    call_command("export_triples", project=team.slug)
    sys.stdout.flush()

    assert out.read_bytes() == exported(team)
    assert exported(team) in capfdbinary.readouterr().out


@pytest.mark.parametrize("number", [1, 3])
def test_a_page_of_the_file_costs_the_same_number_of_queries(team, number, django_assert_num_queries):
    for _ in range(number):
        make_accepted(team)

    with django_assert_num_queries(6):
        assert len(entries(team)) == number
