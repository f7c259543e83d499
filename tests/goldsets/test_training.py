"""What a system was trained on goes to dev, blocks a freeze where it was in test, and is told of a release."""

import json

import pytest
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.digests import sha256_hex
from apps.goldsets.actions.training import TrainingRefused, add_training_manifest, retire_training_manifest
from apps.goldsets.actions.versions import VersionRefused, freeze_version
from apps.goldsets.core.splits import DEV, TEST, SplitItem, groups, held_by_training, split, split_by_time, words_digest
from apps.goldsets.core.training import Entry, Traceable, TrainingPassage, entries_digest, find_known
from apps.goldsets.enums import EntryKind, KnownBy, VersionState
from apps.goldsets.models import TrainingManifest, Version
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.training import training_leaks
from apps.queries.models import Query
from apps.reports.formats.markdown import as_markdown
from apps.reports.presenters.documents import version_report
from apps.triples.models import ImportedEntry
from tests.factories import AT, make_member
from tests.goldsets.factories import Bench, draft, make_bench, make_version
from tests.judging.factories import make_round, people_of
from tests.review.factories import make_accepted, make_accepted_from
from tests.walks import often

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _bench(module_rows):
    return make_bench(triples=0)


def question(outside_id: str) -> Entry:
    return Entry(EntryKind.QUESTION, outside_id)


def hashed(text: str) -> Entry:
    return Entry(EntryKind.TEXT, words_digest(text))


def train(bench: Bench, *entries: Entry, name: str = "Ranker of May") -> TrainingManifest:
    return add_training_manifest(
        project=bench.project, name=name, file="trained.txt", entries=set(entries), actor=bench.lead, at=AT
    )


def retire(bench: Bench, manifest: TrainingManifest) -> TrainingManifest:
    return retire_training_manifest(manifest_id=manifest.pk, actor=bench.lead, at=AT)


def freeze(bench: Bench, version: Version) -> Version:
    return freeze_version(version_id=version.pk, actor=bench.lead, at=AT)


def refusal_of(bench: Bench, version: Version) -> str:
    with pytest.raises(VersionRefused) as refused:
        freeze(bench, version)
    return refused.value.sentence


def query_in_test(version: Version) -> Query:
    return version.queries.filter(split="test").order_by("outside_id").first().query


def released(bench: Bench) -> Version:
    return make_version(VersionState.RELEASED, bench, test_share=0.5)


# The calculation

ITEM = Traceable(
    "query Q1", ("Q1",), ("How often are Keys rotated?",), (TrainingPassage("b1", "d1", ("Each spring.",)),)
)


def known_by(item: Traceable, *entries: Entry) -> list[KnownBy]:
    found = find_known([item], lambda asked: [(entry, "M") for entry in asked if entry in entries])
    return [match.by for match in found.questions.get(item.name, ())]


@pytest.mark.parametrize(
    ("entry", "by"),
    [
        (question("Q1"), [KnownBy.ID]),
        (question("Q2"), []),
        (Entry(EntryKind.BLOCK, "Q1"), []),
        (hashed("how often are keys ROTATED"), [KnownBy.WORDS]),
        (Entry(EntryKind.TEXT, sha256_hex(b"How often are Keys rotated?")), [KnownBy.WORDS]),
        (Entry(EntryKind.TEXT, sha256_hex(b"How often are keys rotated?")), []),
        (hashed("How often are keys rotated? Each spring."), [KnownBy.PAIR]),
        (hashed("Each spring."), []),
        (Entry(EntryKind.TEXT, sha256_hex(b"")), []),
    ],
)
def test_a_question_is_known_by_its_id_its_words_or_with_a_passage(entry, by):
    assert known_by(ITEM, entry) == by


@pytest.mark.parametrize(
    "entry", [Entry(EntryKind.BLOCK, "b1"), Entry(EntryKind.DOCUMENT, "d1"), hashed("each spring")]
)
def test_a_passage_in_training_is_told_and_makes_no_question_known(entry):
    found = find_known([ITEM], lambda asked: [(each, "M") for each in asked if each == entry])

    assert (found.questions, found.passages) == ({}, {"M": {"query Q1"}})


