import pytest
from django.urls import reverse

from apps.accounts.models import Project
from apps.goldsets.actions.versions import VersionRefused, discard_draft, freeze_version
from apps.goldsets.enums import CheckLevel, LeadCheckKind, VersionState
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_policy import LeadCheck, find_lead_checks
from apps.goldsets.selectors.training import lowest_relevant
from apps.judging.actions.rounds import close_round
from apps.queries.enums import PermissionScope
from apps.queries.models import Query
from tests.factories import AT
from tests.goldsets.factories import Bench, draft, make_bench, permit
from tests.goldsets.test_spreadsheets import imported, written

pytestmark = pytest.mark.django_db


def set_checks(bench: Bench, answer: CheckLevel, *kinds: LeadCheckKind) -> None:
    """Set these checks to an answer, and the others to off."""
    bench.project.policies |= dict.fromkeys(LeadCheckKind, CheckLevel.OFF.value)
    bench.project.policies |= dict.fromkeys(kinds, answer.value)
    bench.project.save(update_fields=["policies"])


def found_in(bench: Bench) -> list[LeadCheck]:
    return find_lead_checks(gather(draft(bench)))


def name_of_first(bench: Bench) -> str:
    return bench.project.queries.order_by("outside_id").first().outside_id


@pytest.mark.parametrize(
    ("grade", "tells"),
    [
        (3, None),
        (2, None),
        (0, "no passage graded 2 or higher, or more than three"),
        (1, "no passage graded 2 or higher"),
    ],
)
def test_a_query_without_relevant_passages_is_named(grade, tells):
    bench = make_bench(queries=1, triples=0, grade_of=lambda seat: grade)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.RELEVANT)

    found = found_in(bench)

    assert [f"{name_of_first(bench)} (0)" in check.sentence and tells in check.sentence for check in found] == (
        [True] if tells else []
    )


@pytest.mark.parametrize(("highest", "lowest"), [(1, 1), (2, 2), (3, 2), (5, 2)])
def test_a_passage_is_relevant_from_grade_2_and_from_yes_on_a_scale_of_no_and_yes(highest, lowest):
    project = Project(scale=[{"grade": grade, "name": str(grade)} for grade in range(highest + 1)])

    assert lowest_relevant(project) == lowest


def test_confusers_are_counted_of_what_a_run_ranked_high_and_people_graded_low():
    bench = make_bench(queries=1, triples=0, grade_of=lambda seat: 0)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.CONFUSERS)
    entries = list(bench.pool.entries.order_by("pk"))
    ranked = sum(any(rank <= 20 for _, rank in entry.found_by) for entry in entries)

    (check,) = found_in(bench)

    assert "1 query has fewer than 10 strong confusers" in check.sentence
    assert f"{name_of_first(bench)} ({ranked})" in check.sentence
    assert check.place == reverse("retrieval:new-pool", args=[bench.project.slug])


def test_imported_grades_count_what_the_runs_of_any_pool_on_the_snapshot_ranked_high():
    bench = make_bench(queries=1, triples=0, judge=False)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.CONFUSERS)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    entries = list(bench.pool.entries.select_related("version__block").order_by("pk"))
    rows = [(name_of_first(bench), entry.version.block.outside_id, 0) for entry in entries]
    bench.round = imported(bench, "grades.csv", written([("query_id", "doc_id", "grade"), *rows]), "Ada")
    ranked = sum(any(rank <= 20 for _, rank in entry.found_by) for entry in entries)

    (check,) = found_in(bench)

    assert ranked
    assert f"{name_of_first(bench)} ({ranked})" in check.sentence


def test_a_stratum_with_few_queries_is_named():
    bench = make_bench(queries=3, triples=0)
    Query.objects.filter(pk=bench.project.queries.first().pk).update(domain="Doors")
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.STRATA)

    assert [check.sentence for check in found_in(bench)] == [
        "Domain: fewer than 5 queries of Doors (1). A score on so few says little."
    ]


def test_a_source_for_internal_use_is_named_with_what_rests_on_it():
    bench = make_bench(queries=1)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.TERMS)

    internal = found_in(bench)
    discard_draft(version_id=bench.project.gold_sets.get().versions.get().pk, actor=bench.lead, at=AT)
    permit(bench.source, scope=PermissionScope.PUBLIC)
    public = found_in(bench)

    assert "is not for public use, and this rests on it" in internal[0].sentence
    assert name_of_first(bench) in internal[0].sentence
    assert internal[0].place == reverse("queries:source", args=[bench.project.slug, bench.source.pk])
    assert not [check for check in public if "is not for public use" in check.sentence]


def test_a_query_without_a_source_is_named():
    bench = make_bench(queries=1, triples=0)
    Query.objects.filter(project=bench.project).update(source=None)
    set_checks(bench, CheckLevel.WARN, LeadCheckKind.TERMS)

    (check,) = found_in(bench)

    assert name_of_first(bench) in check.sentence
    assert check.sentence.endswith("Name their source.")


def test_a_check_that_refuses_blocks_the_freeze_by_name():
    bench = make_bench(queries=1, triples=0, grade_of=lambda seat: 0)
    set_checks(bench, CheckLevel.REFUSE, LeadCheckKind.RELEVANT)

    with pytest.raises(VersionRefused) as refused:
        freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT)

    assert "1 check of this project that is not met" in refused.value.sentence
    assert name_of_first(bench) in refused.value.sentence


@pytest.mark.parametrize("answer", [CheckLevel.WARN, CheckLevel.OFF])
def test_a_check_that_does_not_refuse_lets_the_version_be_frozen(answer):
    bench = make_bench(queries=1, triples=0, grade_of=lambda seat: 0)
    set_checks(bench, answer, *LeadCheckKind)

    version = freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT)

    assert version.state == VersionState.FROZEN


@pytest.mark.parametrize("answer", [CheckLevel.WARN, CheckLevel.REFUSE])
def test_the_draft_links_to_what_cures_it(client, answer):
    bench = make_bench(queries=1, triples=0, grade_of=lambda seat: 0)
    set_checks(bench, answer, LeadCheckKind.RELEVANT)
    version = draft(bench)
    client.force_login(bench.lead)

    page = client.get(reverse("goldsets:version", args=[bench.project.slug, version.gold_set.slug, 1]))

    assert f'<li><a href="{reverse("judging:index", args=[bench.project.slug])}">1 query has' in page.content.decode()
