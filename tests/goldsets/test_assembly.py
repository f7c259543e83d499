"""What a version gathers from its rounds: the grades, those carried over among them, and what ties items to a split."""

from collections import defaultdict

import pytest

from apps.corpus.models import Block, Document
from apps.goldsets.actions.versions import change_draft, discard_draft, freeze_version
from apps.goldsets.execution.freezing import query_types, split_facts
from apps.goldsets.rules import without_grades
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_checks import find_blockers, find_warnings
from apps.queries.models import Query
from apps.reports.presenters.version_reports.questions import basis_facts
from tests.factories import AT, make_project
from tests.goldsets.factories import Bench, draft, make_source
from tests.judging.factories import judge_all, make_pool, make_round, people_of
from tests.judging.same import carry, judged, judged_apart, make_same_pool
from tests.triples.factories import make_corpus, make_snapshot

pytestmark = pytest.mark.django_db


def test_grades_carried_over_say_so_and_give_way_to_judgements_of_the_pair_itself():
    pool = make_same_pool()
    first = judged(pool)
    carried = carry(pool)
    apart = judged_apart(pool, "a-near", 2)
    bench = Bench(pool.project, pool.snapshot, pool, first, make_source(pool.project))

    found = gather(draft(bench, rounds=[carried, apart, first]))

    assert {pair.place.outside_id: (pair.grade, pair.resolution) for pair in found.pairs} == {
        "a": (3, "single"),
        "a-exact": (3, "carried"),
        "a-near": (2, "single"),
        "b": (1, "single"),
        "b-exact": (1, "carried"),
        "c": (0, "single"),
    }
    assert found.unresolved == []


WORDS = ["keys", "doors", "gates", "guards", "lists", "yards", "fences", "lamps", "vaults", "floors", "stairs", "signs"]
RULES = {
    f"rules-{n}": " ".join(f"The {word} of hall {n} are counted by {name} {n}." for word in WORDS)
    for n, name in enumerate(["Ada", "Ben", "Cleo", "Dora", "Emil"])
}


def make_apart(texts, grade=3):
    """A bench whose blocks are each a document of its own, and where query n is answered by text n of them alone."""
    project = make_project()
    corpus = make_corpus(project)
    for name in texts:
        document = Document.objects.create(corpus=corpus, outside_id=f"{name}.md", title="Rules")
        Block.objects.create(corpus=corpus, outside_id=name, document=document)
    snapshot = make_snapshot(project, texts, corpus=corpus)
    pool = make_pool(project, queries=20, snapshot=snapshot)
    names = sorted(texts)
    round_ = make_round(project, pool=pool, annotators=1, overlap=0.0)
    number = dict(
        zip(pool.pool_queries.order_by("query_id").values_list("query_id", flat=True), range(20), strict=True)
    )
    judge_all(
        round_,
        people_of(round_)[0],
        lambda seat: grade * (names[number[seat.query_id] % len(names)] == seat.entry.version.block.outside_id),
    )
    return Bench(project, snapshot, pool, round_, make_source(project)), number


def test_queries_that_one_document_answers_or_nearly_the_same_documents_are_never_in_both_splits():
    copy = {"copy-of-0": f"{RULES['rules-0']} Ask at the gate."}
    bench, number = make_apart({**RULES, **copy})
    by_document = gather(draft(bench, group_by=["document"], test_share=0.5))
    change = {"snapshot": bench.snapshot, "rounds": [bench.round], "actor": bench.lead, "at": AT, "note": ""}
    by_hash = gather(
        change_draft(version_id=by_document.version.pk, group_by=["group"], test_share=0.5, seed=7, **change)
    )

    names = ["copy-of-0", *RULES]
    for found, is_whole in ((by_document, True), (by_hash, False)):
        sides = defaultdict(set)
        for query in found.queries.values():
            answer = names[number[query.pk] % len(names)]
            sides["rules-0" if answer == "copy-of-0" else answer].add(found.split_of_query(query))
        assert any(len(held) == 2 for held in sides.values()) is not is_whole
        assert set(found.splits.values()) == {"dev", "test"}
        assert found.leaks == []


