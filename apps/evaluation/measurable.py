"""Which measures a version can be scored with: those that read grades alone, on a scale that its grades keep to."""

from collections.abc import Iterable

from django.db.models import Max

from apps.goldsets.models import Version, VersionGrade
from apps.metrics.measures import GRADES_ALONE, REGISTRY, Measure, parse_measures, refuse_above, refuse_unmet
from apps.metrics.measures.notation import MeasureError

MOST_LETTERS = 80
ONLY_GRADES = "A version holds grades alone; `karat score` reads the rest from files."


def names_for_versions() -> list[str]:
    """The measures that any version can be scored with."""
    return [entry.name for entry in REGISTRY.values() if entry.needs == GRADES_ALONE]


def version_measures(text: str) -> tuple[Measure, ...]:
    """The measures of a list, each once. Raises MeasureError for one that no version can be scored with."""
    measures = parse_measures(text)
    refuse_unmet(measures, GRADES_ALONE, ONLY_GRADES)
    for measure in measures:
        if len(str(measure)) > MOST_LETTERS:
            raise MeasureError(f"{measure} is longer than {MOST_LETTERS} characters, the most that Karat keeps.")
    return measures


def grades_refusal(measures: Iterable[Measure], version: Version) -> str | None:
    """Why the grades of the version are off the scale of a measure."""
    highest = VersionGrade.objects.filter(query__version=version).aggregate(highest=Max("grade"))["highest"]
    try:
        for measure in measures:
            refuse_above(measure, highest or 0)
    except MeasureError as fault:
        return str(fault)
    return None
