"""Gates on scenes of scores, made by the real actions, and their pages as words."""

from django.urls import reverse

from apps.gates.actions import create_gate
from apps.gates.models import Gate
from tests.evaluation.factories import Scene
from tests.factories import AT

GOOD_ENOUGH = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9}


def add_gate(scene: Scene, facts: dict | None = None, *, split: str = "", baseline: str = "", **changes) -> Gate:
    """A gate for the system of the scene's first run; `baseline` is the tag of a run."""
    return create_gate(
        gold_set=scene.version.gold_set,
        system_id=next(iter(scene.runs.values())).system_id,
        facts={**GOOD_ENOUGH, **(facts or {}), **changes},
        split=split,
        baseline_id=scene.runs[baseline].pk if baseline else None,
        actor=scene.lead,
        at=AT,
    )


def url(scene: Scene, name: str, *args: object, side: str = "gates") -> str:
    return reverse(f"{side}:{name}", args=[scene.project.slug, *args])


def words(response) -> str:
    return " ".join(response.content.decode().split()).replace("\N{NO-BREAK SPACE}", " ")
