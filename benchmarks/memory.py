"""The memory of `karat up` against that of one bare Django process.

    python benchmarks/memory.py [--pages 120] [--each]

`karat up` starts on an empty folder, its worker loads the demo project, and then each page of the project that a link
leads to is read, breadth first, as its lead. Measured is the proportional set size (PSS) of all its processes: memory
that several share counts once. The reference is a process in which `django.setup()` has loaded Django's own apps and
nothing else.

Printed are both in MiB, and the ratio; with `--each` also every process. Linux only.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import deque
from pathlib import Path
from urllib.parse import urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judging.servers import Server, karat

PATIENCE = 180
SETTLED = 3.0
LINK = re.compile(r'href="([^"#]+)')
NO_PAGES = ("/static/", "/assets/", "/docs/")
BARE = """
import django, sys
from django.conf import settings
names = ["auth", "contenttypes", "sessions", "messages", "staticfiles"]
settings.configure(INSTALLED_APPS=[f"django.contrib.{name}" for name in names])
django.setup()
print("ready", flush=True)
sys.stdin.read()
"""


def pss(pid: int) -> float:
    """MiB of a process, its part of shared memory included."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.M).group(1)) / 1024


def family(pid: int) -> list[int]:
    """A process and all its descendants, whichever of its threads started them."""
    children = [
        child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [pid, *(deep for child in children for deep in family(int(child)))]


def bare() -> float:
    with subprocess.Popen([sys.executable, "-c", BARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        size = pss(process.pid)
        process.stdin.close()
    return size


def lead_of_demo(folder: str) -> tuple[str, str]:
    """The slug of a loaded demo project, and a session of its lead."""
    os.environ.update(KARAT_DATA_DIR=folder, DJANGO_SETTINGS_MODULE="apps.config.settings")
    import django

    django.setup()
    from django.utils import timezone

    from apps.accounts.actions.people import create_user
    from apps.dashboard.actions.demo import request_demo
    from benchmarks.judging.world import _session

    at = timezone.now()
    host = create_user(email="lead@example.org", name="Lead", password="a long word of mine", at=at, is_operator=True)
    job = request_demo(host=host, at=at)
    end = time.monotonic() + PATIENCE
    while job.state in {"queued", "running"} and time.monotonic() < end:
        time.sleep(0.5)
        job.refresh_from_db()
    if job.state != "done":
        raise SystemExit(f"The demo was not loaded: {job.state} {job.error}")
    return job.project.slug, _session(host)


def read_pages(server: Server, slug: str, session: str, most: int) -> int:
    """Read up to `most` pages of a project, and return how many were."""
    from django.conf import settings

    home = f"http://127.0.0.1:{server.port}/p/{slug}/"
    waiting, seen, read = deque([home]), {home}, 0
    while waiting and read < most:
        address = waiting.popleft()
        cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=cookie), timeout=60) as answer:
                is_page = answer.headers.get_content_type() == "text/html"
                text = answer.read().decode() if is_page else ""
        except urllib.error.HTTPError:
            continue
        read += 1
        for link in LINK.findall(text):
            found = urljoin(address, link.replace("&amp;", "&"))
            path = urlsplit(found).path
            if found.startswith(home) and path not in seen and not path.startswith(NO_PAGES):
                seen.add(path)
                waiting.append(found)
    return read


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--each", action="store_true", help="print every process too")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder, karat(folder, "") as server:
        slug, session = lead_of_demo(folder)
        read = read_pages(server, slug, session, args.pages)
        time.sleep(SETTLED)
        sizes = {pid: pss(pid) for pid in family(server.process.pid)}
        if args.each:
            for pid, size in sizes.items():
                name = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
                print(f"  {size:6.1f} MiB  {name[-60:]}")
    whole, reference = sum(sizes.values()), bare()
    print(
        f"memory: {whole / reference:.1f} times one bare Django process ({whole:.0f} MiB in {len(sizes)} processes "
        f"after the demo and {read} pages, against {reference:.0f} MiB)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
