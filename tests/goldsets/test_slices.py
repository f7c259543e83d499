from datetime import timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError, transaction

from apps.audit.models import Event
from apps.common.text.wording import utc_second
from apps.goldsets.actions.slices import SliceRefused, add_found, add_to_slice, make_rotating_slice
from apps.goldsets.enums import SliceKind, VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.formats.content import SliceRow
from apps.goldsets.formats.slices import SLICES, BadSlices, read_slices, slice_called
from apps.goldsets.formats.verification import verify
from apps.goldsets.models import Slice, SliceMember, Version
from apps.goldsets.selectors import slices
from apps.goldsets.selectors.slices import FoundQuestion
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db


def lead(version: Version):
    return version.created_by


def rotate(version: Version, quarter: str = "2026-Q4", size: int = 3) -> Slice:
    return make_rotating_slice(version_id=version.pk, quarter=quarter, size=size, actor=lead(version), at=AT)


def grow(version: Version, kind: str = "canary", **names: str) -> tuple[Slice | None, int]:
    return add_to_slice(version_id=version.pk, kind=kind, names=names, actor=lead(version), at=AT)


def names_in(part: Slice) -> list[str]:
    return list(slices.members_of(part).values_list("name", flat=True))


def test_test_questions_are_in_no_slice():
    version = make_version(VersionState.RELEASED, make_bench(queries=6), test_share=0.5)
    sealed = version.queries.filter(split="test").first()

    assert sealed.outside_id not in {one.name for one in slices.questions_for_slices(version)}
    with pytest.raises(SliceRefused, match=f"Not among the dev questions of v1: {sealed.outside_id}"):
        grow(version, **{sealed.outside_id: "Picked."})


def test_a_rotating_slice_is_made_once_a_quarter_which_is_that_of_the_day_unless_one_is_named(version):
    made = make_rotating_slice(version_id=version.pk, size=3, actor=lead(version), at=AT)
    again = rotate(version, f"{AT.year}-Q{(AT.month + 2) // 3}", size=5)

    assert again == made
    assert len(names_in(made)) == 3
    assert Event.objects.filter(action="slice.made").count() == 1


def test_no_question_comes_twice_before_all_were_used(version):
    questions = slices.questions_for_slices(version)
    first, second, third = (set(names_in(rotate(version, quarter))) for quarter in ("2026-Q1", "2026-Q2", "2026-Q3"))

    assert [one.name for one in questions] == sorted((one.name for one in questions), key=str.encode)
    assert sum(one.query is not None for one in questions) == 6
    assert sum(bool(one.triples) for one in questions) == 2
    assert not first & second
    assert first | second | third == {one.name for one in questions}
    assert len(third & first) == 1


def test_use_in_an_earlier_version_counts_too():
    bench = make_bench(queries=6)
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    used = names_in(rotate(first, "2026-Q3"))
    second = make_version(VersionState.RELEASED, bench, test_share=0.0)

    assert not set(names_in(rotate(second, "2026-Q4"))) & set(used)
    assert set(slices.last_used(second.gold_set)) > set(used)
    assert set(slices.last_used(second.gold_set, before="2026-Q4")) == set(used)


@pytest.mark.parametrize(
    ("quarter", "size", "reason"),
    [
        ("2026-Q5", 3, "“2026-Q5” is no quarter. Write it as 2026-Q4."),
        ("2026-Q4", 0, "A slice has at least one question, not 0."),
        ("2026-Q4", 120, "v1 has 8 dev questions, so a slice of 120 would be all of them. Choose fewer."),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(version, quarter, size, reason):
    with pytest.raises(SliceRefused) as refused:
        rotate(version, quarter, size)

    assert refused.value.sentence == reason


def test_a_draft_has_no_slices_nor_does_the_database_give_it_one():
    draft = make_version(bench=make_bench(queries=2))

    with pytest.raises(SliceRefused, match="v1 is a draft"):
        rotate(draft)
    with pytest.raises(SliceRefused, match="v1 is a draft"):
        grow(draft, Q01="Picked.")
    with pytest.raises(DatabaseError, match="a draft has no slices"), transaction.atomic():
        Slice.objects.create(version=draft, kind="canary", created_by=lead(draft), created_at=AT)


def test_a_slice_grows_by_questions_it_has_not_yet_and_keeps_their_numbers(version):
    first, second, third = [one.name for one in slices.questions_for_slices(version)][:3]
    part, added = grow(version, **{second: "Broke in May."})
    assert added == 1

    same, added = grow(version, **{first: "Picked.", second: "Again.", third: "Picked."})

    assert same == part
    assert added == 2
    assert list(slices.members_of(part).values_list("number", "name", "why")) == [
        (1, second, "Broke in May."),
        (2, first, "Picked."),
        (3, third, "Picked."),
    ]
    assert [row.name for row in slices.members_of(part, 1)] == [second]


def test_a_qa_is_added_by_its_label(version):
    label = version.triples.order_by("pk").first().label

    part, added = grow(version, "challenge", **{label: "Missed."})

    assert added == 1
    assert slices.items_in(part, by_triples=True) == {label}
    assert slices.items_in(part, by_triples=False) == set()


def test_one_unknown_question_refuses_all_and_is_named(version):
    known = slices.questions_for_slices(version)[0].name

    with pytest.raises(SliceRefused, match=r"Not among the dev questions of v1: Q-nowhere\. Nothing was added\."):
        grow(version, **{known: "Picked.", "Q-nowhere": "Picked."})

    assert not Slice.objects.exists()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("rotating", "A rotating slice is drawn and stays as it is"), ("gold", "There is no slice called “gold”")],
)
def test_only_growing_slices_take_questions(version, kind, reason):
    with pytest.raises(SliceRefused, match=reason):
        grow(version, kind, **{slices.questions_for_slices(version)[0].name: "Picked."})


