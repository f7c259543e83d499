"""Whether the parts of a server are well, judged by figures that others have read, and how to mend what is not."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.common.text.wording import percent, plural, size
from apps.dashboard.enums import CheckStanding
from apps.jobs.core.progress import Unsent, spoken

DISK_BROKEN = 256 * 1024**2
"""Below so many free bytes uploads are rejected, so that other work can still be saved."""
DISK_TIGHT = 5 * 1024**3
DISK_TIGHT_SHARE = 0.1
CLOCK_WARNING_SECONDS, CLOCK_BROKEN_SECONDS = 5.0, 60.0
"""Signatures of webhooks and tokens of single sign-on are compared within a minute."""
JOB_WAITS_SECONDS = 15 * 60
MOST_PATHS = 3
MOST_PROJECTS = 3

ORDER = (CheckStanding.BROKEN, CheckStanding.WARNING, CheckStanding.FINE)


class Check(NamedTuple):
    """One part: how it is in a sentence, what mends it, a figure beside it, and `trouble`, its words in a headline."""

    name: str
    standing: CheckStanding
    sentence: str
    mend: str = ""
    figure: str = ""
    trouble: str = ""

    @property
    def is_fine(self) -> bool:
        return self.standing == CheckStanding.FINE


def in_order(checks: Iterable[Check]) -> list[Check]:
    """What is broken, then warnings, then what is fine; within each the order that they come in."""
    return sorted(checks, key=lambda check: ORDER.index(check.standing))


def headline(checks: Sequence[Check]) -> str:
    """One sentence about all: "Everything is all right.", or what is not."""
    troubles = [check.trouble for check in in_order(checks) if not check.is_fine]
    if not troubles:
        return "Everything is all right."
    text = "; ".join(troubles)
    begin = text if any(check.standing == CheckStanding.BROKEN for check in checks) else f"Work goes on; {text}"
    return f"{begin[0].upper()}{begin[1:]}."


def summary(checks: Sequence[Check]) -> str:
    fine = sum(check.is_fine for check in checks)
    return f"{fine} of {len(checks)} checks are fine."


def fine(name: str, sentence: str, figure: str = "") -> Check:
    return Check(name, CheckStanding.FINE, sentence, figure=figure)


# Each part ----------------------------------------------------------------------------------------------------------


def database_check(*, engine: str, version: str, milliseconds: float, schema: str) -> Check:
    """`schema` says which of tables and version is older; "" where they fit."""
    name, figure = "Database", f"{engine} {version}"
    if schema:
        return Check(
            name,
            CheckStanding.BROKEN,
            f"It answers, but its tables are {schema}.",
            "Run `karat upgrade`, or start the version of Karat that wrote them.",
            figure,
            "the tables are of another version",
        )
    return fine(name, f"Answers in {max(1, round(milliseconds))} ms; all migrations are applied.", figure)


def worker_check(*, workers: int, seen_seconds: float | None, missing_after: float, oldest_job: float) -> Check:
    """`workers` were seen lately; the oldest job that could start has waited so many seconds."""
    name, start = (
        "Worker",
        "`karat up` runs one; otherwise start `karat worker`, with Docker `docker compose up --detach`.",
    )
    trouble = "no worker is at work"
    if seen_seconds is None:
        return Check(name, CheckStanding.BROKEN, "None has been seen yet. Jobs and mail wait.", start, "", trouble)
    seen = f"last seen {spoken(seen_seconds)} ago"
    if seen_seconds > missing_after:
        return Check(name, CheckStanding.BROKEN, f"None is at work; {seen}. Jobs and mail wait.", start, "", trouble)
    running = f"{workers} running; {seen}."
    if oldest_job > JOB_WAITS_SECONDS:
        return Check(
            name,
            CheckStanding.WARNING,
            f"{running} A job has waited for {spoken(oldest_job)}.",
            "Each worker takes one job at a time: start more of them with `karat worker`. Look below at what runs.",
            "",
            "jobs wait for long",
        )
    return fine(name, running, f"{workers} at work")


def broker_check(*, broker: str, fault: str | None) -> Check:
    """`fault` is None where it was not tried."""
    if fault is None:
        return fine("Broker", f"{broker}; not tried on this page. The button tries it.", "not tried")
    if not fault:
        return fine("Broker", f"{broker} answers.")
    mend = "Start it, or correct `BROKER_URL`; then restart web and worker. No job is lost meanwhile: jobs are rows."
    return Check("Broker", CheckStanding.BROKEN, fault, mend, trouble="jobs are not picked up")


def hosts_check(*, others: int, store: str, fault: str | None) -> Check:
    """`others` is the number of other data directories in which workers are at work; `fault` None: it was not tried."""
    name = "Hosts"
    if not store and not others:
        return fine(name, "Web and workers use one data directory.")
    hosts = "Web and workers use one data directory" if not others else f"Workers use {others + 1} data directories"
    if not store:
        mend = (
            "Give all processes the same data directory, or set `KARAT_STORE` to a bucket for all of them and run "
            "`karat fill-store` on each host. See docs/operations.md, Several hosts."
        )
        sentence = f"{hosts}, and there is no store: what is uploaded to one is not found by the others."
        return Check(name, CheckStanding.BROKEN, sentence, mend, trouble="hosts do not see each other's files")
    if fault is None:
        return fine(name, f"{hosts}; {store} is not tried on this page. The button tries it.", "not tried")
    if not fault:
        return fine(name, f"{hosts}, and share files in {store}, which answers.")
    mend = "Mend the bucket or its address and keys. Uploads are refused, and jobs try again, until then."
    return Check(name, CheckStanding.BROKEN, fault, mend, trouble="the store of files does not answer")


def disk_check(*, total: int, free: int, folder: str) -> Check:
    used = f"{size(total - free)} of {size(total)} are used, {size(free)} are free."
    figure = percent((total - free) / total, 0) if total else ""
    mend = f"Clear what can be cleared under Storage, or give the disk of `{folder}` more room."
    if free < DISK_BROKEN:
        sentence = f"{used} Uploads are rejected, so that grades can still be saved."
        return Check("Disk", CheckStanding.BROKEN, sentence, mend, figure, "the disk is full")
    if free < DISK_TIGHT and free < DISK_TIGHT_SHARE * total:
        return Check("Disk", CheckStanding.WARNING, used, mend, figure, "the disk is nearly full")
    return fine("Disk", used, figure)


def files_check(*, folder: str, open_to_others: Sequence[str], closed_to_us: Sequence[str]) -> Check:
    name = "File permissions"
    if closed_to_us:
        return Check(
            name,
            CheckStanding.BROKEN,
            f"Karat cannot read and write {_listed(closed_to_us)}.",
            f"As root, give them to the user that runs Karat: `chown -R USER {folder}`.",
            trouble="files cannot be written",
        )
    if open_to_others:
        return Check(
            name,
            CheckStanding.WARNING,
            f"Other users of this machine can read {_listed(open_to_others)}.",
            f"As their owner run `chmod -R go= {folder}`.",
            trouble="other users can read the data",
        )
    return fine(name, "Only the user that runs Karat can read the data directory.")


def clock_check(*, seconds_off: float, seconds_back: float) -> Check:
    """How far this clock is from the database's, and how far behind the newest event of history."""
    name, mend = "Clock", "Let both machines set their clock by NTP, for example with `timedatectl set-ntp true`."
    if seconds_back > CLOCK_BROKEN_SECONDS:
        sentence = f"The newest event of history is {spoken(seconds_back)} in the future: the clock was set back."
        return Check(name, CheckStanding.BROKEN, sentence, mend, trouble="the clock was set back")
    off = abs(seconds_off)
    if off > CLOCK_WARNING_SECONDS:
        standing = CheckStanding.BROKEN if off > CLOCK_BROKEN_SECONDS else CheckStanding.WARNING
        sentence = f"It differs by {spoken(off)} from the clock of the database."
        return Check(name, standing, sentence, mend, f"{off:.1f} s", "two clocks differ")
    return fine(name, "It agrees with the clock of the database, and history is in the past.", f"{off:.1f} s off")


