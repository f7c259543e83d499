"""Taking triples in from a file: all of it or nothing, and nothing twice."""

import io
import json

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.queries.models import Query
from apps.queries.models import Source as QuerySource
from apps.review.selectors.queues import drafts_of
from apps.triples.actions.imports import import_triples, plan_entries
from apps.triples.actions.triples import withdraw_draft
from apps.triples.formats import read_entries
from apps.triples.models import Triple
from apps.triples.selectors.entry_comparison import EntryComparison, ForAll
from tests.factories import AT, lead_of, make_member, make_project
from tests.triples.factories import TEXTS, make_draft, make_snapshot

ENTRY = {
    "question": "How often is a root key rotated?",
    "expected_block": {
        "block_id": "rotation",
        "document_id": "handbook",
        "page_range": [31, 32],
        "evidence": "at least every twelve months",
    },
    "expected_answer": "At least every twelve months.",
    "metadata": {
        "domain": "security",
        "difficulty": "easy",
        "added_by": "Mara Quill",
        "added_at": "2026-11-20",
        "reviewed_by": ["Jun Hallam", "Somebody unknown"],
        "resolution": "consensus",
    },
}
OTHER = {"question": "How long?", "expected_block": {"block_id": "access"}, "expected_answer": "Eight hours."}


@pytest.fixture
def project(db):
    project = make_project()
    make_snapshot(project)
    return project


def file_of(*entries) -> bytes:
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def take(project, *entries, actor=None, **options):
    source, errors = TableFile("gold.jsonl", io.BytesIO(file_of(*entries))), ErrorList()
    rows = read_entries(source, errors, format="jsonl")
    actor = actor or lead_of(project)
    return import_triples(project=project, rows=rows, file=source, errors=errors, actor=actor, at=AT, **options)


def look(project, *entries, **options):
    """The plan; nothing is written."""
    source, errors = TableFile("gold.jsonl", io.BytesIO(file_of(*entries))), ErrorList()
    comparison = EntryComparison(project=project, file=source, errors=errors, **options)
    return plan_entries(comparison, read_entries(source, errors, format="jsonl"))


def messages_of(found):
    return [(fault.line, fault.field, fault.message) for fault in found]


def test_an_entry_becomes_a_draft_of_the_importer_where_it_names_no_author(project):
    lead = lead_of(project)

    plan = take(project, in_metadata(added_by=""))

    triple = Triple.objects.get()
    [expected] = triple.current.expected_blocks.all()
    assert plan.counts == {"new drafts": 1, "new candidates": 0, "unchanged": 0}
    assert (triple.state, triple.author, triple.current.author, triple.round) == ("draft", lead, lead, 0)
    assert (triple.domain, triple.difficulty, triple.is_machine_written) == ("security", "easy", False)
    assert (triple.current.question, triple.current.answer) == (ENTRY["question"], ENTRY["expected_answer"])
    assert expected.version.text[slice(*expected.spans[0])] == "at least every twelve months"


def test_what_the_file_claims_about_reviews_is_stored_and_does_not_count(project):
    take(project, ENTRY)

    triple = Triple.objects.select_related("imported").get()
    assert (triple.resolution, triple.current.verdicts.count()) == ("", 0)
    assert (triple.imported.file, triple.imported.line, triple.imported.machine) == ("gold.jsonl", 1, "")
    assert triple.imported.claims == {
        "added_by": "Mara Quill",
        "added_at": "2026-11-20",
        "reviewed_by": ["Jun Hallam", "Somebody unknown"],
        "resolution": "consensus",
    }


def test_who_imports_is_not_the_author(project):
    """Of two entries a member is the author, who writes on; of one somebody outside, for whom the importer does."""
    mara = make_member(project, Role.ANNOTATOR, name="Mara Quill")
    theo = make_member(project, Role.REVIEWER, name="Theo")
    outside = in_metadata(added_by="Ada Outside") | {"question": "And who was that?"}
    reviewer = in_metadata(author=theo.email.upper(), added_by="") | {"question": "And by mail?"}
    plan = take(project, ENTRY, outside, reviewer, OTHER, for_all=ForAll(author="Ada Outside", domain="keys"))

    rows = Triple.objects.order_by("number").select_related("author", "current__author")
    lead, names = lead_of(project), [(triple.author.name, triple.current.author) for triple in rows]
    assert plan.counts["new drafts"] == 4
    assert names == [("Mara Quill", mara), ("Ada Outside", lead), ("Theo", lead), ("Ada Outside", lead)]
    assert [triple.domain for triple in rows] == ["security", "security", "security", "keys"]
    assert rows[1].author == rows[3].author
    assert rows[1].author.is_placeholder
    assert list(drafts_of(lead, project)) == [rows[1], rows[2], rows[3]]
    withdraw_draft(project=project, triple_id=rows[1].pk, author=lead, at=AT)


def test_a_name_that_two_members_have_is_a_mistake(project):
    make_member(project, Role.ANNOTATOR, name="Mara Quill")
    make_member(project, Role.VIEWER, name="mara quill")

    assert messages_of(look(project, ENTRY).errors) == [
        (1, "metadata.added_by", "2 members have this name; give the e-mail address instead")
    ]


