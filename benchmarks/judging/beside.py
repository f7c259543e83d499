"""What a team does while others grade: passages are imported, systems are run and a pool is built from them."""

import json
import random
from pathlib import Path
from typing import Any

from benchmarks.judging.world import WORDS

DEPTH = 100


class Beside:
    """An import of so many passages whose preview is ready, and a pool of the queries that are there."""

    def __init__(self, project: Any, folder: str, passages: int) -> None:
        from django.core.files.uploadedfile import UploadedFile
        from django.utils import timezone

        from apps.corpus.actions.imports import start_import
        from apps.corpus.imports.documents import NEW
        from apps.corpus.models import Import
        from tests.factories import lead_of
        from tests.running_jobs import run_jobs

        self.project, self.lead = project, lead_of(project)
        path = _write(Path(folder) / "passages.jsonl", passages)
        options = {"corpus": NEW, "name": "Beside", "format": "jsonl", "ids": "file", "mode": "replace"}
        with path.open("rb") as stream:
            file = UploadedFile(stream, name=path.name, size=path.stat().st_size)
            start_import(project=project, kind="corpus", file=file, options=options, actor=self.lead, at=timezone.now())
        run_jobs()
        self.import_id = Import.objects.latest("pk").pk

    def begin(self) -> None:
        """Queue both for the server's worker."""
        from django.utils import timezone

        from apps.corpus.actions.imports import confirm_import
        from apps.corpus.models import Snapshot
        from apps.retrieval.actions.pools import request_pool

        confirm_import(import_id=self.import_id, actor=self.lead, at=timezone.now())
        request_pool(
            project=self.project,
            name="Beside",
            snapshot_id=Snapshot.objects.get(corpus__project=self.project, number=1).pk,
            with_built_in=True,
            depth=DEPTH,
            actor=self.lead,
            at=timezone.now(),
        )

    def state(self) -> str:
        """How far both have come."""
        from apps.corpus.models import Import
        from apps.retrieval.models import Pool

        passages = Import.objects.get(pk=self.import_id).state
        return f"import {passages}, pool {Pool.objects.get(project=self.project, name='Beside').state}"


def _write(path: Path, passages: int) -> Path:
    chance = random.Random(3)
    with path.open("w") as stream:
        for number in range(passages):
            text = " ".join(chance.choices(WORDS, k=100))
            passage = {
                "block_id": f"d{number // 10}#{number % 10}",
                "document_id": f"d{number // 10}",
                "text": f"{number}. {text}",
            }
            stream.write(json.dumps(passage) + "\n")
    return path