def mail_check(queue: Unsent, *, server: str, fault: str | None) -> Check:
    """`server` is "" where there is none; `fault` is None where it was not tried."""
    name = "Mail"
    if not server:
        return fine(name, "No mail server is set: links are handed on by people, the rest is in the app.", "off")
    mend = "Correct `EMAIL_HOST`, `EMAIL_HOST_USER` and `EMAIL_HOST_PASSWORD`; then restart web and worker."
    waits = f" Waiting: {plural(queue.waiting, 'message')}." if queue.waiting else ""
    trouble = "mail does not go out"
    if fault:
        return Check(name, CheckStanding.BROKEN, f"{fault}{waits}", mend, trouble=trouble)
    if queue.failing:
        sentence = (
            f"{plural(queue.failing, 'message')} could not be sent, the first for {spoken(queue.oldest_seconds)}."
        )
        tried = f"{sentence} Each is tried again. {_reason(queue)}"
        if fault is None:
            return Check(name, CheckStanding.BROKEN, tried, mend, trouble=trouble)
        return Check(
            name, CheckStanding.WARNING, f"{tried} Now {server} answers.", "Wait for the next try.", trouble=trouble
        )
    if queue.given_up:
        sentence = f"Given up this week: {plural(queue.given_up, 'message')}. {_reason(queue)}"
        return Check(name, CheckStanding.WARNING, sentence, mend, trouble="mail was given up")
    return fine(name, f"{server} answers.{waits}" if fault == "" else f"Nothing has failed.{waits}", _tried(fault))