def test_what_is_found_is_added_once_with_its_reason(version, monkeypatch):
    name = slices.questions_for_slices(version)[0].name
    found = [FoundQuestion(name, "It fell."), FoundQuestion(name, "Twice."), FoundQuestion("gone", "It fell.")]
    monkeypatch.setattr(slices, "_finders", {SliceKind.REGRESSION: [lambda version: found]})

    for expected in (1, 0):
        part, added = add_found(version_id=version.pk, kind="regression", actor=lead(version), at=AT)
        assert added == expected

    assert list(slices.members_of(part).values_list("name", "why")) == [(name, "It fell.")]


def test_the_next_version_carries_a_growing_slice_on(monkeypatch):
    monkeypatch.setattr(slices, "_finders", {kind: [] for kind in SliceKind})
    bench = make_bench(queries=3)
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    name = slices.questions_for_slices(first)[0].name
    grow(first, **{name: "Every change."})
    second = make_version(VersionState.RELEASED, bench, test_share=0.0)

    assert slices.found_for(second, SliceKind.CANARY, ()) == {name: "Every change."}
    assert slices.found_for(second, SliceKind.CANARY, [name]) == {}


def test_a_slice_is_found_by_its_kind_and_by_its_quarter(version):
    older, newer = rotate(version, "2026-Q3"), rotate(version, "2026-Q4")
    canary, _ = grow(version, **{slices.questions_for_slices(version)[0].name: "Picked."})

    assert slices.slice_named(version, "rotating") == newer
    assert slices.slice_named(version, "2026-Q3") == older
    assert slices.slice_named(version, "canary") == canary
    assert slices.slice_named(version, "challenge") is None
    assert slices.newest_slices(version) == [newer, canary]


# What an export has of them


def exported(version: Version, folder: Path, *, with_slices: bool = True, **options) -> list[SliceRow] | None:
    folder.mkdir(exist_ok=True)
    exporting.write(version, folder, formats=["trec"], with_slices=with_slices, **options)
    assert verify(folder).is_intact
    file = folder / SLICES
    return read_slices(file.read_text()) if file.exists() else None


def test_an_export_has_the_slices_that_were_asked_for_and_its_manifest_covers_them(version, tmp_path):
    label = version.triples.order_by("pk").first().label
    drawn, _ = rotate(version), grow(version, "challenge", **{label: "Missed."})

    rows = exported(version, tmp_path / "all")

    assert [(row.name, row.kind) for row in rows] == [("challenge", "challenge"), ("2026-Q4", "rotating")]
    assert rows[0].questions == (("", (label,)),)
    assert rows[0].as_of == utc_second(AT)
    assert {query or triples[0] for query, triples in rows[1].questions} == set(names_in(drawn))
    assert slice_called(rows, "rotating") == slice_called(rows, "2026-Q4") == rows[1]
    assert slice_called(rows, "canary") is None

    (tmp_path / "all" / SLICES).write_text("{}")
    assert verify(tmp_path / "all").faults == ["slices.json differs from the manifest."]


def test_an_export_has_slices_only_of_dev_where_there_are_some_and_they_are_asked_for(version, tmp_path):
    assert exported(version, tmp_path / "none") is None
    rotate(version)
    assert exported(version, tmp_path / "unasked", with_slices=False) is None
    assert exported(version, tmp_path / "test", splits=["test"]) is None


def test_what_is_revoked_is_in_no_slice_of_an_export(version, tmp_path):
    rotate(version)
    source = version.queries.first().query.source_id

    rows = exported(version, tmp_path, revoked=[source])

    assert not rows or all(not query for row in rows for query, _ in row.questions)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"slices": [{}]}', '{"slices": [{"name": "a", "kind": "b"}]}'])
def test_what_is_no_file_of_slices_is_refused(text):
    with pytest.raises(BadSlices, match="not a list of slices as Karat writes it"):
        read_slices(text)


# What the database refuses


def forged(part: Slice, version: Version, **fields) -> None:
    with transaction.atomic():
        SliceMember.objects.create(
            **{
                "slice": part,
                "number": 90,
                "name": "forged",
                "why": "Forged.",
                "added_by": lead(version),
                "added_at": AT + timedelta(days=1),
                **fields,
            }
        )


def test_a_slice_and_its_members_never_change(version):
    grow(version, **{slices.questions_for_slices(version)[0].name: "Picked."})

    for rows, change in ((Slice.objects, {"quarter": "2026-Q1"}), (SliceMember.objects, {"number": 7})):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**change)
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.all()._raw_delete(rows.db)


def test_a_slice_takes_nothing_of_another_version_and_nothing_sealed():
    bench = make_bench(queries=6)
    first = make_version(VersionState.RELEASED, bench, test_share=0.5)
    second = make_version(VersionState.RELEASED, bench, test_share=0.5)
    part, _ = grow(second, **{slices.questions_for_slices(second)[0].name: "Picked."})

    for query in (first.queries.filter(split="dev").first(), second.queries.filter(split="test").first()):
        with pytest.raises(DatabaseError, match="dev queries of its version"):
            forged(part, second, query=query)


def test_a_rotating_slice_takes_no_further_question_and_a_growing_one_nothing_but_queries_and_triples(version):
    drawn, (grown, _) = rotate(version), grow(version, **{slices.questions_for_slices(version)[0].name: "Picked."})
    outside = version.queries.exclude(outside_id__in=names_in(drawn)).first()

    with pytest.raises(DatabaseError, match="takes no further questions"):
        forged(drawn, version, query=outside)
    with pytest.raises(DatabaseError):
        forged(grown, version)