def test_each_draft_starts_in_the_log_and_so_does_the_file(project):
    take(project, ENTRY, OTHER)

    started = Event.objects.filter(action="triple.start").order_by("pk")
    assert [event.object_label for event in started] == ["T-0001", "T-0002"]
    assert Event.objects.get(action="triples.imported").after == {
        "file": "gold.jsonl",
        "new drafts": 2,
        "new candidates": 0,
        "unchanged": 0,
    }


def test_an_imported_draft_is_written_on_like_any_other(project, client):
    author = make_member(project, Role.ANNOTATOR, Role.LEAD)
    take(project, ENTRY, actor=author)
    client.force_login(author)

    answer = client.get(f"/p/{project.slug}/triples/{Triple.objects.get().pk}/bench/")

    assert answer.status_code == 200
    assert ENTRY["question"] in answer.content.decode()


# Mistakes ----------------------------------------------------------------------------------------------------------


def changed(**fields):
    return ENTRY | fields


def in_block(**fields):
    return changed(expected_block=ENTRY["expected_block"] | fields)


def in_metadata(**fields):
    return changed(metadata=ENTRY["metadata"] | fields)


@pytest.mark.parametrize(
    ("entry", "field", "message"),
    [
        (in_block(block_id="gone"), "expected_block.block_id", "no passage has this id in Handbook v1"),
        (
            in_block(document_id="rules"),
            "expected_block.document_id",
            "the passage rotation belongs to the document handbook",
        ),
        (
            in_block(evidence="every thirteen months"),
            "expected_block.evidence[1]",
            "this evidence is not in the text of rotation",
        ),
        (in_metadata(source="nowhere"), "metadata.source", "no source has this name; there are: none yet"),
        (
            in_metadata(difficulty="fair"),
            "metadata.difficulty",
            "unknown difficulty; known are easy, standard, medium, hard",
        ),
        (changed(query_id="Q9"), "query_id", "no query of this project has this id"),
        (changed(expected_answer=""), "expected_answer", "is empty"),
    ],
)
def test_a_mistake_names_file_line_field_and_value_and_nothing_is_imported(project, entry, field, message):
    with pytest.raises(InputErrors) as refused:
        take(project, OTHER, entry)

    [fault] = refused.value.errors
    assert (fault.file, fault.line, fault.field, fault.message) == ("gold.jsonl", 2, field, message)
    assert Triple.objects.count() == 0
    assert not Event.objects.filter(action__in=["triple.start", "triples.imported"]).exists()


def test_all_mistakes_of_a_file_are_reported_at_once_in_the_order_of_lines(project):
    plan = look(project, in_block(block_id="gone"), OTHER, in_metadata(source="nowhere"), changed(question=""))

    assert [(line, field) for line, field, _ in messages_of(plan.errors)] == [
        (1, "expected_block.block_id"),
        (3, "metadata.source"),
        (4, "question"),
    ]


@pytest.mark.parametrize(
    ("entries", "mistake"),
    [
        (
            [ENTRY, ENTRY | {"note": "again"}],
            (2, "question", "this entry is in the file twice, first in line 1"),
        ),
        (
            [ENTRY | {"id": "gs-1"}, OTHER | {"id": "gs-1"}],
            (2, "id", "this id is in the file twice, first in line 1"),
        ),
        (
            [in_block(block_id="elsewhere", evidence=None)],
            (1, "expected_block.block_id", "no passage has this id in Handbook v1"),
        ),
    ],
)
def test_an_entry_and_an_id_occur_once_and_passages_of_other_projects_are_unknown(project, entries, mistake):
    make_snapshot(make_project(), {"elsewhere": "Something else."})

    assert messages_of(look(project, *entries).errors) == [mistake]


def test_nothing_comes_in_before_a_snapshot_is_frozen(db):
    plan = look(make_project(), ENTRY)

    assert messages_of(plan.errors) == [(1, "snapshot", "no snapshot is frozen yet; freeze one first")]


# What is worth knowing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "field", "message"),
    [
        (in_block(page_range=[3, 4]), "expected_block.page_range", "the pages of rotation are 31 to 32 here"),
        (
            in_block(evidence=[{"text": "twelve months", "start": 0, "end": 13}]),
            "expected_block.evidence[1].start",
            "this evidence is elsewhere in the text of rotation, from character 37 on",
        ),
        (
            changed(snapshot={"corpus": "old", "digest": "0" * 64}),
            "snapshot.digest",
            "this snapshot does not exist here; the entry is pinned to Handbook v1",
        ),
    ],
)
def test_differences_give_warnings_and_do_not_block_the_import(project, entry, field, message):
    plan = take(project, entry)

    assert messages_of(plan.errors.warnings) == [(1, field, message)]
    assert Triple.objects.count() == 1


