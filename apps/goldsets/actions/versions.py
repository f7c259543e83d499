"""Create gold sets and their signing key; draft, change, freeze and release versions; log exports and looks at test."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django.urls import reverse
from django.utils.text import slugify

from apps.accounts.core.encryption import seal
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.goldsets import rules
from apps.goldsets.core.signing import new_key, public_key_of
from apps.goldsets.enums import SEND_GRADES, GroupBy, Split, SplitBy, VersionState, VersionStep
from apps.goldsets.execution import public_jobs
from apps.goldsets.execution.exporting import place_of
from apps.goldsets.execution.freezing import copy_items, items_digest, manifest_digest, manifest_of
from apps.goldsets.models import GoldSet, SigningKey, Version
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_checks import find_blockers
from apps.goldsets.selectors.freeze_policy import find_lead_checks
from apps.goldsets.selectors.manifest_facts import number_of
from apps.goldsets.selectors.versions import TEST_SEEN, traced_in, versions_due
from apps.goldsets.workflow import move
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.notifications import notify
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job
from apps.judging.actions.rounds import locked_rounds
from apps.judging.models import Guideline, Round
from apps.queries.selectors import lock_sources
from apps.querylogs.core.trace_servers import SERVERS
from apps.triples.selectors.triples import lock_accepted


@transaction.atomic
def make_signing_key(*, project: Project, actor: User, at: datetime) -> SigningKey:
    """Make a key, which signs every export from now on. An earlier one ends: what it signed stays signed by it."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    before = SigningKey.objects.filter(project=project, ended_at=None).first()
    if before is not None:
        before.ended_at = at
        before.save(update_fields=["ended_at"])
    private_key = new_key()
    key = SigningKey.objects.create(
        project=project,
        public_key=public_key_of(private_key),
        sealed=seal(private_key, key=settings.SECRET_KEY, place=place_of(project)),
        made_by=actor,
        made_at=at,
    )
    record(
        project=project,
        actor=actor,
        action="signing_key.made",
        obj=key,
        before={"public_key": before.public_key} if before else {},
        after={"public_key": key.public_key},
        at=at,
    )
    return key


class VersionRefused(Refusal):
    """The state or the items of the version do not allow the step."""


class GoldSetRefused(Refusal):
    """The gold set cannot be created."""


@transaction.atomic
def create_gold_set(*, project: Project, name: str, actor: User, at: datetime, description: str = "") -> GoldSet:
    name = " ".join(name.split())
    slug = slugify(name)[:60].strip("-")
    if not slug:
        raise GoldSetRefused("A gold set needs a name with letters or digits.", code="gold_set_name")
    if GoldSet.objects.filter(project=project, slug=slug).exists():
        raise GoldSetRefused(f"There is a gold set called “{slug}” already.", code="gold_set_exists")
    gold_set = GoldSet.objects.create(
        project=project, slug=slug, name=name, description=description, created_by=actor, created_at=at
    )
    record(project=project, actor=actor, action="gold_set.created", obj=gold_set, after={"name": name}, at=at)
    return gold_set


@transaction.atomic
def draft_version(
    *,
    gold_set_id: int,
    snapshot: Snapshot,
    rounds: Sequence[Round],
    actor: User,
    at: datetime,
    test_share: float = 0.5,
    seed: int = 0,
    group_by: Sequence[str] = (GroupBy.GROUP,),
    split_by: str = SplitBy.GROUP,
    note: str = "",
) -> Version:
    """Create the draft of a gold set's next version. A gold set has at most one draft."""
    gold_set = GoldSet.objects.select_for_update().select_related("project").get(pk=gold_set_id)
    rounds = _locked_rounds(rounds)
    if reason := rules.draft_refusal(gold_set, snapshot, rounds):
        raise VersionRefused(reason, code="draft_refused")
    last = gold_set.versions.aggregate(last=Max("number"))["last"] or 0
    version = Version.objects.create(
        gold_set=gold_set,
        number=last + 1,
        snapshot=snapshot,
        guideline=_guideline_of(rounds),
        test_share=test_share,
        seed=seed,
        group_by=sorted(set(group_by)),
        split_by=split_by,
        note=note,
        created_by=actor,
        created_at=at,
    )
    version.rounds.set(rounds)
    _log(version, "version.drafted", actor, at, after=_inputs(version, rounds))
    return version


