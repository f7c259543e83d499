"""Two web servers and three workers, each with a disk of its own: they share PostgreSQL, Redis and a bucket."""

import random
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings as in_force
from django.urls import reverse
from django.utils import timezone

from apps.corpus.actions.corpora import freeze_snapshot
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Import
from apps.goldsets.enums import VersionState
from apps.jobs.actions.jobs import enqueue, retry_job
from apps.jobs.actions.uploads import UNNAMED_FOR, remove_unnamed
from apps.jobs.models import Job, Upload, WorkerBeat
from apps.retrieval.enums import INDEX
from apps.retrieval.execution.indexes import digest_of_index, name_of
from tests.factories import lead_of, make_project
from tests.goldsets.factories import make_version
from tests.jobs.workers import Workers, wait_until
from tests.judging.server import Server
from tests.retrieval.factories import make_system

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEED = 20_261_127
WEBS, WORKERS, FILES, ROWS = 2, 3, 3, 60_000
CSRF = "a" * 32
MUCH_LATER = UNNAMED_FOR + timedelta(days=1)
ROW = '{"block_id": "b%05d", "document_id": "d", "text": "Sentence number %d about keys."}'


class Visitor:
    """A lead who is signed in, on whichever web server."""

    def __init__(self, session: str) -> None:
        self.cookies = {in_force.SESSION_COOKIE_NAME: session, in_force.CSRF_COOKIE_NAME: CSRF}

    def get(self, server: Server, path: str) -> requests.Response:
        return requests.get(address(server, path), cookies=self.cookies, timeout=60)

    def post(self, server: Server, path: str, form: Any = None, files: Any = None) -> requests.Response:
        headers = {"X-CSRFToken": CSRF}
        return requests.post(
            address(server, path), data=form, files=files, cookies=self.cookies, headers=headers, timeout=60
        )


class Hosts:
    """The servers, of which any may be killed; each comes back on its own disk."""

    def __init__(self, folder: Path, broker: str, settings: dict[str, str]) -> None:
        self.webs = [Server(made(folder / f"web-{number}"), settings) for number in range(WEBS)]
        self.crews = [Workers(made(folder / f"worker-{number}"), broker, settings) for number in range(WORKERS)]
        for web in self.webs:
            web.start()
        for crew in self.crews:
            crew.start()

    def kill_worker(self, number: int) -> None:
        crew = self.crews[number]
        crew.kill(crew.processes[-1])
        crew.start()

    def kill_web(self, number: int) -> None:
        self.webs[number].kill()
        self.webs[number].start()

    def stop(self) -> None:
        for crew in self.crews:
            crew.stop()
        for web in self.webs:
            web.kill()


@pytest.fixture
def hosts(workers, bucket, s3, settings, tmp_path) -> Iterator[Hosts]:
    """All of them at work. This process is another host, which has its own disk, too."""
    from tests.s3 import variables

    settings.STORE, settings.MEDIA_ROOT = bucket.address, tmp_path / "own" / "files"
    shared = {**variables(s3), "KARAT_STORE": bucket.address}
    shared |= {"SECRET_KEY": settings.SECRET_KEY, "KARAT_AUDIT_KEY": settings.AUDIT_KEY}
    running = Hosts(tmp_path, workers.broker_url, shared)
    yield running
    running.stop()


@pytest.fixture
def lead(client) -> Visitor:
    project = make_project()
    client.force_login(lead_of(project))
    return Visitor(client.cookies[in_force.SESSION_COOKIE_NAME].value)


@pytest.mark.long
def test_whoever_is_killed_nothing_is_lost_and_nothing_is_left(hosts, lead, bucket):
    chance = random.Random(SEED)
    project = lead_project()
    for number in range(FILES):
        first, second = hosts.webs[number % WEBS], hosts.webs[(number + 1) % WEBS]
        upload(lead, first, project, f"Handbook {number}")
        hosts.kill_worker(chance.randrange(WORKERS))
        item = waited_for(ImportState.READY, number)
        hosts.kill_web(number % WEBS)
        assert f"{ROWS:,}" in lead.get(second, import_path(project, item, "import")).text
        answer = lead.post(second, import_path(project, item, "import-confirm"))
        assert answer.ok, answer.text
        time.sleep(chance.uniform(0.0, 2.0))
        hosts.kill_worker(chance.randrange(WORKERS))
        waited_for(ImportState.APPLIED, number)
    cut_off(lead, hosts, project)

    assert Block.objects.filter(current__block__isnull=False).count() == FILES * ROWS
    remove_unnamed(timezone.now() + MUCH_LATER)
    named = [f"files/{path}" for path in Upload.objects.exclude(state="discarded").values_list("path", flat=True)]
    assert sorted(name for name in bucket.objects() if name.startswith("files/")) == sorted(named)
    assert len({beat.host for beat in WorkerBeat.objects.all()}) == WORKERS