def test_a_question_that_is_here_or_in_the_file_already_is_reported(project):
    entries = ENTRY, ENTRY | {"expected_answer": "Each year."}

    plan = look(project, *entries)
    assert messages_of(plan.errors.warnings) == [(2, "question", "the entry in line 1 has the same question")]

    make_draft(project, question="How often is a  ROOT key rotated?")
    plan = look(project, *entries)
    assert messages_of(plan.errors.warnings) == [(line, "question", "T-0001 has the same question") for line in (1, 2)]


# Where an entry is pinned ------------------------------------------------------------------------------------------


def test_an_entry_is_pinned_to_the_snapshot_it_names(project):
    first = project.corpora.get().snapshots.get()
    second = make_snapshot(project, TEXTS | {"rotation": "Keys never change."}, corpus=first.corpus)

    take(project, ENTRY | {"snapshot": {"corpus": first.corpus.slug, "digest": first.digest}})

    assert second.number == 2
    assert Triple.objects.get().snapshot == first


def test_otherwise_to_the_newest_of_the_corpus_it_names_or_that_was_chosen(project):
    first = project.corpora.get()
    other = make_snapshot(project, {"rotation": "A root key is rotated at least every twelve months."})

    take(project, ENTRY | {"snapshot": {"corpus": first.slug}})
    take(project, ENTRY | {"question": "And then?"})
    take(project, ENTRY | {"question": "And here?"}, corpus=first)

    pinned = Triple.objects.order_by("number").values_list("snapshot__corpus", flat=True)
    assert list(pinned) == [first.pk, other.corpus_id, first.pk]


def test_source_and_query_are_looked_up_by_name(project):
    source = QuerySource.objects.create(project=project, slug="log", name="Log", kind="query_log", created_at=AT)
    query = Query.objects.create(
        project=project, outside_id="Q1", text="rotation", created_by=lead_of(project), created_at=AT
    )

    take(project, in_metadata(source="log") | {"query_id": "Q1", "match": "all", "note": "Ask again."})

    triple = Triple.objects.get()
    assert (triple.source, triple.query, triple.current.note) == (source, query, "Ask again.")
    assert triple.current.needs_all_blocks


# Again -------------------------------------------------------------------------------------------------------------


def test_the_same_file_again_creates_nothing(project):
    take(project, ENTRY, OTHER)

    again = take(project, ENTRY, OTHER)

    assert again.counts == {"new drafts": 0, "new candidates": 0, "unchanged": 2}
    assert again.changes_nothing
    assert Triple.objects.count() == 2
    assert Event.objects.filter(action="triples.imported").count() == 1


def test_an_entry_that_was_written_or_withdrawn_here_does_not_come_in_again(project):
    make_draft(
        project,
        key="rotation",
        evidence="at least every twelve months",
        question=ENTRY["question"],
        answer=ENTRY["expected_answer"],
    )
    assert take(project, ENTRY, OTHER).counts == {"new drafts": 1, "new candidates": 0, "unchanged": 1}

    imported = Triple.objects.get(number=2)
    withdraw_draft(project=project, triple_id=imported.pk, author=imported.author, at=AT)
    assert take(project, ENTRY, OTHER).counts["unchanged"] == 2


def test_an_id_of_elsewhere_names_one_wording_only(project):
    take(project, ENTRY | {"id": "gs-17"})

    plan = look(project, ENTRY | {"id": "gs-17", "expected_answer": "Each year."})

    said = "T-0001 was imported under this id with another wording; give the entry another id, or none"
    assert messages_of(plan.errors) == [(1, "id", said)]


def test_numbers_are_preserved_in_a_project_that_has_no_triple_yet(project):
    take(project, ENTRY | {"id": "T-0007"}, OTHER | {"id": "T-0012"})

    assert list(Triple.objects.order_by("pk").values_list("number", flat=True)) == [7, 12]


def test_elsewhere_the_next_numbers_are_taken(project):
    make_draft(project)

    take(project, ENTRY | {"id": "T-0007"}, OTHER | {"id": "T-0012"})

    assert list(Triple.objects.order_by("pk").values_list("number", flat=True)) == [1, 2, 3]


# Machine-written ---------------------------------------------------------------------------------------------------


def test_an_entry_that_says_so_becomes_a_candidate(project):
    plan = take(project, in_metadata(machine_written={"by": "model-x, prompt 3"}), OTHER)

    machine, person = Triple.objects.order_by("number")
    assert plan.counts == {"new drafts": 1, "new candidates": 1, "unchanged": 0}
    assert (machine.is_machine_written, machine.adopted_by, machine.imported.machine) == (
        True,
        None,
        "model-x, prompt 3",
    )
    assert not person.is_machine_written


def test_the_whole_file_is_marked_by_an_option_and_an_entry_may_name_its_own(project):
    take(project, ENTRY, OTHER | {"metadata": {"machine_written": {"by": "model-y"}}}, machine="model-x")

    found = Triple.objects.order_by("number")
    assert [(triple.is_machine_written, triple.imported.machine) for triple in found] == [
        (True, "model-x"),
        (True, "model-y"),
    ]