def test_a_text_without_words_is_known_by_nothing():
    assert known_by(Traceable("query Q1", (), ("?!",)), Entry(EntryKind.TEXT, sha256_hex(b"?!")), hashed("?!")) == []


def test_the_digest_is_of_what_is_listed_in_any_order():
    entries = [question("a"), question("b"), Entry(EntryKind.BLOCK, "a")]

    assert entries_digest(entries) == entries_digest([*entries[::-1], question("a")])
    assert entries_digest(entries) != entries_digest(entries[:2])


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "x", "y", "z"]), st.booleans(), st.sampled_from(["", "", DEV, TEST]), st.integers(0, 4)
    ),
    max_size=25,
)


@settings(max_examples=often(25, 150), deadline=None)
@given(ROWS, st.floats(0, 1), st.booleans())
def test_no_free_group_that_a_system_was_trained_on_ever_goes_to_test(rows, share, by_time):
    items = [
        SplitItem(f"q{n:02d}", f"words {n}", (("group", key),), former, AT.replace(year=2020 + year), trained)
        for n, (key, trained, former, year) in enumerate(rows)
    ]

    splits = (split_by_time if by_time else split)(items, test_share=share, seed=1)
    splits = splits.splits if by_time else splits

    assert set(splits) == {item.name for item in items}
    assert all(splits[item.name] == item.former for item in items if item.former)
    free = [group for group in groups(items) if not any(item.former for item in group)]
    trained = [item.name for group in free if any(item.is_trained for item in group) for item in group]
    assert {splits[name] for name in trained} <= {DEV}
    assert held_by_training(items) == trained


# Adding and retiring


def test_a_manifest_is_stored_with_its_counts_and_recorded(bench):
    manifest = train(bench, question("Q1"), hashed("one"), hashed("two"))

    assert (manifest.counted, manifest.size) == ("1 id of a question, 2 text hashes", 3)
    assert manifest.entries.count() == 3
    event = Event.objects.get(action="training.added")
    assert (event.after["name"], event.after["text"]) == ("Ranker of May", 2)


