import pytest
from django.db.models import QuerySet
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.goldsets.actions.versions import freeze_version
from apps.goldsets.core.numbering import FIRST, Changes, draft_changelog, next_number
from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.manifest_facts import number_of
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.factories import AT
from tests.goldsets.factories import Bench, draft, make_version
from tests.review.factories import CHANGED, make_accepted
from tests.triples.factories import TEXTS, make_snapshot

NAMES = st.lists(st.sampled_from(["Q01", "Q02", "T1"]), unique=True)
MAJOR = ("retired", "regraded", "reworded", "repinned", "remarked")


def first_of(bench: Bench) -> QuerySet[Query]:
    return Query.objects.filter(pk=bench.project.queries.order_by("pk").values("pk")[:1])


@pytest.mark.parametrize(
    ("changes", "number", "reason"),
    [
        *((Changes(**{kind: ["Q01"]}), "3.0.0", "Major: 1 item") for kind in MAJOR),
        (Changes(added=["Q01", "Q02"]), "2.2.0", "Minor: 2 items added."),
        (Changes(other_passages=True), "2.2.0", "Minor: the corpus has other passages."),
        (Changes(redescribed=["Q01"]), "2.1.4", "Patch: 1 item with other metadata."),
        (Changes(), "2.1.4", "Patch: nothing was added, fixed or retired."),
        (Changes(added=["Q03"], regraded=["Q01", "Q02"]), "3.0.0", "Major: 2 items graded anew."),
    ],
)
def test_the_number_says_what_changed(changes, number, reason):
    numbered = next_number("2.1.3", changes)

    assert numbered.number == number
    assert numbered.reason.startswith(reason)


@given(
    st.tuples(*[st.integers(0, 99)] * 3),
    st.builds(Changes, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, st.booleans()),
)
def test_a_later_version_has_a_higher_number(former, changes):
    number = next_number(".".join(map(str, former)), changes).number

    assert tuple(map(int, number.split("."))) > former


@given(st.builds(Changes, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, st.booleans()), NAMES)
def test_a_changelog_names_nothing_that_is_not_to_be_named(changes, named):
    told = draft_changelog(changes, named=frozenset(named))

    assert not [name for name in {"Q01", "Q02", "T1"} - set(named) if name in told]


def test_a_changelog_has_a_line_for_each_kind():
    changes = Changes(added=["Q03", "Q04"], retired=["Q01"], other_passages=True)

    told = draft_changelog(changes, named=frozenset({"Q03"}))

    assert told == "- 1 item retired.\n- 2 items added: Q03 and 1 more.\n- The corpus has other passages."


def test_the_first_version_is_number_one(bench):
    version = make_version(VersionState.FROZEN, bench)

    assert version.numbered == FIRST.number == "1.0.0"
    assert version.manifest["changelog"] == "- First version."


def test_versions_are_numbered_by_what_was_done_between_them(bench):
    make_version(VersionState.RELEASED, bench, test_share=0.0)

    make_accepted(bench.project, snapshot=bench.snapshot)
    added = make_version(VersionState.RELEASED, bench, test_share=0.0)
    first_of(bench).update(domain="Operations")
    redescribed = make_version(VersionState.RELEASED, bench, test_share=0.0)
    retired = first_of(bench).get()
    first_of(bench).update(retired_at=AT)
    fewer = make_version(VersionState.RELEASED, bench, test_share=0.0)

    assert redescribed.manifest["numbered"]["reason"] == "Patch: 1 item with other metadata."
    assert [added.numbered, redescribed.numbered, fewer.numbered] == ["1.1.0", "1.1.1", "2.0.0"]
    assert fewer.manifest["numbered"] == {
        "number": "2.0.0",
        "reason": "Major: 4 items retired.",
        "since": redescribed.label,
    }
    assert fewer.manifest["changelog"] == f"- 4 items retired: {retired.outside_id} and 3 more."


def test_what_a_draft_changes_is_found_without_reading_what_is_as_it_was(bench, django_assert_num_queries):
    triples = [make_accepted(bench.project, snapshot=bench.snapshot) for _ in range(2)]
    make_version(VersionState.RELEASED, bench, test_share=0.0)
    following = draft(bench, test_share=0.0)

    gathered = gather(following)
    with django_assert_num_queries(2):  # the queries and the Q&As of the version before
        unchanged = number_of(gathered)
    Triple.objects.filter(pk=triples[0].pk).update(domain="Operations")
    redescribed = number_of(gather(following))

    assert unchanged.changelog == "- Nothing was added, fixed or retired."
    assert redescribed.changelog == f"- 1 item with other metadata: {triples[0].label}."


@pytest.mark.parametrize(
    ("texts", "number"),
    [(TEXTS | {"pumps": "A pump is checked in May."}, "1.1.0"), (CHANGED, "2.0.0")],
)
def test_the_number_tells_another_passage_from_another_text(texts, number, bench):
    make_version(VersionState.RELEASED, bench, test_share=0.0)
    newer = make_snapshot(bench.project, texts, corpus=bench.snapshot.corpus)

    numbered = number_of(gather(draft(bench, snapshot=newer, test_share=0.0))).numbered

    assert numbered.number == number


def test_a_changelog_never_names_an_item_of_test(bench):
    make_version(VersionState.RELEASED, bench, test_share=1.0)
    first_of(bench).update(retired_at=AT)

    version = make_version(VersionState.RELEASED, bench, test_share=1.0)

    assert version.manifest["changelog"] == "- 4 items retired."


def test_a_version_from_before_there_were_numbers_counts_as_major(bench):
    version = make_version(VersionState.FROZEN, bench)
    version.manifest = {name: value for name, value in version.manifest.items() if name != "numbered"}

    assert version.numbered == "1.0.0"
    assert draft(bench, version.gold_set).numbered == ""


def test_a_lead_edits_the_changelog_and_the_files_have_it(client, bench):
    version = draft(bench)
    client.force_login(bench.lead)
    ids = {"slug": bench.project.slug, "gold_set": version.gold_set.slug, "number": version.number}
    page = client.get(reverse("goldsets:version", kwargs=ids)).content.decode()
    assert "- First version." in page
    assert 'form="freeze-form"' in page

    client.post(reverse("goldsets:freeze", kwargs=ids), {"changelog": "Doors, for the first time."})

    version.refresh_from_db()
    assert version.manifest["changelog"] == "Doors, for the first time."
    assert "Doors, for the first time." in client.get(reverse("goldsets:version", kwargs=ids)).content.decode()


def test_a_changelog_that_is_too_long_freezes_nothing(client, bench):
    version = draft(bench)
    client.force_login(bench.lead)
    ids = {"slug": bench.project.slug, "gold_set": version.gold_set.slug, "number": version.number}

    answer = client.post(reverse("goldsets:freeze", kwargs=ids), {"changelog": "a" * 10_001})

    version.refresh_from_db()
    assert answer.status_code == 409
    assert version.is_draft


def test_the_changelog_given_to_the_action_replaces_the_drafted_one(bench):
    version = freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT, changelog=" Doors. ")

    assert version.manifest["changelog"] == "Doors."
