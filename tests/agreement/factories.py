"""Grades and verdicts of people who differ, given through the real actions."""

import random

from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging.models import Round
from apps.review.enums import Choice
from tests.factories import make_member, make_project
from tests.judging.factories import judge_all, make_pool, make_round
from tests.review.factories import answer_both, make_in_review
from tests.triples.factories import make_snapshot

NAMES = ("Mara Quist", "Tobias Engel", "Ines Okonjo-Vale")


def make_noisy_round(project: Project, *, queries: int = 8, share: float = 0.25, seed: int = 1, pool=None) -> Round:
    """Three annotators grade every pair; each slips on a `share` of them."""
    annotators = [make_member(project, Role.ANNOTATOR, name=name) for name in NAMES]
    pool = pool or make_pool(project, queries=queries, snapshot=make_snapshot(project))
    round_ = make_round(project, pool=pool, annotators=annotators, overlap=1.0, judges=3)
    dice = random.Random(seed)
    for person in annotators:
        judge_all(round_, person, lambda seat: slip(seat.entry_id % 4, dice, share))
    return round_


def slip(grade: int, dice: random.Random, share: float) -> int:
    return min(3, max(0, grade + dice.choice((-1, 1)))) if dice.random() < share else grade


def make_reviewed(project: Project, *, both: int = 3, one: int = 1, none: int = 0) -> None:
    """Triples by one author: `both` confirmed twice, `one` confirmed and flagged, `none` flagged twice."""
    for name in ("Petra Lomas", "Sef Arden"):
        make_member(project, Role.REVIEWER, name=name)
    author = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
    plan = [(Choice.CONFIRM, Choice.CONFIRM)] * both
    plan += [(Choice.CONFIRM, Choice.FLAG)] * one + [(Choice.FLAG, Choice.FLAG)] * none
    for answers in plan:
        answer_both(make_in_review(project, author=author), *answers)


def make_team(**reviewed: int) -> Project:
    project = make_project()
    make_noisy_round(project)
    make_reviewed(project, **reviewed)
    return project