def test_an_index_is_built_once_for_all_and_survives_a_kill(hosts, lead, bucket):
    project = lead_project()
    upload(lead, hosts.webs[0], project, "Handbook")
    lead.post(hosts.webs[1], import_path(project, waited_for(ImportState.READY, 0), "import-confirm"))
    waited_for(ImportState.APPLIED, 0)
    actor = lead_of(project)
    snapshot = freeze_snapshot(corpus_id=project.corpora.get().pk, actor=actor, at=timezone.now(), name="Spring")
    system = make_system(project)
    params = {"snapshot_id": snapshot.pk}
    job = enqueue(kind=INDEX, params=params, project=project, actor=actor, at=timezone.now())
    wait_until(lambda: Job.objects.get(pk=job.pk).state != "queued", "the beginning of the job")
    for number in range(WORKERS):
        hosts.kill_worker(number)
    wait_until(lambda: ended(job), "the end of the job")

    digest = digest_of_index(system, snapshot)
    assert name_of(digest) in bucket.objects()
    path = f"{reverse('triples:hits', args=[project.slug])}?snapshot={snapshot.pk}&question=sentence+number+7"
    for web in hosts.webs:
        assert lead.get(web, path).ok
        wait_until((web.folder / "indexes" / digest).is_dir, "fetching the index")
        assert system.name in lead.get(web, path).text


def test_every_web_server_exports_the_same(hosts, client):
    version = make_version(VersionState.FROZEN)
    client.force_login(lead_of(version.gold_set.project))
    reader = Visitor(client.cookies[in_force.SESSION_COOKIE_NAME].value)
    path = reverse("goldsets:export", args=[version.gold_set.project.slug, version.gold_set.slug, version.number])
    one, other = [reader.get(web, f"{path}?format=jsonl") for web in hosts.webs]

    assert one.ok, one.text
    assert one.content == other.content


def cut_off(lead: Visitor, hosts: Hosts, project) -> None:
    """A web server is killed while a file comes in: the sender sees it, and sends it again."""
    before = Import.objects.count()
    sending = threading.Thread(target=tried, args=(lead, hosts.webs[0], project), daemon=True)
    sending.start()
    time.sleep(0.05)
    hosts.kill_web(0)
    sending.join(60)
    assert Import.objects.count() - before in {0, 1}
    upload(lead, hosts.webs[0], project, "Cut off")


def tried(lead: Visitor, web: Server, project) -> None:
    try:
        upload(lead, web, project, "Cut off")
    except requests.RequestException:
        return


def upload(lead: Visitor, web: Server, project, name: str) -> None:
    form = {"format": "jsonl", "ids": "file", "corpus": "+", "name": name, "mode": "replace"}
    content = "\n".join(ROW % (number, number) for number in range(ROWS))
    path = reverse("corpus:import-new", args=[project.slug, "corpus"])
    answer = lead.post(web, path, form, {"file": ("passages.jsonl", content)})
    assert answer.ok, answer.text


def import_path(project, item: Import, name: str) -> str:
    return reverse(f"corpus:{name}", args=[project.slug, item.pk])


def waited_for(state: ImportState, number: int) -> Import:
    """The import of this number, when it has come to this state."""

    def is_there() -> bool:
        item = Import.objects.order_by("pk")[number]
        assert item.state not in {ImportState.FAULTY, ImportState.FAILED}, item.failure or item.plan
        return item.state == state

    wait_until(is_there, f"the import that is {state}")
    return Import.objects.order_by("pk")[number]


def ended(job: Job) -> bool:
    """A job that was killed three times is tried again, as a lead would do it."""
    found = Job.objects.get(pk=job.pk)
    if found.state == "failed":
        retry_job(job_id=job.pk, actor=found.created_by, at=timezone.now())
    return found.state == "done"


def lead_project():
    from apps.accounts.models import Project

    return Project.objects.get()


def address(server: Server, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