def test_a_manifest_of_the_same_name_or_the_same_entries_is_refused_while_the_other_is_in_use(bench):
    manifest = train(bench, question("Q1"))

    with pytest.raises(TrainingRefused, match="There is a training manifest called “Ranker of May” already"):
        train(bench, question("Q2"))
    with pytest.raises(TrainingRefused, match="“Ranker of May” lists exactly the same and is in use"):
        train(bench, question("Q1"), name="Another")
    retire(bench, manifest)

    assert train(bench, question("Q1")).retired_at is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE goldsets_trainingmanifest SET name = 'x'",
        "UPDATE goldsets_trainingmanifest SET counts = '{}'",
        "DELETE FROM goldsets_trainingmanifest",
        "UPDATE goldsets_trainingentry SET value = 'x'",
        "DELETE FROM goldsets_trainingentry",
    ],
)
def test_a_manifest_cannot_be_changed_by_any_client(statement, bench):
    train(bench, question("Q1"))

    with pytest.raises(DatabaseError, match=r"never|supersedes"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


# Drafts


def test_what_a_system_was_trained_on_is_dev_with_its_whole_group(bench):
    one, two, *_ = Query.objects.filter(project=bench.project).order_by("outside_id")
    Query.objects.filter(pk__in=[one.pk, two.pk]).update(group_key="acme")
    train(bench, question(one.outside_id))

    version = freeze(bench, draft(bench, test_share=1.0))

    assert set(version.queries.filter(split="dev").values_list("query", flat=True)) == {one.pk, two.pk}
    assert version.manifest["splits"]["training"]["in_dev"] == 1
    assert [each["name"] for each in version.manifest["splits"]["training"]["manifests"]] == ["Ranker of May"]
    assert one.outside_id not in json.dumps(version.manifest), "no entry is named"


@pytest.mark.parametrize("by", ["id", "words", "exact text", "pair"])
def test_freeze_version_names_a_question_of_test_that_a_system_was_trained_on(by, bench):
    version = released(bench)
    query = query_in_test(version)
    passage = version.grades.filter(query__query=query, grade=3).first().block_version.text
    entry = {
        "id": question(query.outside_id),
        "words": hashed(query.text.upper()),
        "exact text": Entry(EntryKind.TEXT, sha256_hex(query.text.encode())),
        "pair": hashed(f"{query.text}\n{passage}"),
    }[by]
    train(bench, entry)

    sentence = refusal_of(bench, draft(bench))

    found = {"id": "by its id", "pair": "by its words with those of a passage"}.get(by, "by its words")
    assert "v2 cannot be frozen: 1 question in training and in test." in sentence
    assert (
        f"{query.outside_id} is in test since an earlier version, and in the training manifest “Ranker of May” {found}."
        " Retire it, or retire the manifest."
    ) in sentence


def test_freeze_version_names_a_triple_of_test_by_its_label_its_query_its_words_or_the_id_of_its_file(bench):
    triple = make_accepted_from(bench.project.queries.first(), bench.snapshot)
    ImportedEntry.objects.create(
        triple=triple, file="f", line=1, claims={"id": "hr-7"}, imported_by=bench.lead, imported_at=AT
    )
    make_version(VersionState.RELEASED, bench, test_share=1.0)
    version = draft(bench)
    entries = [question(triple.label), question(triple.query.outside_id), hashed(triple.current.question)]

    for entry in [*entries, question("hr-7")]:
        manifest = train(bench, entry)
        assert f"{triple.label} is in test since an earlier version, and in" in refusal_of(bench, version)
        retire(bench, manifest)
    assert freeze(bench, version).state == VersionState.FROZEN


def test_a_new_question_that_its_group_takes_to_test_is_refused_by_name(bench):
    first, *_, last = Query.objects.filter(project=bench.project).order_by("outside_id")
    Query.objects.filter(pk=last.pk).update(retired_at=AT, retired_reason="Later")
    make_version(VersionState.RELEASED, bench, test_share=1.0)
    Query.objects.filter(pk=last.pk).update(retired_at=None, retired_reason="")
    Query.objects.filter(pk__in=[first.pk, last.pk]).update(group_key="acme")
    train(bench, question(last.outside_id))

    assert (
        f"{last.outside_id} is in test with its group, which an earlier version had there, and in the training manifest"
        " “Ranker of May” by its id. Take it out of the group, or retire the manifest."
    ) in refusal_of(bench, draft(bench))


def test_a_question_of_dev_and_a_passage_in_training_block_nothing_and_are_told(client, bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    version = released(bench)
    query = version.queries.filter(split="dev").first().query
    passage = bench.project.triples.get().current.expected_blocks.first().version.block
    train(bench, question(query.outside_id), Entry(EntryKind.BLOCK, passage.outside_id))
    client.force_login(bench.lead)

    page = client.get(url("version", draft(bench))).content.decode()

    assert "Ready to freeze" in page
    assert f"1 item known from training is in dev: {query.outside_id}." in page
    assert "expect a passage that “Ranker of May” has. That is no leak" in page


def test_a_manifest_that_is_retired_or_of_another_project_checks_nothing(bench):
    query = query_in_test(released(bench))
    train(make_bench(queries=1, judge=False, triples=0), question(query.outside_id))
    retire(bench, train(bench, question(query.outside_id)))

    assert gather(draft(bench)).known.questions == {}
    assert freeze(bench, Version.objects.get(number=2, gold_set__project=bench.project)).state == VersionState.FROZEN


# Pages


def url(name: str, version: Version) -> str:
    gold_set = version.gold_set
    return reverse(f"goldsets:{name}", args=[gold_set.project.slug, gold_set.slug, version.number])


def test_a_draft_links_each_leak_to_what_cures_it(client, bench):
    query = query_in_test(released(bench))
    train(bench, question(query.outside_id))
    client.force_login(bench.lead)

    page = client.get(url("version", draft(bench))).content.decode()

    assert "1 question in training and in test" in page
    assert f'<a href="{reverse("queries:query", args=[bench.project.slug, query.pk])}">{query.outside_id} is in' in page


def test_a_release_tells_of_a_manifest_that_came_after_it_and_names_items_to_leads_alone(client, bench):
    version = released(bench)
    query = query_in_test(version)
    train(bench, question(query.outside_id))
    sentence = (
        "1 item of test is known from training (“Ranker of May”), so scores on test may be too high for what was"
        " trained on it."
    )
    assert training_leaks(version, is_blind=False).sentence == sentence
    client.force_login(make_member(bench.project, Role.VIEWER))

    assert sentence in client.get(url("version", version)).content.decode()
    assert client.get(url("training-found", version)).status_code == 403

    client.force_login(bench.lead)
    page = client.get(url("training-found", version)).content.decode()
    assert f'<td class="id">{query.outside_id}</td><td>test</td><td>“Ranker of May” by its id</td>' in page
    assert Event.objects.get(action="version.test_seen").after["what"] == "items known from training"


def test_whoever_still_judges_is_not_told_of_a_question_known_with_a_passage(client, bench):
    version = released(bench)
    query = query_in_test(version)
    passage = version.grades.filter(query__query=query, grade=3).first().block_version.text
    train(bench, hashed(f"{query.text}\n{passage}"))
    round_ = make_round(bench.project, pool=bench.pool, annotators=2, judge_again=True)
    client.force_login(people_of(round_)[0])

    assert "known from training" not in client.get(url("version", version)).content.decode()
    assert "known from training" not in as_markdown(version_report(version, is_blind=True, at=AT))

    client.force_login(bench.lead)
    assert "1 item of test is known from training" in client.get(url("version", version)).content.decode()

    train(bench, question(query.outside_id), name="Ranker of June")
    client.force_login(people_of(round_)[0])
    assert "1 item of test is known from training" in client.get(url("version", version)).content.decode()


def test_a_release_that_no_manifest_knows_says_nothing_and_logs_no_look(client, bench):
    version = released(bench)
    train(bench, question("elsewhere"))
    client.force_login(bench.lead)

    assert "known from training" not in client.get(url("version", version)).content.decode()
    assert "Nothing is known from training" in client.get(url("training-found", version)).content.decode()
    assert not Event.objects.filter(action="version.test_seen").exists()
    assert training_leaks(version, is_blind=False).sentence == ""


def test_a_lead_retires_a_manifest_on_its_page(client, bench):
    manifest = train(bench, question("Q1"))
    client.force_login(bench.lead)
    listing = reverse("goldsets:training", args=[bench.project.slug])
    assert "1 id of a question" in client.get(listing).content.decode()

    client.post(reverse("goldsets:retire-training", args=[bench.project.slug, manifest.pk]))

    manifest.refresh_from_db()
    assert manifest.retired_by == bench.lead
    assert f"by {bench.lead}</span>" in client.get(listing).content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_costs_the_same_number_of_queries(client, django_assert_num_queries, count, bench):
    for number in range(count):
        train(bench, question(f"Q{number}"), name=f"Ranker {number}")
    client.force_login(bench.lead)

    with django_assert_num_queries(6):
        client.get(reverse("goldsets:training", args=[bench.project.slug]))


@pytest.mark.parametrize("count", [1, 3])
def test_a_version_costs_the_same_number_of_queries_however_many_manifests(django_assert_num_queries, count, bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    make_accepted(bench.project, snapshot=bench.snapshot)
    version = released(bench)
    for number in range(count):
        train(bench, question(f"Q{number}"), hashed(f"words {number}"), name=f"Ranker {number}")
    version = Version.objects.select_related("gold_set__project").get(pk=version.pk)

    with django_assert_num_queries(6):
        training_leaks(version, is_blind=False)