@transaction.atomic
def change_draft(
    *,
    version_id: int,
    snapshot: Snapshot,
    rounds: Sequence[Round],
    actor: User,
    at: datetime,
    test_share: float,
    seed: int,
    group_by: Sequence[str],
    note: str,
    split_by: str = SplitBy.GROUP,
) -> Version:
    version = _locked(version_id)
    rounds = _locked_rounds(rounds)
    reason = rules.change_refusal(version) or rules.inputs_refusal(version.gold_set, snapshot, rounds)
    if reason:
        raise VersionRefused(reason, code="change_refused")
    before = _inputs(version, list(version.rounds.all()))
    version.snapshot, version.guideline = snapshot, _guideline_of(rounds)
    version.test_share, version.seed, version.note = test_share, seed, note
    version.group_by, version.split_by = sorted(set(group_by)), split_by
    version.save(update_fields=["snapshot", "guideline", "test_share", "seed", "group_by", "split_by", "note"])
    version.rounds.set(rounds)
    _log(version, "version.changed", actor, at, before=before, after=_inputs(version, rounds))
    return version


@transaction.atomic
def discard_draft(*, version_id: int, actor: User, at: datetime) -> None:
    version = _locked(version_id)
    if reason := rules.change_refusal(version):
        raise VersionRefused(reason, code="discard_refused")
    _log(version, "version.discarded", actor, at, before=_inputs(version, list(version.rounds.all())))
    version.rounds.clear()
    version.delete()


@transaction.atomic
def freeze_version(*, version_id: int, actor: User, at: datetime, changelog: str = "") -> Version:
    """Copy every item into the version and freeze it. Raises VersionRefused naming each item that blocks it.

    Without a `changelog` it has the one that Karat drafts from what changed.
    """
    version = _locked(version_id)
    if reason := rules.change_refusal(version):
        raise VersionRefused(reason, code="freeze_refused")
    _lock_inputs(version)
    gathered = gather(version)
    checks = find_lead_checks(gathered)
    if reason := rules.freeze_refusal(version, find_blockers(gathered, checks, at=at)):
        raise VersionRefused(reason, code="freeze_refused")
    numbered = number_of(gathered)
    if changelog.strip():
        numbered = numbered._replace(changelog=changelog.strip())
    copy_items(gathered)
    digest = items_digest(version)
    manifest = manifest_of(gathered, numbered, checks, digest=digest, at=at)
    return move(
        version,
        VersionStep.FREEZE,
        actor=actor,
        at=at,
        facts={"manifest": manifest_digest(manifest)},
        digest=digest,
        manifest=manifest,
        frozen_by=actor,
        frozen_at=at,
    )


@transaction.atomic
def release_version(*, version_id: int, actor: User, at: datetime) -> Version:
    """Release a frozen version; the one released before it is superseded."""
    gold_set_id = Version.objects.values_list("gold_set_id", flat=True).get(pk=version_id)
    GoldSet.objects.select_for_update().get(pk=gold_set_id)
    version = _locked(version_id)
    if reason := rules.release_refusal(version):
        raise VersionRefused(reason, code="release_refused")
    for former in _versions().filter(gold_set=gold_set_id, state=VersionState.RELEASED):
        move(former, VersionStep.SUPERSEDE, actor=actor, at=at)
    released = move(version, VersionStep.RELEASE, actor=actor, at=at, released_by=actor, released_at=at)
    for act in public_jobs.on_release:
        act(version=released, actor=actor, at=at)
    _tell(released, actor, at)
    return released


def _tell(version: Version, actor: User, at: datetime) -> None:
    """Notify everybody else of the project, and the webhooks."""
    project, gold_set = version.gold_set.project, version.gold_set
    path = reverse("goldsets:version", args=[project.slug, gold_set.slug, version.number])
    sentence, key = f"{actor} released {version}.", f"version:{version.pk}:released"
    for person in members_of(project).exclude(pk=actor.pk).order_by("pk"):
        notify(person=person, project=project, kind="version.released", sentence=sentence, path=path, key=key, at=at)
    facts = {"gold_set": gold_set.slug, "version": version.number, "digest": version.digest, "url": absolute(path)}
    post_to_webhooks(project=project, event=WebhookEvent.RELEASED, facts=facts, at=at)


@periodic_task("goldsets.due", every=timedelta(hours=6))
def tell_of_due_sets(at: datetime) -> None:
    """Remind leads, once a release, of the gold sets that are due for a refresh."""
    for project in Project.objects.not_deleted().filter(archived_at=None).order_by("pk"):
        for version in versions_due(project, at):
            _remind(project, version, at)


