"""The memory of `karat up` against that of one bare Django process.

    python benchmarks/memory.py [--pages 120] [--clients 32] [--seconds 8] [--each]

`karat up` starts on an empty folder, its worker loads the demo project, and then each page of the project that a link
leads to is read, breadth first, as its lead. Measured is the proportional set size (PSS) of all its processes: memory
that several share counts once. Then so many people grade a round of 10,000 pairs on the same server, as in
`benchmarks/grading.py`, and it is measured again. The reference is a process in which `django.setup()` has loaded
Django's own apps and nothing else.

Printed are the three in MiB, and the ratios; with `--each` also every process. `--seconds 0` leaves grading out. Linux
only.
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
PAIRS = 10_000
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
    """MiB of a process, its part of shared memory included; none when it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.M).group(1)) / 1024


def family(pid: int) -> list[int]:
    """A process and all its descendants, whichever of its threads started them."""
    try:
        tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended, or one of its threads
        children = []
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
    from apps.dashboard.actions.projects import request_demo
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


def grade(server: Server, clients: int, seconds: float) -> float:
    """Let people grade a new round on the running server; the pairs that they fetch and grade in a second."""
    from benchmarks.grading import _loops
    from benchmarks.judging import world

    (there,) = world.fill(PAIRS)
    seen = _loops(server.port, there, clients, seconds, comes_back=False)
    if seen.errors:
        raise SystemExit(f"Grading failed: {seen.errors[0]}")
    return seen.speed


def measure(server: Server, *, is_each_printed: bool) -> tuple[float, int]:
    """MiB of all processes of the server once it rests, and how many they are."""
    time.sleep(SETTLED)
    sizes = {pid: size for pid in family(server.process.pid) if (size := pss(pid))}
    if is_each_printed:
        for pid, size in sizes.items():
            name = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
            print(f"  {size:6.1f} MiB  {name[-60:]}")
    return sum(sizes.values()), len(sizes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--each", action="store_true", help="print every process too")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder, karat(folder, "") as server:
        slug, session = lead_of_demo(folder)
        read = read_pages(server, slug, session, args.pages)
        at_rest, processes = measure(server, is_each_printed=args.each)
        if args.seconds:
            speed = grade(server, args.clients, args.seconds)
            after, then = measure(server, is_each_printed=args.each)
    reference = bare()
    print(
        f"memory: {at_rest / reference:.1f} times one bare Django process ({at_rest:.0f} MiB in {processes} processes "
        f"after the demo and {read} pages, against {reference:.0f} MiB)"
    )
    if args.seconds:
        print(
            f"memory: {after / reference:.1f} times one bare Django process ({after:.0f} MiB in {then} processes "
            f"after {args.seconds:.0f} s in which {args.clients} people graded, {speed:.0f} pairs a second)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