def webhooks_check(queue: Unsent) -> Check:
    name = "Webhooks"
    mend = (
        "The leads of the project see the answers under Webhooks, and operators those of the webhook of the server "
        "under Jobs; both can send them again."
    )
    if queue.failing or queue.given_up:
        parts = [f"Not delivered and tried again: {plural(queue.failing, 'message')}."] if queue.failing else []
        parts += [f"Given up this week: {plural(queue.given_up, 'message')}."] if queue.given_up else []
        sentence = f"{' '.join(parts)} {_reason(queue)}"
        return Check(name, CheckStanding.WARNING, sentence, mend, trouble="webhooks are not delivered")
    return fine(
        name, f"Nothing has failed. Waiting: {plural(queue.waiting, 'message')}." if queue.waiting else "Nothing waits."
    )


def deletions_check(failed: Sequence[tuple[str, str]]) -> Check:
    """`failed` are the names of projects of which an attempt to delete them failed, each with the reason."""
    name = "Deletions"
    if not failed:
        return fine(name, "No project is left half deleted.")
    shown = " ".join(f"Deleting {project} failed: {_closed(reason)}" for project, reason in failed[:MOST_PROJECTS])
    more = f" So did {len(failed) - MOST_PROJECTS} more." if len(failed) > MOST_PROJECTS else ""
    what = "It is" if len(failed) == 1 else "They are"
    return Check(
        name,
        CheckStanding.WARNING,
        f"{shown}{more} {what} closed to everybody, and a worker tries again within ten minutes.",
        "Mend what it says. Nothing is lost by waiting: each attempt goes on where the last one stopped.",
        trouble="a project could not be deleted",
    )


def _closed(reason: str) -> str:
    """A reason as a sentence, with its full stop."""
    reason = reason.strip()
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."


def backup_check(*, notice: str, age_seconds: float | None, every_hours: float, is_scheduled: bool) -> Check:
    """`notice` is what operators are told of backups on every page; the age is that of the last verified one."""
    name = "Backup"
    figure = f"{spoken(age_seconds)} ago" if age_seconds is not None else ""
    if notice:
        mend = "Mend what it says, and look at the folder; the next attempt follows within a quarter of an hour."
        return Check(name, CheckStanding.BROKEN, notice, mend, figure, "the last good backup is old or missing")
    verified = f"The last verified one was made {figure}."
    if is_scheduled:
        every = f"One is due every {spoken(every_hours * 3600)}."
        return fine(name, f"{verified} {every}" if figure else f"None was made yet. {every}", figure)
    mend = "Set `KARAT_BACKUP_TO` to a folder on another disk, and a worker makes and verifies one every day."
    if age_seconds is None:
        sentence = "None is scheduled, and none was ever verified."
        return Check(name, CheckStanding.WARNING, sentence, mend, trouble="there is no backup")
    if age_seconds > 2 * 86_400:
        sentence = f"None is scheduled. {verified}"
        return Check(name, CheckStanding.WARNING, sentence, mend, figure, "the last good backup is old")
    return fine(name, f"{verified} None is scheduled.", figure)


def set_up_check(faults: Sequence[str]) -> Check:
    if faults:
        return Check("Set-up", CheckStanding.WARNING, " ".join(faults), trouble="the set-up contradicts itself")
    return fine("Set-up", "The settings go together, and the proxy sends what they say.")


def _reason(queue: Unsent) -> str:
    return f"The last reason: {queue.reason.rstrip('.')}." if queue.reason else ""


def _tried(fault: str | None) -> str:
    return "not tried" if fault is None else ""


def _listed(paths: Sequence[str]) -> str:
    shown, more = ", ".join(paths[:MOST_PATHS]), len(paths) - MOST_PATHS
    return f"{shown} and {more} more" if more > 0 else shown