@pytest.mark.parametrize(("grade", "together"), [(1, ["relevant"]), (2, ["document"]), (2, ["relevant", "group"])])
def test_a_draft_counts_and_names_documents_that_are_relevant_on_both_sides_until_they_are_kept_together(
    grade, together, client
):
    """At the grade from which measures count, whatever the draft keeps together; so does the version in all it says."""
    bench, number = make_apart(RULES, grade)
    own = ["group"] if grade == 2 else ["document", "group"]
    version = draft(bench, group_by=own, test_share=0.5)
    client.force_login(bench.lead)
    facts = split_facts(found := gather(version))
    warning = next(sentence for sentence in find_warnings(found) if "dev and for others in test" in sentence)

    sides = {(number[query.pk] % len(RULES), found.split_of_query(query)) for query in found.queries.values()}
    both = sorted(f"rules-{n}.md" for n, side in sides if side == "dev" and (n, "test") in sides)
    assert facts["leaks"] == 0
    assert facts["shared"] == {"documents": len(both), "passages": len(both), "from_grade": 1}
    relevant = "are relevant (grade 1 and above)"
    assert warning.startswith(f"{len(both)} documents {relevant} for queries in dev and for others in test")
    assert f"{', '.join(both)}. To prevent it, keep together" in warning
    words = f"{len(both)} documents and {len(both)} passages {relevant} in both dev and test"
    page = f"/p/{bench.project.slug}/versions/{version.gold_set.slug}/v{version.number}/"
    assert words in client.get(page).content.decode()

    change = {"snapshot": bench.snapshot, "rounds": [bench.round], "actor": bench.lead, "at": AT, "note": "", "seed": 0}
    version = change_draft(version_id=version.pk, group_by=together, test_share=0.5, **change)
    held = gather(version)
    assert set(held.splits.values()) == {"dev", "test"}
    assert split_facts(held)["shared"]["documents"] == 0
    assert not [sentence for sentence in find_warnings(held) if "dev and for others in test" in sentence]
    frozen = freeze_version(version_id=version.pk, actor=bench.lead, at=AT)
    none = "No document is relevant (grade 1 and above) in both dev and test"
    assert none in client.get(page).content.decode()
    assert ("On both sides", none[0].lower() + none[1:]) in basis_facts(frozen.manifest)
    assert "shared" not in without_grades(frozen.manifest)["splits"]


def test_each_type_of_query_has_its_share_of_test():
    bench, number = make_apart(RULES)
    for query in Query.objects.filter(pk__in=number):
        query.query_type = "head" if number[query.pk] < 14 else "tail"
        query.save()

    for seed in range(5):
        types = query_types(gather(version := draft(bench, test_share=0.3, seed=seed)))
        assert types == {"dev": {"head": 10, "tail": 4}, "test": {"head": 4, "tail": 2}}
        discard_draft(version_id=version.pk, actor=bench.lead, at=AT)


def test_queries_of_one_document_that_a_version_had_in_both_splits_are_a_leak_once_documents_are_kept_together():
    bench, number = make_apart(RULES)
    frozen = freeze_version(version_id=draft(bench, test_share=0.5).pk, actor=bench.lead, at=AT)
    later = gather(draft(bench, group_by=["document"], test_share=0.5))

    sides = defaultdict(set)
    for query, split in frozen.queries.values_list("query_id", "split"):
        sides[f"rules-{number[query] % len(RULES)}.md"].add(split)
    crossed = sorted(name for name, held in sides.items() if len(held) == 2)
    assert crossed
    assert sorted(leak.tie for leak in later.leaks) == [("document", name) for name in crossed]
    assert split_facts(later)["leaks"] == len(crossed)
    assert all("share the document “rules-" in blocker.sentence for blocker in find_blockers(later, [], at=AT))