@transaction.atomic
def _remind(project: Project, version: Version, at: datetime) -> None:
    released = f"{version.released_at:%Y-%m-%d}"
    sentence = f"{version} was released on {released} and is due for a refresh: new queries, a newer snapshot."
    path = reverse("goldsets:version", args=[project.slug, version.gold_set.slug, version.number])
    key = f"version:{version.pk}:due"
    for lead in members_of(project, Role.LEAD):
        notify(person=lead, project=project, kind="version.due", sentence=sentence, path=path, key=key, at=at)


@transaction.atomic
def log_export(
    *, version: Version, actor: User | None, formats: Sequence[str], splits: Collection[str], at: datetime
) -> None:
    """Record who exported which split of a version. A file with test items is a look at them."""
    _log(version, "version.exported", actor, at, after={"formats": list(formats), "splits": sorted(splits)})
    if Split.TEST in splits:
        log_test_look(version=version, actor=actor, what=f"export as {', '.join(formats)}", at=at)


@transaction.atomic
def request_sending(
    *,
    version: Version,
    server: str,
    address: str,
    public_key: str,
    secret: str,
    answers: bool,
    actor: User,
    at: datetime,
) -> Job:
    """Queue a job that sends the grades of dev to the traces that its queries are from. Raises VersionRefused.

    `secret` is the name of a secret of the project; with `answers` the pseudonyms of the judges go along.
    """
    VersionRefused.raise_for(rules.sending_refusal(version, has_traces=traced_in(version).exists()), code="no_traces")
    _log(version, "version.grades_sent", actor, at, after={"server": server, "address": address, "split": Split.DEV})
    where = {"server": server, "address": address, "user": public_key, "secret": secret}
    params = {"version_id": version.pk, "answers": answers, **where}
    title = f"Send the grades of {version} to {SERVERS[server]}"[:200]
    project = version.gold_set.project
    return enqueue(kind=SEND_GRADES, params=params, project=project, actor=actor, at=at, title=title)


@transaction.atomic
def log_test_look(*, version: Version, actor: User | None, what: str, at: datetime) -> None:
    """Record a look at sealed test items, or at their scores by query. `what` names the page."""
    _log(version, TEST_SEEN, actor, at, after={"what": what, "split": Split.TEST})


def _log(version: Version, action: str, actor: User | None, at: datetime, **values: dict[str, Any]) -> None:
    record(project=version.gold_set.project, actor=actor, action=action, obj=version, at=at, **values)


def _versions() -> QuerySet[Version]:
    return Version.objects.select_for_update(of=("self",)).select_related(
        "gold_set__project", "snapshot__corpus", "guideline"
    )


def _locked(version_id: int) -> Version:
    """The version, read after its row is locked: a joined read that waits for the lock returns rows from before it."""
    if not list(Version.objects.select_for_update().filter(pk=version_id).values_list("pk", flat=True)):
        raise VersionRefused("This draft was discarded in the meantime. Nothing was done.", code="discarded")
    return _versions().get(pk=version_id)


def locked_version(version_id: int) -> Version:
    """The version once nobody else draws from it or numbers its slices. Call inside a transaction."""
    list(Version.objects.select_for_update(no_key=True).filter(pk=version_id).values_list("pk", flat=True))
    return Version.objects.select_related("gold_set__project", "snapshot__corpus", "guideline").get(pk=version_id)


def _locked_rounds(rounds: Sequence[Round]) -> list[Round]:
    """The rounds as they are now, locked so that their grades are not withdrawn before the version has them."""
    ids = [round_.pk for round_ in rounds]
    found = Round.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    by_id = {round_.pk: round_ for round_ in found.select_related("pool__snapshot", "guideline")}
    return [by_id[pk] for pk in ids]


def _lock_inputs(version: Version) -> None:
    """Lock permissions, grades, decisions and accepted triples until the version is frozen.

    In the order of a revocation: the sources before what rests on them.
    """
    lock_sources(version.gold_set.project)
    locked_rounds(version.rounds.values_list("pk", flat=True))
    lock_accepted(version.gold_set.project)


def _guideline_of(rounds: Sequence[Round]) -> Guideline | None:
    """The guideline of the latest round with one."""
    guided = [round_ for round_ in rounds if round_.guideline_id is not None]
    return max(guided, key=lambda round_: round_.number).guideline if guided else None


def _inputs(version: Version, rounds: Sequence[Round]) -> dict[str, Any]:
    return {
        "snapshot": version.snapshot.name,
        "rounds": [round_.name for round_ in rounds],
        "test_share": version.test_share,
        "seed": version.seed,
        "group_by": version.group_by,
        "split_by": version.split_by,
        "note": version.note,
    }
