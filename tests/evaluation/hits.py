"""Runs with chosen ranks of the expected blocks, and their scores by hit rules."""

from apps.evaluation.actions.scoring import request_evaluation
from apps.retrieval.actions.intake import push_run
from apps.triples.selectors.triples import asked_queries
from tests.factories import AT, lead_of
from tests.retrieval.factories import import_lines, trec
from tests.running_jobs import run_jobs


def run_that(version, tag, places):
    """A run that returns each triple's expected block at the place given, others before it; 0 never returns it."""
    rows = []
    for triple in version.triples.order_by("label"):
        (query,) = asked_queries([triple.revision_id]).values()
        expected = triple.content["blocks"][0]["block_id"]
        others = [
            entry.block.outside_id
            for entry in version.snapshot.entries.select_related("block").order_by("position")
            if entry.block.outside_id != expected
        ]
        place = places[triple.label]
        listed = [*others[: place - 1], expected, *others[place - 1 :]] if place else others
        rows += [(query.outside_id, block, 1.0 - rank / 100) for rank, block in enumerate(listed)]
    return import_lines(version.gold_set.project, version.snapshot, trec(rows, tag)).run


def run_that_cuts(version):
    """A run that returns passages of its own: for each question a piece of some block, without our id."""
    rows = []
    entries = list(version.snapshot.entries.select_related("version", "block__document").order_by("position"))
    for triple in version.triples.order_by("label"):
        (query,) = asked_queries([triple.revision_id]).values()
        expected = triple.content["blocks"][0]["block_id"]
        other = next(entry for entry in entries if entry.block.outside_id != expected)
        piece = " ".join(other.version.text.split()[:8])
        rows.append({"qid": query.outside_id, "rank": 1, "document_id": other.block.document.outside_id, "text": piece})
    return push_run(
        project=version.gold_set.project,
        snapshot=version.snapshot,
        results=rows,
        details={"system": "Cutter", "tag": "cut", "note": "", "commit": ""},
        skip_unknown=False,
        at_once=True,
        actor=lead_of(version.gold_set.project),
        at=AT,
    ).run


def places(version, *ranks):
    return dict(zip(version.triples.order_by("label").values_list("label", flat=True), ranks, strict=True))


def score(version, run, hit="block", **options):
    project = version.gold_set.project
    evaluation = request_evaluation(
        project=project, run_id=run.pk, version_id=version.pk, hit=hit, actor=lead_of(project), at=AT, **options
    )
    run_jobs()
    evaluation.refresh_from_db()
    assert evaluation.is_scored, evaluation.job.error
    return evaluation
