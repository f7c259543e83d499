"""Publishing a version of the guideline."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging.core import guidelines, keymap
from apps.judging.models import Guideline, KeyMap


class KeysRefused(Refusal):
    """This choice of keys is invalid. `faults` has a sentence for each act."""

    faults: dict[str, str]


@transaction.atomic
def choose_keys(*, person: User, keys: Mapping[str, str], digits_are_free: bool = False) -> dict[str, str]:
    """Store the keys that this person chose for acts of the judging screen, and return the key of every act.

    Other acts keep their key, unless it was given to another one. No event is recorded: keys are personal, and no grade
    depends on them.
    """
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    wanted = {name: keymap.tidy(key) for name, key in keys.items()}
    if faults := keymap.faults(wanted, digits_are_free=digits_are_free):
        refusal = KeysRefused(next(iter(faults.values())), code="keys_not_possible")
        refusal.faults = faults
        raise refusal
    row = KeyMap.objects.filter(person=person).first()
    used = set(wanted.values())
    unchanged = {name: key for name, key in (row.keys if row else {}).items() if name not in wanted and key not in used}
    chosen = unchanged | keymap.changed_keys(wanted)
    KeyMap.objects.update_or_create(person=person, defaults={"keys": chosen})
    return keymap.keys_of(chosen)


@transaction.atomic
def reset_keys(*, person: User) -> None:
    """Give every act its default key again."""
    KeyMap.objects.filter(person=person).delete()


class GuidelineRefused(Refusal):
    """A guideline does not define its grades well enough."""


@transaction.atomic
def publish_guideline(
    *, project: Project, actor: User, grades: list[guidelines.GradeText], markdown: str = "", at: datetime
) -> Guideline:
    """Publish the next version of the project's guideline. Earlier versions do not change.

    `grades` defines each grade of the scale, lowest first. Rejects a text equal to the latest version.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if reason := guidelines.fault(grades, project.grades):
        raise GuidelineRefused(reason, code="guideline_incomplete")
    latest = project.guidelines.order_by("-number").first()
    if latest and (latest.grades, latest.markdown) == (grades, markdown):
        raise GuidelineRefused("Nothing has changed since the latest version.", code="guideline_unchanged")
    number = (project.guidelines.aggregate(top=Max("number"))["top"] or 0) + 1
    guideline = Guideline.objects.create(
        project=project, number=number, markdown=markdown, grades=grades, published_by=actor, published_at=at
    )
    record(
        project=project,
        actor=actor,
        action="guideline.published",
        obj=guideline,
        before={"number": latest.number} if latest else None,
        after={"number": number},
        at=at,
    )
    return guideline
