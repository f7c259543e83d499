"""Verification of the chains from the first link: whether every sealed record is unchanged."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from apps.accounts.models import Project
from apps.audit.execution import signed_checkpoints
from apps.audit.execution.sealing import GENESIS, chain_digest, chain_name, project_of, record_digest, unsealed
from apps.audit.execution.signed_checkpoints import ChainHead
from apps.audit.models import Chain, Link
from apps.audit.selectors.events import digest_checks, kind_named, kinds

BATCH = 500


@dataclass(frozen=True)
class Break:
    """The first broken link of a chain."""

    position: int
    kind: str
    record_id: int
    reason: str


@dataclass(frozen=True)
class ChainCheck:
    """The result of verifying one chain. `digest` is the head: stored elsewhere, it reveals a tail that was cut off.

    `faults` are sentences about frozen objects whose recomputed digests differ from the recorded ones.
    """

    name: str
    links: int
    unsealed: int
    digest: str
    broken: Break | None
    faults: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return self.broken is None and not self.faults


def verify_chain(project: Project | None) -> ChainCheck:
    """Recompute every digest of one chain, and of the frozen objects of its project.

    `project` None is the chain of records that belong to no project.
    """
    name = chain_name(project.pk if project else None)
    pending = count_unsealed(project)
    chain = Chain.objects.filter(name=name).first()
    if chain is None:
        return ChainCheck(name, 0, pending, GENESIS, _missing(name, project, pending), _faults_in(project))
    return replace(_checked(chain), unsealed=pending, faults=_faults_in(project))


def _checked(chain: Chain) -> ChainCheck:
    links, digest, broken = _walked(chain)
    if broken is None and (fault := signed_checkpoints.fault_of(chain)):
        broken = Break(links, "", 0, fault)
    return ChainCheck(chain.name, links, 0, digest, broken)


def first_break(chain: Chain) -> Break | None:
    """The first link that does not follow from the one before, or whose record was changed; its signature apart."""
    return _walked(chain)[2]


def _walked(chain: Chain) -> tuple[int, str, Break | None]:
    links, digest, broken = _walk(chain)
    if broken is None and (links, digest) != (chain.length, chain.digest):
        broken = Break(links + 1, "", 0, f"the head counts {chain.length:,} links, the chain has {links:,}")
    return links, digest, broken


def is_passed(name: str, head: ChainHead) -> bool:
    """Whether the chain of this name contains a head that somebody stored."""
    chain = Chain.objects.filter(name=name).first()
    return head.length == 0 if chain is None else signed_checkpoints.has_link(chain, head)


def _faults_in(project: Project | None) -> list[str]:
    return [] if project is None else [fault for check in digest_checks() for fault in check(project)]


def _missing(name: str, project: Project | None, pending: int) -> Break | None:
    noted = signed_checkpoints.noted_head(name)
    if noted is not None:
        return Break(0, "", 0, f"the chain is missing, and had {noted.length:,} links")
    return None if pending or not _is_expected(project) else Break(0, "", 0, "the chain is missing")


def count_unsealed(project: Project | None) -> int:
    return sum(unsealed(kind).filter(**{kind.project_path: project}).count() for kind in kinds())


def _is_expected(project: Project | None) -> bool:
    return any(kind.model._default_manager.filter(**{kind.project_path: project}).exists() for kind in kinds())


def _walk(chain: Chain) -> tuple[int, str, Break | None]:
    digest, position = GENESIS, 0
    for batch in _batches(chain):
        rows = _rows_of(batch)
        for link in batch:
            position += 1
            digest = chain_digest(digest, position, link.record_digest)
            reason = _fault(chain, link, position, digest, rows)
            if reason:
                return position - 1, digest, Break(position, link.kind, link.record_id, reason)
    return position, digest, None


def _fault(chain: Chain, link: Link, position: int, digest: str, rows: dict) -> str:
    if link.position != position:
        return f"link {position:,} is missing"
    kind = kind_named(link.kind)
    if kind is None:
        return f"nobody here knows records of the kind “{link.kind}”"
    row = rows[link.kind].get(link.record_id)
    if row is None:
        return "the record is gone"
    if record_digest(kind, row, project_of(kind, row)) != link.record_digest:
        return "the record has been changed"
    if project_of(kind, row) != chain.project_id:
        return "the record belongs to another project"
    if link.chain_digest != digest:
        return "the link does not follow from the one before"
    return ""


def _batches(chain: Chain) -> Iterator[list[Link]]:
    after = 0
    while batch := list(chain.links.filter(position__gt=after).order_by("position")[:BATCH]):
        yield batch
        after = batch[-1].position


def _rows_of(batch: list[Link]) -> dict[str, dict[int, Any]]:
    ids: dict[str, list[int]] = defaultdict(list)
    for link in batch:
        ids[link.kind].append(link.record_id)
    rows_by_kind: dict[str, dict[int, Any]] = {}
    for name, keys in ids.items():
        kind = kind_named(name)
        if kind is not None:
            related = kind.project_path.rpartition("__")[0]
            rows = kind.model._default_manager.filter(pk__in=keys)
            rows_by_kind[name] = {row.pk: row for row in (rows.select_related(related) if related else rows)}
    return rows_by_kind
