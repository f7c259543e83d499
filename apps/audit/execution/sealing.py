"""The sealer: adds new records to the chains, in small batches, after their commit.

Writing a record never touches the chain. The sealer stores the last key it has seen and also reads some keys before it,
because keys are assigned before their transactions commit and so may appear out of order.
"""

import json
import logging
from collections import defaultdict, namedtuple
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, JSONField, Model, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from apps.audit.execution import signed_checkpoints
from apps.audit.execution.signed_checkpoints import ChainHead
from apps.audit.models import Chain, Link, SealMark
from apps.audit.selectors.events import SealedKind, kinds
from apps.common.database.bulk import insert_rows
from apps.common.digests import digest_of, sha256_hex

log = logging.getLogger(__name__)

BATCH = 2_000
LOOK_BACK = 5_000
GENESIS = digest_of("karat audit chain")
SITE = "site"
LINK_COLUMNS = ("chain_id", "position", "kind", "record_id", "record_digest", "chain_digest")


class SealedRecord(NamedTuple):
    kind: str
    record_id: int
    project_id: int | None
    digest: str


def seal_all(*, from_the_start: bool = False) -> int:
    """Seal every unsealed record and return their number.

    `from_the_start` reads all records instead of the latest ones; a worker does so once when it starts.
    """
    return sum(seal_kind(kind, from_the_start=from_the_start) for kind in kinds())


def seal_kind(kind: SealedKind, *, from_the_start: bool = False) -> int:
    mark = SealMark.objects.filter(kind=kind.name).values_list("record_id", flat=True).first() or 0
    after = 0 if from_the_start else max(0, mark - LOOK_BACK)
    sealed = 0
    while True:
        lengths = dict(Chain.objects.values_list("name", "length"))
        if not (batch := _read(kind, after)):
            return sealed
        sealed += _seal_batch(batch, lengths)
        after = batch[-1].record_id
        _advance(kind.name, after)


def unsealed(kind: SealedKind, *, after: int = 0) -> QuerySet:
    """Records of this kind without a link and with a key above `after`."""
    links = Link.objects.filter(kind=kind.name, record_id=OuterRef("pk"))
    return kind.model._default_manager.filter(~Exists(links), pk__gt=after)


def has_unsealed() -> bool:
    """Whether the sealer has work. Cheap: reads only the records that the sealer would read."""
    marks = dict(SealMark.objects.values_list("kind", "record_id"))
    return any(unsealed(kind, after=max(0, marks.get(kind.name, 0) - LOOK_BACK)).exists() for kind in kinds())


def record_digest(kind: SealedKind, row: Any, project_id: int | None) -> str:
    """The digest of a record, given as an object or as its columns by name."""
    return digest_of([kind.name, row.pk, project_id, kind.payload(row)])


def chain_digest(previous: str, position: int, digest: str) -> str:
    """The digest of the canonical JSON of a list of the three, written out: two of them are hexadecimal."""
    return sha256_hex(f'["{previous}",{position},"{digest}"]'.encode())


def chain_name(project_id: int | None) -> str:
    return SITE if project_id is None else f"project-{project_id}"


def _read(kind: SealedKind, after: int) -> list[SealedRecord]:
    """The next records, read as rows of values: to make a model of each would take longer than its digest."""
    rows = unsealed(kind, after=after).order_by("pk").annotate(sealed_in=F(f"{kind.project_path}_id"))
    return [
        SealedRecord(kind.name, row.pk, row.sealed_in, record_digest(kind, row, row.sealed_in))
        for row in _rows(kind.model, rows[:BATCH])
    ]


def _rows(model: type[Model], rows: QuerySet) -> Iterator[Any]:
    """The rows by the names of their columns. JSON is parsed once for all that have the same."""
    fields = model._meta.concrete_fields
    texts = {field.attname: f"{field.attname}_text" for field in fields if isinstance(field, JSONField)}
    names = [field.attname for field in fields]
    make: Any = namedtuple  # of names that are known only here
    shape = make("shape", ["pk", "sealed_in", *names])
    columns = [texts.get(name, name) for name in names]
    parsed = lru_cache(_value)
    places = [place for place, name in enumerate(names, 2) if name in texts]
    rows = rows.annotate(**{text: Cast(name, TextField()) for name, text in texts.items()})
    for values in rows.values_list("pk", "sealed_in", *columns):
        row = list(values)
        for place in places:
            row[place] = parsed(row[place])
        yield shape._make(row)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def project_of(kind: SealedKind, row: Model) -> int | None:
    *path, last = kind.project_path.split("__")
    for name in path:
        row = getattr(row, name)
    return getattr(row, f"{last}_id")


def _seal_batch(batch: list[SealedRecord], lengths: dict[str, int]) -> int:
    by_project: dict[int | None, list[SealedRecord]] = defaultdict(list)
    for record in batch:
        by_project[record.project_id].append(record)
    return sum(
        _append(project_id, records, lengths.get(chain_name(project_id), 0))
        for project_id, records in by_project.items()
    )


@transaction.atomic
def _append(project_id: int | None, records: list[SealedRecord], length: int) -> int:
    """Seal the records, which were read after the chain had this length."""
    name = chain_name(project_id)
    Chain.objects.get_or_create(name=name, defaults={"project_id": project_id, "digest": GENESIS})
    chain = Chain.objects.select_for_update().get(name=name)
    fault = signed_checkpoints.fault_of(chain)
    fresh = _without_sealed(records, chain, length)
    links = []
    for record in fresh:
        chain.length += 1
        chain.digest = chain_digest(chain.digest, chain.length, record.digest)
        links.append((chain.pk, chain.length, record.kind, record.record_id, record.digest, chain.digest))
    insert_rows(Link, LINK_COLUMNS, links)
    _close(chain, fault)
    return len(links)


def _close(chain: Chain, fault: str | None) -> None:
    """Sign the new head and note it outside. With a fault, the head stays unsigned, so that the fault stays visible."""
    if fault is None:
        signed_checkpoints.sign(chain)
        head = ChainHead(chain.length, chain.digest)
        transaction.on_commit(lambda: signed_checkpoints.note(chain.name, head), robust=True)
    else:
        log.error("The audit chain %s was changed outside of Karat: %s. Run karat verify-audit.", chain.name, fault)
    chain.save(update_fields=["length", "digest", "signature"])


def _without_sealed(records: list[SealedRecord], chain: Chain, length: int) -> Iterable[SealedRecord]:
    """Drop records that another sealer has sealed between our read and our lock: their links are beyond that length."""
    added = set(Link.objects.filter(chain=chain, position__gt=length).values_list("kind", "record_id"))
    return [record for record in records if (record.kind, record.record_id) not in added] if added else records


def _advance(kind: str, record_id: int) -> None:
    mark, _ = SealMark.objects.get_or_create(kind=kind)
    if mark.record_id < record_id:
        SealMark.objects.filter(pk=mark.pk, record_id__lt=record_id).update(record_id=record_id)
