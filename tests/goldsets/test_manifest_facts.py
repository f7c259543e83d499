"""What a manifest keeps of the work behind a version, counted when it is frozen."""

import pytest

from apps.accounts.enums import Role
from apps.goldsets.actions.versions import freeze_version
from apps.goldsets.enums import CheckLevel, LeadCheckKind
from apps.goldsets.models import Version
from apps.goldsets.rules import without_grades
from apps.queries.enums import SourceKind
from apps.queries.models import Source
from apps.triples.enums import State
from tests.evaluation.factories import make_scene
from tests.factories import AT, make_member
from tests.goldsets.factories import Bench, draft, make_bench
from tests.goldsets.test_lead_checks import set_checks
from tests.review.factories import make_accepted, make_disputed, make_in_review, reviewers_of, take_back

pytestmark = pytest.mark.django_db


def freeze(bench: Bench) -> Version:
    return freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT)


def test_pairs_are_counted_by_how_far_their_grades_are_apart_and_by_what_ended_them():
    decided = {"Q1": {"a": 3, "b": 1}, "Q2": {"a": 2, "b": 0}}
    ratings = {"ann": {"Q1": {"a": 3, "b": 1}, "Q2": {"a": 3, "b": 0}}, "ben": {"Q1": {"a": 0, "b": 2}, "Q2": {"a": 2}}}
    scene = make_scene(qrels=decided, ratings=ratings, runs={}, test_share=0.0)

    grades = scene.version.manifest["disagreements"]["grades"]

    assert {name: grades[name] for name in ("shared", "differing", "by_distance")} == {
        "shared": 3,
        "differing": 3,
        "by_distance": {"1": 2, "3": 1},
    }
    assert sum(grades["by_resolution"].values()) == 3


def test_people_who_agree_leave_nothing_apart(bench):
    grades = freeze(bench).manifest["disagreements"]["grades"]

    assert grades == {"shared": 12, "differing": 0, "by_distance": {}, "by_resolution": {}}


def test_a_flagged_triple_is_counted_by_what_the_flag_named_and_by_what_ended_the_dispute(bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    flag = {"reasons": ["overstated"], "category": "synonym"}
    disputed = make_disputed(bench.project, snapshot=bench.snapshot, flag=flag)
    take_back(disputed, reviewers_of(disputed)[1])

    assert freeze(bench).manifest["disagreements"]["verdicts"] == {
        "reviewed": 3,
        "differing": 1,
        "by_reason": {"overstated": 1},
        "by_category": {"synonym": 1},
        "by_resolution": {"policy:synonym": 1},
    }


def test_triples_that_wait_are_counted_by_their_state(bench):
    make_in_review(bench.project, snapshot=bench.snapshot)
    make_disputed(bench.project, snapshot=bench.snapshot)
    make_disputed(bench.project, snapshot=bench.snapshot)

    version = freeze(bench)
    make_accepted(bench.project, snapshot=bench.snapshot)

    assert version.manifest["waiting"] == {State.IN_REVIEW: 1, State.DISPUTED: 2}


def test_what_a_check_warned_of_is_kept_in_number_and_names_nothing():
    bench = make_bench(queries=3, triples=0, grade_of=lambda seat: 0)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.RELEVANT, LeadCheckKind.TERMS)

    manifest = freeze(bench).manifest

    assert manifest["checks"] == {LeadCheckKind.RELEVANT: 3, LeadCheckKind.TERMS: 3}
    names = bench.project.queries.values_list("outside_id", flat=True)
    assert not any(name in str(manifest["checks"]) for name in names)


def test_a_source_with_a_target_and_no_query_is_kept(bench):
    for slug, target in (("interviews", 0.25), ("probes", None)):
        fields = {"name": slug, "kind": SourceKind.INTERVIEW, "created_at": AT}
        Source.objects.create(project=bench.project, slug=slug, target_share=target, **fields)

    assert freeze(bench).manifest["unused_targets"] == [{"source": "interviews", "target_share": 0.25}]


def test_somebody_who_still_judges_is_not_told_where_people_differed_or_what_checks_found(bench):
    make_member(bench.project, Role.ANNOTATOR)

    told = without_grades(freeze(bench).manifest)

    assert {"disagreements", "checks"}.isdisjoint(told)
    assert "waiting" in told
