"""The ledger, and the scores that trends go on with."""

from decimal import Decimal

import pytest

from apps.audit.models import Event
from apps.evaluation.actions.comparisons import LedgerRefused, write_ledger
from apps.evaluation.actions.scoring import score_missing, score_on_release
from apps.evaluation.models import Evaluation, RunNote
from apps.evaluation.selectors.leaderboard import runs_elsewhere, unscored_on
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Run
from tests.evaluation.factories import GOOD, add_run, score
from tests.factories import AT
from tests.retrieval.factories import make_snapshot, make_system

pytestmark = pytest.mark.django_db
SCENE = {"queries": 4, "test_share": 0.0}


def write(scene, tag="base", **words):
    return write_ledger(run=scene.runs[tag], actor=scene.lead, at=AT, **words)


def rest(scene, version=None, **options):
    return score_missing(version=version or scene.version, split="", actor=scene.lead, at=AT, **options)


def next_version(scene, snapshot=None):
    """The next version of the gold set on the same rounds, frozen."""
    rounds = list(scene.version.rounds.all())
    version = draft_version(
        gold_set_id=scene.version.gold_set_id, snapshot=snapshot or scene.snapshot, rounds=rounds, seed=7,
        test_share=0.0, actor=scene.lead, at=AT,
    )  # fmt: skip
    return freeze_version(version_id=version.pk, actor=scene.lead, at=AT)


def test_the_ledger_stores_what_changed_and_its_cost(scene):
    note = write(scene, tried=" Longer blocks ", commit="a1b2c3", verdict="Not worth it", cost=Decimal("1.25"))

    assert (note.tried, note.commit, note.cost) == ("Longer blocks", "a1b2c3", Decimal("1.25"))
    assert Event.objects.get(action="run.ledger_written").after["cost"] == "1.25"


def test_a_line_may_be_rewritten_and_the_audit_trail_keeps_the_former_one(scene):
    write(scene, verdict="Promising")

    write(scene, verdict="Dropped")

    assert RunNote.objects.get().verdict == "Dropped"
    event = Event.objects.filter(action="run.ledger_written").latest("pk")
    assert (event.before["verdict"], event.after["verdict"]) == ("Promising", "Dropped")


def test_the_ledger_leaves_the_run_as_it_is(scene):
    before = Run.objects.values().get(pk=scene.runs["base"].pk)

    write(scene, tried="Longer blocks")

    assert Run.objects.values().get(pk=scene.runs["base"].pk) == before


@pytest.mark.parametrize("cost", [Decimal("-0.01"), Decimal("1e9")])
def test_a_cost_that_cannot_be_is_refused(scene, cost):
    with pytest.raises(LedgerRefused, match="zero or more, and below 100 million"):
        write(scene, cost=cost)


def test_a_commit_that_is_too_long_is_refused(scene):
    with pytest.raises(LedgerRefused, match="at most 80 characters; this one has 81"):
        write(scene, commit="a" * 81)


def test_a_run_that_is_not_complete_has_no_line(scene):
    system = make_system(scene.project)
    at = {"actor": scene.lead, "at": AT}
    run = request_run(project=scene.project, system_id=system.pk, snapshot_id=scene.snapshot.pk, tag="early", **at)

    with pytest.raises(LedgerRefused, match="early is pending"):
        write_ledger(run=run, tried="x", **at)


def test_the_rest_is_scored_with_the_measures_requested_last(scene):
    score(scene, "base", measures="P@5 RR")

    (asked,) = rest(scene)

    assert (asked.run.tag, asked.measures) == ("better", ["P@5", "RR"])


def test_nothing_is_requested_twice(scene):
    score(scene, "base")
    rest(scene)

    assert rest(scene) == []
    assert Evaluation.objects.count() == 2


def test_a_run_that_lacks_one_measure_is_scored_again(scene):
    score(scene, "base", measures="P@5")

    assert [run.tag for run in unscored_on(scene.version, "", ["P@5", "RR"])] == ["base", "better"]
    assert [run.tag for run in unscored_on(scene.version, "", ["P@5"])] == ["better"]


def test_runs_on_other_texts_are_named_and_never_scored(scene):
    other = make_snapshot(scene.project, {"a": "Other text", "z": "More"})
    scene.runs["strange"] = add_run(scene, "strange", {"Q01": {"a": 1.0}}, snapshot=other)

    asked = rest(scene)

    assert {one.run.tag for one in asked} == {"base", "better"}
    assert [run.tag for run in runs_elsewhere(scene.version)] == ["strange"]


def test_a_release_scores_the_stored_runs_as_the_version_before(scene):
    score(scene, "base", measures="P@5")
    scene.runs["third"] = add_run(scene, "third", {"Q01": GOOD})
    version = next_version(scene)

    release_version(version_id=version.pk, actor=scene.lead, at=AT)

    asked = Evaluation.objects.filter(version=version)
    assert set(asked.values_list("run__tag", flat=True)) == {"base", "better", "third"}
    assert all(one.measures == ["P@5"] for one in asked)


def test_the_first_release_has_nothing_to_go_on(scene):
    assert score_on_release(version=scene.version, actor=scene.lead, at=AT) == []
