"""Undoing an import of grades: they stay on record and count nowhere, while nothing rests on them."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.agreement.selectors.agreement import grade_agreement
from apps.audit.models import Event
from apps.common.database.batched_reads import answer_to
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.dashboard.rules import is_fresh
from apps.editions.selectors.applied import stays_question
from apps.editions.selectors.usage import rounds_on
from apps.goldsets.actions.versions import VersionRefused, draft_version, freeze_version
from apps.judging.actions.adjudication import AdjudicationRefused, settle_bulk
from apps.judging.actions.propagation import GradeToCarry, carry_along
from apps.judging.core.resolution import ResolutionRule
from apps.judging.forms.rounds import RoundForm
from apps.judging.models import Adjudication, Judgement, KeptPair, Round
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.pending_work import undecided_in
from apps.judging.selectors.propagation import mark_of, trivial
from apps.judging.selectors.rejudging import known_pairs
from apps.judging.selectors.rounds import rounds_in
from apps.queries.models import Query
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool
from apps.retrieval.selectors.pools import pools_in
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_gold_set
from tests.judging.factories import decide, make_pool, make_round, people_of
from tests.naming import tables_that_name
from tests.races import overlapping, refusals

pytestmark = pytest.mark.django_db
LATER = AT + timedelta(minutes=5)


@pytest.fixture
def pool():
    return make_pool(make_project(), queries=2, blocks=3)


def ratings(pool) -> str:
    """Two raters on two pairs: alike on the first, apart on the second."""
    query = pool.pool_queries.order_by("pk").first().query.outside_id
    rows = [("b00000", "Ana", 2), ("b00000", "Ben", 2), ("b00001", "Ana", 0), ("b00001", "Ben", 3)]
    return "query_id,block_id,annotator,grade\n" + "".join(f"{query},{b},{who},{grade}\n" for b, who, grade in rows)


def applied(pool, text: str = "", format: str = "ratings", at=LATER) -> Import:
    item = imported(pool, text, format, at)
    return imports.confirm_import(import_id=item.pk, actor=lead_of(pool.project), at=at)


def imported(pool, text: str = "", format: str = "ratings", at=LATER) -> Import:
    """An import in its preview."""
    return imports.start_import(
        project=pool.project,
        kind="judgements",
        file=SimpleUploadedFile("grades.csv", (text or ratings(pool)).encode()),
        options={"format": format, "snapshot": pool.snapshot_id, "columns": "", "grades": "", "name": "Theirs"},
        actor=lead_of(pool.project),
        at=at,
    )


def undo(item: Import) -> Import:
    return imports.undo_import(import_id=item.pk, actor=lead_of(item.project), at=AT + timedelta(hours=1))


def refusal(item: Import) -> str:
    with pytest.raises(ImportRefused) as refused:
        undo(item)
    return refused.value.sentence


def draft(round_: Round, gold_set=None):
    project = round_.project
    return draft_version(
        gold_set_id=(gold_set or make_gold_set(project)).pk, snapshot=round_.pool.snapshot, rounds=[round_],
        actor=lead_of(project), at=AT,
    )  # fmt: skip


def decide_open(round_: Round):
    """The one pair that is to be decided."""
    lead = lead_of(round_.project)
    [pair] = adjudicable(round_, lead)
    return decide(round_, round_.pool.entries.get(pk=pair.entry_id), grade=3)


def pools_that_stay(pool) -> int:
    before = pool.snapshot
    return answer_to(before, stays_question(before, rounds_on(before.corpus))).pools


def test_undone_grades_stay_on_record_and_count_nowhere(pool):
    item = applied(pool)
    round_ = Round.objects.get()
    assert (pools_that_stay(pool), RoundForm(project=pool.project).follows_another) == (2, True)

    undo(item)

    assert Judgement.objects.filter(round=round_).count() == 4
    assert (pools_that_stay(pool), RoundForm(project=pool.project).follows_another) == (1, False)
    assert is_fresh(pool.project)
    assert resolved_grades(pool.snapshot) == []
    assert known_pairs(pool.snapshot, 5, seed=1) == []
    assert list(rounds_in(pool.project)) == undecided_in(pool.project) == []
    assert grade_agreement(pool.project).ratings.people == ()
    event = Event.objects.get(action="judgements.withdrawn")
    assert (event.object_id, event.after["judgements"]) == (str(round_.pk), 4)
    assert Event.objects.filter(action="import.undone").count() == 1


def test_the_pairs_of_undone_grades_are_judged_by_the_next_round(pool):
    undo(applied(pool))

    round_ = make_round(pool.project, pool=pool)

    assert not KeptPair.objects.exists()
    assert round_.seats.values("entry").distinct().count() == pool.entry_count


def test_the_same_file_is_imported_anew_afterwards(pool):
    undo(applied(pool))

    again = applied(pool, at=LATER + timedelta(minutes=5))

    assert not again.result["changes_nothing"]
    assert [round_.withdrawn_at is None for round_ in Round.objects.order_by("number")] == [False, True]
    assert len(resolved_grades(pool.snapshot)) == 2


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (draft, "The draft Handbook v1 has its grades. Take the round out of the draft first."),
        (decide_open, "A lead has decided 1 of its pairs since, and decisions are not undone."),
        (
            lambda theirs: make_round(theirs.project, pool=Pool.objects.earliest("pk")),
            "{} left pairs out because they have a grade here, and nobody else judges them.",
        ),
        (
            lambda theirs: make_round(theirs.project, pool=Pool.objects.earliest("pk"), checks=1, judge_again=True),
            "{} checks people against its grades.",
        ),
    ],
)
def test_grades_that_something_rests_on_stay(pool, use, words):
    item = applied(pool)
    use(Round.objects.get())

    assert refusal(item) == words.format(Round.objects.latest("number").name)


def test_grades_of_a_frozen_version_stay(pool):
    text = ratings(pool).replace("Ben,3", "Ben,0")
    item = applied(pool, text)
    project = pool.project
    version = draft(Round.objects.get())
    Query.objects.filter(project=project).update(source=None)
    freeze_version(version_id=version.pk, actor=lead_of(project), at=AT)

    assert "Handbook v1 has its grades, and a frozen version never changes." in refusal(item)


def test_a_round_that_is_being_opened_is_waited_for(pool):
    item = applied(pool)
    choice = choose_pairs(
        project=pool.project, snapshot=pool.snapshot, name="Big", actor=lead_of(pool.project), at=AT,
        pairs=list(pool.entries.values_list("query", "version")),
    )  # fmt: skip
    opening = Round.objects.create(
        project=pool.project, pool=choice, number=9, name="Ninth", created_by=lead_of(pool.project), created_at=AT
    )

    assert refusal(item) == f"{opening} is being opened, and reads which pairs have a grade. Wait until it is open."


def test_grades_that_were_carried_on_stay(pool):
    item = applied(pool)
    pair = pool.entries.order_by("pk").first()
    along = carry_along(
        snapshot=pool.snapshot, name="Along",
        grades=[GradeToCarry(pair.query_id, pair.version_id, 2, "", is_changed=True)],
        origin="Earlier texts", actor=lead_of(pool.project), at=AT,
    )  # fmt: skip

    assert refusal(item) == f"{along.name} has carried grades over since, for the same queries."


def test_nothing_is_decided_on_undone_grades(pool):
    item = applied(pool)
    round_ = Round.objects.get()
    undo(item)

    with pytest.raises(AdjudicationRefused, match="The import of these grades was undone"):
        decide_open(round_)


def test_no_page_offers_pairs_of_undone_grades_to_decide(pool, client):
    item = applied(pool)
    round_ = Round.objects.get()
    lead = lead_of(pool.project)
    [pair] = adjudicable(round_, lead)
    undo(item)
    client.force_login(lead)
    words = "The import of these grades was undone, so they count nowhere and need no decision."

    queue = client.get(reverse("judging:adjudicate", args=[pool.project.slug, round_.pk])).content.decode()
    one = client.get(reverse("judging:adjudicate-pair", args=[pool.project.slug, round_.pk, pair.entry_id]))
    rule = client.get(reverse("judging:settle", args=[pool.project.slug, round_.pk])).content.decode()

    assert adjudicable(Round.objects.get(), lead) == []
    assert words in queue
    assert (one.status_code, words in one.content.decode()) == (409, True)
    assert "Settle 1 pair" not in rule


def test_the_pool_of_undone_grades_is_in_no_list_and_its_page_says_why(pool, client):
    item = applied(pool)
    theirs = Round.objects.get().pool
    client.force_login(lead_of(pool.project))
    slug = pool.project.slug
    page = reverse("retrieval:pool", args=[slug, theirs.pk])
    before = client.get(page).content.decode()
    assert list(pools_in(pool.project)) == [theirs, pool]

    undo(item)

    after = client.get(page).content.decode()
    assert list(pools_in(pool.project)) == [pool]
    assert "Plan a judging round" in before
    assert "They stay on record and count nowhere." in after
    assert "Plan a judging round" not in after


def test_no_draft_takes_undone_grades(pool):
    item = applied(pool)
    round_ = Round.objects.get()
    undo(item)

    with pytest.raises(VersionRefused, match="The import of Theirs was undone, so its grades count nowhere"):
        draft(round_)


def test_the_database_holds_it(pool):
    item = applied(pool)
    judged, theirs = make_round(pool.project, pool=make_pool(pool.project)), Round.objects.get(name="Theirs")
    version = draft(theirs)
    version_rounds = type(version).rounds.through

    for change in (
        lambda: Round.objects.filter(pk=judged.pk).update(withdrawn_at=AT),
        lambda: Round.objects.filter(pk=theirs.pk).update(withdrawn_at=AT),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()

    version.rounds.clear()
    undo(item)
    for change in (
        lambda: Round.objects.filter(pk=theirs.pk).update(withdrawn_at=None),
        lambda: version_rounds.objects.create(version=version, round=theirs),
        lambda: Judgement.objects.filter(round=theirs).delete(),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_the_pages_say_what_undoing_does_and_what_became_of_the_grades(pool, client):
    item = applied(pool)
    round_ = Round.objects.get()
    client.force_login(lead_of(pool.project))
    url = reverse("corpus:import", args=[pool.project.slug, item.pk])
    before = client.get(url).content.decode()

    client.post(reverse("corpus:import-undo", args=[pool.project.slug, item.pk]))

    after = client.get(url).content.decode()
    page = client.get(reverse("judging:round", args=[pool.project.slug, round_.pk])).content.decode()
    rounds = client.get(reverse("judging:index", args=[pool.project.slug])).content.decode()
    assert "Possible until a version, another round or a decision uses its grades." in before
    assert "Its grades count nowhere. They stay on record." in after
    assert "They stay on record and count nowhere." in page
    assert "withdrawn" in rounds


def test_queries_that_came_with_the_grades_stay_and_the_page_says_so(pool, client):
    text = "query,page,grade\na new search,b00000,2\nanother search,b00001,1\n"
    item = applied(pool, text, "table")
    client.force_login(lead_of(pool.project))

    undo(item)

    page = client.get(reverse("corpus:import", args=[pool.project.slug, item.pk])).content.decode()
    assert "2 queries that came with them stay: words that were graded are fixed." in page
    assert Query.objects.filter(project=pool.project).count() == 4


def test_a_table_that_only_added_queries_is_undone_as_one_of_queries(pool):
    text = "query,page,grade\na new search,nowhere at all,2\n"
    item = applied(pool, text, "table")
    assert Query.objects.filter(text="a new search").exists()

    undo(item)

    assert not Query.objects.filter(text="a new search").exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    def test_a_draft_that_meets_an_undo_is_refused(self, pool):
        item = applied(pool)
        round_, gold_set = Round.objects.get(), make_gold_set(pool.project)

        _, refused = overlapping(lambda: undo(item), lambda: draft(round_, gold_set))

        assert "The import of Theirs was undone" in refused.sentence

    def test_an_undo_that_meets_a_draft_is_refused(self, pool):
        item = applied(pool)
        round_, gold_set = Round.objects.get(), make_gold_set(pool.project)

        version, refused = overlapping(lambda: draft(round_, gold_set), lambda: undo(item))

        assert refused.sentence == f"The draft {version} has its grades. Take the round out of the draft first."

    def test_a_round_that_meets_an_undo_judges_the_pairs(self, pool):
        item = applied(pool)

        _, round_ = overlapping(lambda: undo(item), lambda: make_round(pool.project, pool=pool))

        assert round_.seats.values("entry").distinct().count() == pool.entry_count

    def test_a_decision_that_meets_an_undo_is_refused(self, pool):
        item = applied(pool)
        round_ = Round.objects.get()

        _, refused = overlapping(lambda: undo(item), lambda: decide_open(round_))

        assert refused.code == "not_adjudicable"

    def test_an_undo_that_meets_a_decision_is_refused(self, pool):
        item = applied(pool)
        round_ = Round.objects.get()

        decision, refused = overlapping(lambda: decide_open(round_), lambda: undo(item))

        assert decision.grade == 3
        assert refused.sentence == "A lead has decided 1 of its pairs since, and decisions are not undone."

    def test_an_undo_that_meets_a_round_being_opened_is_refused(self, pool):
        item = applied(pool)

        round_, refused = overlapping(lambda: make_round(pool.project, pool=pool), lambda: undo(item))

        assert refused.sentence.startswith(f"{round_.name} left pairs out because they have a grade here")

    @pytest.mark.parametrize("is_undone_first", [True, False])
    def test_of_an_undo_and_pairs_settled_by_a_rule_the_later_is_refused(self, pool, is_undone_first):
        item = applied(pool, ratings(pool).replace("Ben,3", "Ben,1"))
        round_, lead = Round.objects.get(), lead_of(pool.project)
        seen = mark_of(trivial(round_, lead, ResolutionRule.LOWER))

        def settle():
            return settle_bulk(
                round_=round_, rule=ResolutionRule.LOWER, error_type="slip", adjudicator=lead, seen=seen, at=AT
            )

        acts = [lambda: undo(item), settle]
        _, refused = overlapping(*(acts if is_undone_first else reversed(acts)))

        assert refused.code == ("round_withdrawn" if is_undone_first else "import_not_undone")
        assert Adjudication.objects.exists() is not is_undone_first

    @pytest.mark.parametrize("is_undone_first", [True, False])
    def test_a_second_opinion_stands_beside_grades_that_count(self, pool, is_undone_first):
        item = applied(pool)
        text = ratings(pool).replace("Ana", "Cleo").replace("Ben", "Dan")
        other = imported(pool, text)

        def confirm():
            return imports.confirm_import(import_id=other.pk, actor=lead_of(pool.project), at=LATER)

        acts = [lambda: undo(item), confirm]
        _, second = overlapping(*(acts if is_undone_first else reversed(acts)))

        first_round, second_round = Round.objects.order_by("number")
        people = {person.name for person in people_of(second_round)}
        if is_undone_first:
            assert (second.state, first_round.withdrawn_at is None) == (ImportState.APPLIED, False)
            assert people == {"Cleo", "Dan"}
        else:
            assert refusals([second]) == [
                f"{second_round.name} has a second opinion beside its grades. Undo that import first."
            ]
            assert people == {"Ana", "Ben", "Cleo", "Dan"}


def test_every_table_that_names_a_round_is_its_own_or_asked_about():
    """Its own are seats, places, judgements, decisions; a pilot is of opened rounds. Think of each new table."""
    assert tables_that_name(Round) == {
        "goldsets.Version_rounds",
        "judging.Adjudication",
        "judging.HeldDecision",  # decides nothing
        "judging.Judgement",
        "judging.KeptPair",
        "judging.KnownAnswer",
        "judging.PilotDecision",
        "judging.RoundAnnotator",
        "judging.Seat",
        "judging.SecondLook",  # of rounds that are judged here
        "judging.UndecidedPair",  # of a round that is withdrawn, none counts
    }
    assert tables_that_name(Pool) == {
        "evaluation.RegressionNote",  # the pool that was made to judge a query again, never an imported one
        "judging.Round",
        "retrieval.PoolEntry",
        "retrieval.PoolQuery",
        "retrieval.PoolRun",
    }
