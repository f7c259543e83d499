"""Creating the rows of systems and runs, with their audit events."""

import re
from datetime import datetime
from itertools import chain, count
from typing import Any

from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.corpus.models import Snapshot
from apps.retrieval.enums import Returns
from apps.retrieval.models import Run, System
from apps.retrieval.rules import RunRefused, SystemRefused, check_lengths

NUMBERED = re.compile(r"@[0-9]+\Z")
"""The number at the end of a tag that tells a run from earlier ones."""


def add_run(
    system: System,
    snapshot: Snapshot,
    depth: int,
    tag: str,
    note: str,
    commit: str,
    actor: User,
    at: datetime,
    origin: str = "",
    returns: str = Returns.BLOCKS,
) -> Run:
    """Create a run without rankings. An empty tag is replaced by a free one. Raises RunRefused and TooLong."""
    check_lengths(tag=tag.strip(), commit=commit.strip())
    tag = _free_tag(system, snapshot, tag.strip())
    run = Run.objects.create(
        project_id=system.project_id,
        system=system,
        snapshot=snapshot,
        tag=tag,
        depth=depth,
        note=note.strip(),
        commit=commit.strip(),
        origin=origin,
        returns=returns,
        created_by=actor,
        created_at=at,
    )
    after = {"tag": tag, "system": system.name, "snapshot": snapshot.digest, "depth": depth, "state": run.state}
    record(project=run.project, actor=actor, action="run.requested", obj=run, after=after, at=at)
    return run


def check_tag(project_id: int, tag: str) -> None:
    """Raises RunRefused for a tag that no new run can have."""
    if any(letter.isspace() for letter in tag):
        raise RunRefused(f"The tag “{tag}” contains a space. Use one word, as run files do.", code="bad_tag")
    if (free := next_tag(project_id, tag)) != tag:
        sentence = f"There is already a run called {tag}. Choose another tag, such as {free}."
        raise RunRefused(sentence, code="tag_taken")


def next_tag(project_id: int, tag: str) -> str:
    """`tag`, or when a run has it, the first free one of `tag@2`, `tag@3` and so on."""
    stem = NUMBERED.sub("", tag)
    taken = set(Run.objects.filter(project_id=project_id, tag__startswith=stem).values_list("tag", flat=True))
    numbered = (f"{stem}@{number}" for number in count(2))
    return next(one for one in chain([tag], numbered) if one not in taken)


def _free_tag(system: System, snapshot: Snapshot, wanted: str) -> str:
    """`wanted`, or RunRefused. Without it, a tag made of system and snapshot, with a number when it is taken."""
    runs = Run.objects.filter(project_id=system.project_id)
    if wanted:
        check_tag(system.project_id, wanted)
        return wanted
    stem = f"{slugify(system.name)[:100] or 'run'}@{snapshot.number}"
    taken = set(runs.filter(tag__startswith=stem).values_list("tag", flat=True))
    numbered = (f"{stem}.{number}" for number in count(2))
    return next(tag for tag in chain([stem], numbered) if tag not in taken)


def add_system(
    project: Project,
    name: str,
    kind: str,
    config: dict[str, Any],
    actor: User,
    at: datetime,
    settings: dict[str, Any] | None = None,
) -> System:
    """Create a system. `settings` are stored in the configuration but are not part of its identity.

    Raises SystemRefused for a missing or taken name and for the configuration of an existing system.
    """
    if not name:
        raise SystemRefused("A system needs a name.", code="name_missing")
    check_lengths(name=name)
    if System.objects.filter(project=project, name=name).exists():
        raise SystemRefused(f"There is already a system called {name}.", code="name_taken")
    digest = digest_of({"kind": kind, "config": config})
    if twin := System.objects.filter(project=project, digest=digest).first():
        raise SystemRefused(f"{twin.name} already has exactly this configuration.", code="system_exists")
    system = System.objects.create(
        project=project,
        name=name,
        kind=kind,
        config={**config, **(settings or {})},
        digest=digest,
        created_by=actor,
        created_at=at,
    )
    after = {"name": name, "kind": kind, "digest": digest}
    record(project=project, actor=actor, action="system.created", obj=system, after=after, at=at)
    return system
