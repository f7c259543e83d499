"""Nothing in a released version changes: every change that Karat allows is made afterwards, and all bytes compared."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta

import pytest

from apps.accounts.actions.people import change_profile, deactivate_user
from apps.accounts.actions.projects import archive_project, change_project, set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.corpus.actions.corpora import redact_version
from apps.corpus.enums import ImportMode
from apps.corpus.models import BlockVersion, Document
from apps.goldsets.actions.slices import add_to_slice, make_rotating_slice
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import GROWING, VersionState
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import questions_for_slices
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.models import Judgement
from apps.queries.actions.queries import change_queries, edit_query, retire_query
from apps.queries.actions.sources import edit_source, grant_permission
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.enums import PermissionScope, SourceKind
from apps.queries.models import Query
from apps.triples.actions.triples import retire_triple
from apps.triples.enums import RetireReason
from apps.triples.models import Triple
from tests.corpus.factories import import_text
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_source, make_version
from tests.goldsets.test_exporting import members, packed
from tests.review.factories import make_accepted
from tests.triples.factories import TEXTS

pytestmark = pytest.mark.django_db

LATER = AT + timedelta(days=30)


def rename_the_project(version: Version) -> None:
    project = version.gold_set.project
    change_project(project_id=project.pk, name="Another name", policies={}, actor=lead_of(project), at=LATER)


def rename_and_deactivate_everybody(version: Version) -> None:
    project = version.gold_set.project
    lead = lead_of(project)
    people = {triple.author for triple in Triple.objects.select_related("author")}
    people |= {answer.annotator for answer in Judgement.objects.select_related("annotator")}
    for person in people - {lead}:
        change_profile(user=person, name=f"Somebody else {person.pk}", time_zone="UTC", at=LATER)
        set_roles(project=project, user=person, roles=[Role.VIEWER], actor=lead, at=LATER)
        deactivate_user(user_id=person.pk, actor=None, at=LATER)


def import_other_titles_and_metadata(version: Version) -> None:
    rows = [
        {
            "block_id": key,
            "document_id": "handbook",
            "document_title": "Renamed handbook",
            "title": key.capitalize(),
            "section": ["4 Data protection"],
            "page_start": 31,
            "page_end": 32,
            "text": text,
            "metadata": {"licence": "changed"},
        }
        for key, text in TEXTS.items()
    ]
    import_text(version.snapshot.corpus, "\n".join(map(json.dumps, rows)), at=LATER)
    assert Document.objects.get().title == "Renamed handbook"


def import_other_texts(version: Version) -> None:
    new = {"document_id": "handbook", "title": "New"}
    rows = [{"block_id": key, **new, "text": text[::-1]} for key, text in TEXTS.items()]
    import_text(version.snapshot.corpus, "\n".join(map(json.dumps, rows)), mode=ImportMode.MERGE, at=LATER)


def edit_every_query(version: Version) -> None:
    lead = lead_of(version.gold_set.project)
    for query in Query.objects.filter(version_queries__version=version):
        changes = {"label": "L", "domain": "elsewhere", "difficulty": "hard", "query_type": "other"}
        edit_query(
            query_id=query.pk,
            actor=lead,
            at=LATER,
            tags=["new"],
            metadata={"a": 1},
            group_key=query.outside_id,
            **changes,
        )


def move_queries_to_another_source(version: Version) -> None:
    project = version.gold_set.project
    other = make_source(project, "Interviews")
    queries = Query.objects.filter(version_queries__version=version).values_list("pk", flat=True)
    change = BulkChange({"source": other})
    change_queries(project=project, query_ids=set(queries), change=change, actor=lead_of(project), at=LATER)


def rename_the_source(version: Version) -> None:
    lead = lead_of(version.gold_set.project)
    source = version.gold_set.project.sources.get(slug="query-log")
    edit_source(source_id=source.pk, name="Renamed", kind=SourceKind.SYNTHETIC, target_share=0.1, actor=lead, at=LATER)
    grant_permission(
        source_id=source.pk,
        owner="New owner",
        scope=PermissionScope.PUBLIC,
        evidence="x",
        licence="MIT",
        actor=lead,
        at=LATER,
    )


def retire_what_is_in_it(version: Version) -> None:
    project = version.gold_set.project
    lead = lead_of(project)
    for query in Query.objects.filter(version_queries__version=version):
        retire_query(query_id=query.pk, reason="no longer asked", actor=lead, at=LATER)
    for row in version.triples.all():
        member = membership_in(lead, project.slug)
        retire_triple(
            project=project,
            triple_id=row.triple_id,
            lead=lead,
            roles=member.roles,
            reason=RetireReason.OUT_OF_SCOPE,
            at=LATER,
        )


def publish_another_guideline(version: Version) -> None:
    project = version.gold_set.project
    grades = [
        {"grade": entry["grade"], "name": f"New {entry['grade']}", "definition": "Another.", "examples": []}
        for entry in project.scale
    ]
    publish_guideline(project=project, actor=lead_of(project), grades=grades, markdown="# Another", at=LATER)


def draw_and_grow_slices(version: Version) -> None:
    lead = lead_of(version.gold_set.project)
    make_rotating_slice(version_id=version.pk, size=2, actor=lead, at=LATER)
    names = {question.name: "Picked." for question in questions_for_slices(version)}
    for kind in GROWING:
        add_to_slice(version_id=version.pk, kind=kind, names=names, actor=lead, at=LATER)
    assert set(version.slices.values_list("kind", flat=True)) == {"rotating", *GROWING}


def write_more(version: Version) -> None:
    make_accepted(version.gold_set.project, snapshot=version.snapshot)


def release_the_next(version: Version) -> None:
    lead = lead_of(version.gold_set.project)
    following = draft_version(
        gold_set_id=version.gold_set_id,
        snapshot=version.snapshot,
        rounds=list(version.rounds.all()),
        actor=lead,
        at=LATER,
    )
    freeze_version(version_id=following.pk, actor=lead, at=LATER)
    release_version(version_id=following.pk, actor=lead, at=LATER)


def archive_the_project(version: Version) -> None:
    project = version.gold_set.project
    archive_project(project_id=project.pk, actor=lead_of(project), at=LATER)


CHANGES: list[Callable[[Version], None]] = [
    rename_the_project,
    import_other_titles_and_metadata,
    edit_every_query,
    move_queries_to_another_source,
    rename_the_source,
    publish_another_guideline,
    draw_and_grow_slices,
    write_more,
    release_the_next,
    import_other_texts,
    retire_what_is_in_it,
    rename_and_deactivate_everybody,
    archive_the_project,
]


@pytest.fixture(scope="module")
def _version(module_rows) -> Version:
    return make_version(VersionState.RELEASED, make_bench(triples=2))


@pytest.fixture(scope="module")
def before(_version) -> bytes:
    """Its export before anything happens."""
    return packed(_version)


@pytest.fixture
def version(db, _version) -> Version:
    return deepcopy(_version)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_byte_changes_when_somebody_goes_on_to(change, version, before):
    change(version)
    assert packed(Version.objects.get(pk=version.pk)) == before


def test_no_byte_changes_when_all_of_it_happens(version, before):
    for change in CHANGES:
        change(version)
    assert packed(Version.objects.get(pk=version.pk)) == before


def test_a_redaction_alone_changes_bytes_and_the_export_says_so(version, before):
    before = members(before)
    text = BlockVersion.objects.get(block__outside_id="rotation")
    redact_version(version_id=text.pk, reason="asked for", actor=lead_of(version.gold_set.project), at=LATER)
    after = members(packed(Version.objects.get(pk=version.pk)))
    changed = {name for name in before if before[name] != after[name]}
    assert changed, "the text is still there"
    assert not any("custodian leaves" in text for text in after.values())
    line = next(json.loads(row) for row in after["jsonl/corpus.jsonl"].splitlines() if '"rotation"' in row)
    assert (line["text"], line["redacted"]["digest"]) == ("", text.digest)
