"""Builds the files of a public release in a temporary folder, and stores them."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils.text import slugify

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_digests
from apps.common.database.bulk import insert_rows
from apps.common.digests import canonical_json, digest_of_lines
from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, metadata_digest, snapshot_digest
from apps.goldsets.execution.exporting import FORGED, ExportRefused, fault_of
from apps.goldsets.formats import jsonl
from apps.goldsets.formats.content import Content, FrozenBlock
from apps.goldsets.formats.folder import zip_folder
from apps.goldsets.formats.public import card
from apps.goldsets.formats.public.files import Labels, Order, digest_of_file, first_forbidden, write_public_folder
from apps.goldsets.formats.public.scrub import KINDS, PAIRS, PASSAGES, PublicContent, Selection, Terms, month_of, select
from apps.goldsets.formats.verification import PUBLIC
from apps.goldsets.models import PublicPart, PublicRelease, PublicStay, Version
from apps.goldsets.selectors.content import VersionContent
from apps.goldsets.selectors.public import terms_of
from apps.triples.enums import ELSEWHERE

FIGURE = ("name", "value", "low", "high", "n", "method", "reason")


@dataclass(frozen=True)
class Built:
    """A release that was built; its zip file is at `path` for as long as the context lasts."""

    terms: Terms
    selection: Selection
    card: dict[str, str]
    report: dict[str, Any]
    digest: str
    size: int
    path: Path


STEPS = (
    "checking the version",
    "choosing what goes out",
    "writing the files",
    "looking for words in each file",
    "packing the files",
)
Progress = Callable[[int, int, str], None]


@contextmanager
def built(version: Version, order: Order, *, at: datetime, progress: Progress) -> Iterator[Built]:
    """Build the zip of a release in a temporary folder, which is gone afterwards.

    Raises ExportRefused when the stored version is not what was frozen. `progress` is called before each step.
    """
    steps = count()

    def begin_step() -> None:
        number = next(steps)
        progress(number, len(STEPS), STEPS[number])

    begin_step()
    whole = VersionContent(version)
    if fault := fault_of(version, whole):
        raise ExportRefused(f"{fault} {FORGED}", code="not_as_frozen")
    begin_step()
    terms = terms_of(version, order.splits, at=at)
    selection = select(whole, terms)
    content = PublicContent(whole, terms, selection)
    facts = _facts(version, content, selection, terms, order)
    texts = (
        dict(order.card)
        if order.card is not None
        else card.draft(_card_facts(version, facts, content, selection, order))
    )
    labels = labels_of(version, order)
    begin_step()
    with tempfile.TemporaryDirectory(prefix="karat-public-") as place:
        folder, path = Path(place) / "files", Path(place) / labels.file_name
        folder.mkdir()
        write_public_folder(content, folder, labels=labels, card_texts=texts, facts=facts)
        begin_step()
        found = first_forbidden(folder, labels, terms.search)
        begin_step()
        with path.open("wb") as stream:
            zip_folder(folder, stream)
        report = _report(selection, terms, found)
        yield Built(terms, selection, texts, report, digest_of_file(path), path.stat().st_size, path)


def labels_of(version: Version, order: Order | PublicRelease) -> Labels:
    slug = slugify(order.title)[:60].strip("-") or "gold-set"
    return Labels(order.title, version.label, slug, order.holder, order.licence)


def order_of(release: PublicRelease) -> Order:
    return Order(release.title, release.holder, release.licence, tuple(release.splits), release.card or None)


def _report(selection: Selection, terms: Terms, found: tuple[str, str] | None) -> dict[str, Any]:
    """What leads read beside the release; it is in none of its files."""
    return {
        "counts": {kind: {"inside": selection.inside[kind], "going": selection.going[kind]} for kind in KINDS},
        "emptied": {name: number for name, number in sorted(selection.emptied.items()) if number},
        "people": len(selection.people),
        "words": terms.search.count,
        "hits": _hits(selection),
        "forbidden": list(found) if found else None,
    }


MOST_HITS, MOST_PLACES = 500, 3


def _hits(selection: Selection) -> list[dict[str, Any]]:
    """What was found and must not go out, what keeps most in first; with some of the places of each."""
    most_first = sorted(selection.hits.items(), key=lambda hit: (-len(hit[1]), hit[0].word))
    return [
        {
            "text": found.word[:200],
            "what": found.what,
            "number": len(places),
            "places": [list(one) for one in places[:MOST_PLACES]],
        }
        for found, places in most_first[:MOST_HITS]
    ]


def _facts(
    version: Version, content: PublicContent, selection: Selection, terms: Terms, order: Order
) -> dict[str, Any]:
    """The manifest without its files, by a list of what may be in it."""
    labels = labels_of(version, order)
    snapshot = _snapshot(content)
    scale = [{"grade": one["grade"], "name": _clean(terms, one.get("name", ""))} for one in version.manifest["scale"]]
    return {
        "format": PUBLIC,
        "gold_set": {"slug": labels.slug, "name": labels.title},
        "version": version.label,
        "licence": order.licence,
        "frozen": month_of(version.manifest["frozen_at"]),
        "snapshot": snapshot,
        "scale": scale,
        "guideline": None,
        "digest": _items_digest(content, snapshot["digest"], scale),
        "counts": {kind: selection.going[kind] for kind in KINDS},
        "splits": _splits(content, order.splits),
        "agreement": _agreement(version.manifest.get("agreement", {})),
        "software": {"name": "karat", "version": settings.VERSION},
        "export": {
            "formats": ["jsonl"],
            "splits": sorted(order.splits),
            "people": "pseudonyms",
            "judgements": False,
            "queries": selection.going["queries"],
            "grades": selection.going[PAIRS],
            "triples": selection.going["triples"],
        },
    }


def _card_facts(
    version: Version, facts: dict[str, Any], content: Content, selection: Selection, order: Order
) -> dict[str, Any]:
    kinds = Counter(row.source for row in content.queries() if row.source)
    left_out = sum(selection.inside[kind] - selection.going[kind] for kind in KINDS if kind not in {PAIRS, PASSAGES})
    return {
        "title": order.title,
        "version": facts["version"],
        "licence": card.BY_KEY[order.licence].name,
        "counts": facts["counts"],
        "documents": facts["snapshot"]["documents"],
        "left_out": left_out,
        "sources": dict(sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))),
        "scale": facts["scale"],
        "agreement": facts["agreement"],
        "splits": facts["export"]["splits"],
        "elsewhere": _elsewhere(version, content),
    }


def _elsewhere(version: Version, content: Content) -> dict[str, Any] | None:
    """Of the published triples how many were reviewed elsewhere, and what is known of such sets."""
    number = sum(row.resolution == ELSEWHERE for row in content.triples())
    sets = version.manifest.get("elsewhere", {}).get("sets", [])
    return {"triples": number, "sets": sets} if number else None


def _clean(terms: Terms, text: str) -> str:
    return "" if terms.search.find(text) else text


def _snapshot(content: Content) -> dict[str, Any]:
    documents: set[str] = set()
    number = 0

    def entries() -> Iterator[SnapshotEntry]:
        nonlocal number
        for row in content.blocks():
            documents.add(row.document_id)
            number += 1
            yield _entry(row)

    return {"digest": snapshot_digest(entries()), "blocks": number, "documents": len(documents)}


def _entry(row: FrozenBlock) -> SnapshotEntry:
    digests = block_digests(
        title=row.title, section_path=list(row.section), page_start=row.page_start, page_end=row.page_end, text=row.text
    )
    facts = metadata_digest({})
    return SnapshotEntry(row.block_id, row.document_id, digests.version, facts, row.document_title)


def _items_digest(content: Content, snapshot: str, scale: list[dict[str, Any]]) -> str:
    def lines() -> Iterator[str]:
        yield canonical_json({"snapshot": snapshot, "scale": scale, "guideline": None}).decode()
        for path, chunks in jsonl.files(content):
            if path != jsonl.CORPUS:
                yield path
                yield from (chunk.decode().removesuffix("\n") for chunk in chunks)

    return digest_of_lines(lines())


def _splits(content: Content, splits: tuple[str, ...]) -> dict[str, Any]:
    counted = {split: Counter({"queries": 0, "grades": 0, "triples": 0}) for split in sorted(splits)}
    for kind, rows in (("queries", content.queries()), ("grades", content.grades()), ("triples", content.triples())):
        for row in rows:
            counted[row.split][kind] += 1
    return {split: dict(counts) for split, counts in counted.items()}


def _agreement(agreement: Mapping[str, Any]) -> dict[str, Any]:
    named = {"grades": agreement.get("grades"), "verdicts": agreement.get("verdicts")}
    return {about: {key: figure[key] for key in FIGURE if key in figure} for about, figure in named.items() if figure}


PART_BYTES = 1 << 20
STAY_COLUMNS = ("release_id", "kind", "name", "reason", "detail")


def keep_files(release: PublicRelease, files: Built) -> None:
    """Store the zip and what stays in, in place of those of an earlier build."""
    release.parts.all().delete()
    release.stays.all().delete()
    with files.path.open("rb") as stream:
        for number, data in enumerate(iter(partial(stream.read, PART_BYTES), b"")):
            PublicPart.objects.create(release=release, number=number, data=data)
    rows = ((release.pk, stay.kind, stay.name, stay.reason.value, stay.detail[:200]) for stay in files.selection.stays)
    insert_rows(PublicStay, STAY_COLUMNS, rows)


def stored_zip(release: PublicRelease) -> IO[bytes]:
    """The bytes that were prepared, as an open temporary file at its beginning. The caller closes it.

    Raises ExportRefused when they are not those with the digest of the release.
    """
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - handed to the response, which closes it
    digest = hashlib.sha256()
    for data in _stored_parts(release):
        digest.update(data)
        stream.write(data)
    if digest.hexdigest() != release.digest:
        stream.close()
        raise ExportRefused(f"{_not_as_prepared(release)} {FORGED}", code="not_as_prepared")
    stream.seek(0)
    return stream


def public_faults(project: Project) -> Iterator[str]:
    """One sentence for each public release of the project whose bytes are not those that were prepared or released."""
    releases = PublicRelease.objects.filter(version__gold_set__project=project, parts__number=0).exclude(digest="")
    for release in releases.select_related("version__gold_set").order_by("pk"):
        digest = hashlib.sha256()
        for data in _stored_parts(release):
            digest.update(data)
        recorded = recorded_digests("public_release.prepared", release)
        if digest.hexdigest() != release.digest or release.digest not in recorded:
            yield _not_as_prepared(release)


def _stored_parts(release: PublicRelease) -> Iterator[bytes]:
    for data in release.parts.order_by("number").values_list("data", flat=True).iterator(chunk_size=8):
        yield bytes(data)


def _not_as_prepared(release: PublicRelease) -> str:
    return f"The public release of {release.version}: its files are not those with the digest {release.digest}."
