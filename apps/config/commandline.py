"""`karat`: one command line for everything.

Commands that need no database (`score`, `verify`) run without Django, so they start fast on any machine.
"""

import argparse
import codecs
import ctypes
import importlib
import io
import os
import sys
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
OK, FAULT, STOPPED = 0, 2, 130
CLOSED = 141
"""The exit code when the reader of the output, such as `head`, has closed it (128 + SIGPIPE)."""
SQLITE_FULL, DISK_FULL = 13, "53100"
"""What SQLite and PostgreSQL answer when the disk is full."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES = 1 << 28
SPELLING = "spelt"
SPELT = {
    "α": "alpha", "κ": "kappa", "χ": "chi", "−": "-", "–": "-", "—": "-", "…": "...", "\N{NO-BREAK SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ", "’": "'", "‘": "'", "“": '"', "”": '"', "→": "->", "≥": ">=", "≤": "<=",
    "×": "x", "·": "*", "√": "sqrt", "█": "#", "░": ".", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip
"""Replacements for non-ASCII characters of our own messages and tables on terminals that lack them."""
DJANGO_OPTIONS = {"version", "settings", "pythonpath", "traceback"}
DJANGO_OPTIONS |= {"no_color", "force_color", "skip_checks", "verbosity"}


class Command(NamedTuple):
    module: str
    summary: str


PACKAGE_ALONE = (
    "This is the installed package of Karat, which has {commands}. `karat {word}` needs the folder of Karat with its "
    "pages: get it, and run python3 manage.py {word} there."
)

PACKAGE_MISSING = (
    "the Python package {name} is not here. In a public release, the README says how to fetch what scoring needs; "
    "anywhere else, install it for this Python."
)

# Pure commands: a module with `add_parser(subparsers)` and `run(args) -> exit code`.
PURE = {
    "agree": Command("apps.cli.agree.command", "measure how far annotators agree, from a file of labels"),
    "score": Command("apps.cli.score.command", "score runs against qrels, no server needed"),
    "eval": Command(
        "apps.cli.evaluate.command", "run an external system against a released gold set, and check its gates"
    ),
    "hash-texts": Command("apps.cli.hash_texts", "hash texts for a training manifest, so that nobody has to show them"),
    "pull": Command("apps.cli.remote", "download a gold version from a server"),
    "push": Command("apps.cli.remote", "push a run to a server, and have it scored"),
    "verify": Command("apps.cli.verify", "check an exported gold version against its manifest"),
}

# Commands that choose the data directory or the packages themselves, before Django is loaded.
WHOLE = {
    "up": "set everything up, start the web server and one worker",
    "restore": "restore a backup into an empty data directory",
    "move": "move everything to another database",
    "test": "run the test suite",
}

# Django management commands, by the words people type.
MANAGED = {
    ("import", "corpus"): Command("import_corpus", "import a corpus file into a project"),
    ("import", "queries"): Command("import_queries", "import a query file into a project"),
    ("import", "triples"): Command("import_triples", "import triples as drafts, machine-written ones as candidates"),
    ("import", "judgements"): Command("import_judgements", "import judgements: qrels, tables, exports of other tools"),
    ("import", "run"): Command("import_run", "import a run: a table with a heading, or TREC's six columns"),
    ("import", "training"): Command("import_training", "import a list of what a system was trained on"),
    ("import", "log"): Command("import_log", "draw queries from a search log, to be read before they enter"),
    ("import", "collection"): Command("import_collection", "import a BEIR or MTEB folder: corpus, queries, qrels"),
    ("freeze",): Command("freeze", "freeze a snapshot of a corpus"),
    ("run",): Command("run", "run a system on the queries, or on the questions of a gold version"),
    ("pool",): Command("pool", "pool runs to a depth"),
    ("export", "triples"): Command("export_triples", "write a project's triples as JSONL or YAML"),
    ("export", "negatives"): Command("export_negatives", "write hard and easy negatives of a gold version"),
    ("export",): Command("export", "write a gold version as files"),
    ("demo",): Command("demo", "make a fresh demo project"),
    ("user",): Command("user", "make, list or deactivate people, have one leave; make a set-up link"),
    ("project",): Command("project", "write one project to a file, take one in, or delete it"),
    ("upgrade",): Command("upgrade", "show what an upgrade changes, back up, and apply it"),
    ("doctor",): Command("doctor", "check that everything is all right, and measure what limits this machine"),
    ("backup",): Command("backup", "write everything to one file, while people work"),
    ("fill-store",): Command("fill_store", "send the uploaded files of this host to the store of several hosts"),
    ("verify-backup",): Command("verify_backup", "restore a backup into a scratch place, and compare everything"),
    ("verify-audit",): Command("verify_audit", "find the first broken link of the audit chain"),
    ("web",): Command("web", "run one web server"),
    ("worker",): Command("worker", "run one worker"),
}


def main(argv: list[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    write_any_letter()
    try:
        return run_command(arguments)
    except KeyboardInterrupt:
        print(f"karat {arguments[0]}: stopped.", file=sys.stderr)
        return STOPPED


def run_command(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(overview())
        return OK if arguments else FAULT
    if arguments == ["--version"]:
        print(f"karat {version()}")
        return OK
    if arguments[0] in PURE:
        return run_pure(arguments)
    if not is_whole():
        print(PACKAGE_ALONE.format(commands=", ".join(PURE), word=arguments[0]), file=sys.stderr)
        return FAULT
    return run_on_server(arguments)


def write_any_letter(encoding: str | None = None) -> None:
    """Let standard output and error accept every character, in the terminal's encoding or in `encoding`.

    Characters that an encoding lacks are replaced for people. Data for machines is written as UTF-8 everywhere.
    """
    codecs.register_error(SPELLING, spelt)
    for stream, own in ((sys.stdout, encoding), (sys.stderr, None)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=own, errors=SPELLING)


def spelt(fault: UnicodeError) -> tuple[str, int]:
    """Error handler for encoding: the replacement of a character from our own table, else its escape."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    letters = fault.object[fault.start : fault.end]
    words = (SPELT.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters)
    return "".join(words), fault.end


def is_whole() -> bool:
    """Whether this is the folder of Karat: an installed package has neither pages nor a place for data."""
    return (ROOT / "pyproject.toml").is_file() and (ROOT / "templates").is_dir()


def overview() -> str:
    rows = [(name, command.summary) for name, command in PURE.items()]
    head = "usage: karat COMMAND [options]"
    if is_whole():
        rows = [*WHOLE.items(), *rows]
        rows += [(" ".join(words), command.summary) for words, command in MANAGED.items()]
        head = f"{head}      (or: python3 manage.py COMMAND)"
    lines = [f"  {name:<20} {summary}" for name, summary in rows]
    return "\n".join([head, "", *lines, "", "`karat COMMAND --help` lists the options of each."])


def version() -> str:
    """The version, without loading the settings: those create a secret key in the data directory."""
    import tomllib
    from importlib import metadata

    if not is_whole():
        return metadata.version("karat-gold")
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def run_pure(arguments: list[str]) -> int:
    tune_numpy()
    parser = argparse.ArgumentParser(prog="karat")
    try:
        try:
            module = importlib.import_module(PURE[arguments[0]].module)
            module.add_parser(parser.add_subparsers(dest="command", required=True))
            options = parser.parse_args(arguments)
            if getattr(options, "format", "table") != "table":
                write_any_letter("utf-8")
            return module.run(options)
        finally:
            sys.stdout.flush()
    except ModuleNotFoundError as missing:
        if is_whole():
            raise
        print(f"karat {arguments[0]}: {PACKAGE_MISSING.format(name=missing.name)}", file=sys.stderr)
        return FAULT
    except OSError as fault:
        if fault.filename is not None:
            raise
        return refuse_output(arguments[0], fault)


def tune_numpy() -> None:
    """Settings for a process that ends soon and works on columns of millions. NumPy reads its own when it is imported.

    Starting threads of linear algebra takes longer than all that these commands multiply. The system is slow to find
    huge pages, and to clear the memory that glibc returns to it and requests again.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    with suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES)
        libc.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


def refuse_output(command: str, fault: OSError) -> int:
    """Report that standard output cannot be written, and keep Python from retrying at exit. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(fault, BrokenPipeError):
        return CLOSED
    print(f"karat {command}: the output cannot be written: {fault.strerror}.", file=sys.stderr)
    return FAULT


def run_on_server(arguments: list[str]) -> int:
    """Run a command that loads Django. What it refuses, and a wrong setting, is printed as a sentence."""
    from django.core.exceptions import ImproperlyConfigured

    from apps.common.errors import Refusal

    runners = {"up": run_up, "restore": run_restore, "move": run_move, "test": run_tests}
    try:
        if arguments[0] in runners:
            return runners[arguments[0]](arguments[1:])
        return run_managed(arguments)
    except (Refusal, ImproperlyConfigured) as refusal:
        print(refusal, file=sys.stderr)
        return FAULT


def run_up(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="karat up", description="Start Karat on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
    parser.add_argument("--no-demo", action="store_true", help="do not offer the demo project")
    options = parse_in_data_dir(parser, arguments)
    from apps.config.up import up

    up(host=options.host, port=options.port, data_dir=options.data_dir, demo=not options.no_demo)
    return OK


def parse_in_data_dir(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """The options, with `--data-dir` among them, which the settings then use as well."""
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=os.environ.get("KARAT_DATA_DIR") or ROOT / "data",
        help="where all data is stored (default: KARAT_DATA_DIR, else the folder data next to manage.py)",
    )
    parser.add_argument("--no-setup", action="store_true", help="use the packages as they are")
    options = parser.parse_args(arguments)
    options.data_dir = Path(options.data_dir).expanduser().resolve()
    os.environ["KARAT_DATA_DIR"] = str(options.data_dir)
    return options


def run_restore(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="karat restore",
        description="Restore a backup into an empty data directory, and with DATABASE_URL into an empty database.",
    )
    parser.add_argument("file", help="what `karat backup` wrote: a file, or its address in a bucket")
    parser.add_argument("--database-only", action="store_true", help="leave the data directory as it is")
    parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help="restore the keys of the server too")
    parser.add_argument("--without-secrets", action="store_true", help="leave the keys in the backup out")
    parser.add_argument("--without-search", action="store_true", help=argparse.SUPPRESS)
    options = parse_in_data_dir(parser, arguments)
    from apps.backups.execution.places import place_of
    from apps.config.restore import Wanted, restore

    wanted = Wanted(
        place_of(options.file),
        options.data_dir,
        database_only=options.database_only,
        passphrase_file=options.passphrase_file,
        leaves_secrets=options.without_secrets,
        is_searchable=not options.without_search,
    )
    restore(wanted, say=print)
    return OK


def run_move(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="karat move",
        description="Move the database to another one, an empty one. Uploaded files stay in the data directory.",
    )
    parser.add_argument(
        "--to", required=True, metavar="ADDRESS", help="postgres://…, or sqlite for the data directory's own file"
    )
    options = parse_in_data_dir(parser, arguments)
    from apps.config.move import move

    return move(options.to, data_dir=options.data_dir, say=print)


def run_tests(arguments: list[str]) -> int:
    try:
        import pytest
    except ModuleNotFoundError:
        print("The test packages are missing. Run: python3 manage.py test", file=sys.stderr)
        return FAULT
    os.chdir(ROOT)
    if not any(argument.startswith("-n") for argument in arguments):
        # One more than the number of cores, since browser tests wait half of the time. The slow tests are
        # grouped; an idle worker takes over some of another's.
        arguments = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal", *arguments]
    return int(pytest.main(arguments))


def run_own(words: tuple[str, ...], rest: list[str]) -> int:
    """Run one of our management commands under the words people type; a refusal is printed as a sentence.

    Django's checks are of our code, and they load every page: `karat check` and the tests run them, these commands not.
    """
    from django.core.management import CommandError, get_commands, load_command_class
    from django.db import DatabaseError

    module = MANAGED[words].module
    if words[0] == "export":
        write_any_letter("utf-8")
    command: Any = load_command_class(get_commands()[module], module)
    command._called_from_command_line = True  # a wrong option is answered with the usage, not with a traceback
    parser = command.create_parser("karat", " ".join(words))
    for action in parser._actions:
        if action.dest in DJANGO_OPTIONS:
            action.help = argparse.SUPPRESS
    options = vars(parser.parse_args(rest))
    try:
        command.execute(*options.pop("args", ()), **{**options, "skip_checks": True})
        sys.stdout.flush()
    except BrokenPipeError as fault:
        return refuse_output(" ".join(words), fault)
    except CommandError as refusal:
        print(refusal, file=sys.stderr)
        return refusal.returncode
    except (OSError, DatabaseError) as fault:
        if not is_disk_full(fault):
            raise
        print(
            f"karat {' '.join(words)}: the disk is full, so it stopped. Make room, then run the command again.",
            file=sys.stderr,
        )
        return FAULT
    return OK


def is_disk_full(fault: Exception) -> bool:
    """Whether the system, SQLite or PostgreSQL had no room left. The driver's own error is the cause of Django's."""
    own = fault.__cause__ or fault
    of_system = isinstance(own, OSError) and own.errno in {ENOSPC, EDQUOT}
    return of_system or getattr(own, "sqlite_errorcode", 0) == SQLITE_FULL or getattr(own, "sqlstate", "") == DISK_FULL


def run_managed(arguments: list[str]) -> int:
    import django
    from django.core.management import execute_from_command_line, get_commands
    from django.db import DatabaseError

    words = next((words for words in MANAGED if tuple(arguments[: len(words)]) == words), None)
    django.setup()
    if words is None and arguments[0] not in get_commands():
        print(f"There is no command `karat {arguments[0]}`{following(arguments[0])}.", file=sys.stderr)
        return FAULT
    try:
        if words is not None:
            return run_own(words, arguments[len(words) :])
        execute_from_command_line(["karat", *arguments])
    except DatabaseError:
        refuse_other_tables()
        raise
    return OK


def refuse_other_tables() -> None:
    """Raise Refusal where the tables of the database are not those that this version works with, as far as is known."""
    from django.conf import settings
    from django.db import DatabaseError

    from apps.common.errors import Refusal
    from apps.config.upgrade import plan_upgrade

    try:
        plan = plan_upgrade(data_dir=settings.DATA_DIR)
    except DatabaseError:
        return
    if not plan.has_data:
        raise Refusal(
            "The database is empty. `karat up` or `karat upgrade` creates it. If Karat runs with --data-dir, set "
            "KARAT_DATA_DIR to the same folder."
        )
    if plan.migrations:
        raise Refusal(
            "The database is of an earlier version. Start Karat again: `karat up` makes a backup and upgrades it, "
            "and so does `karat upgrade`."
        )


def following(word: str) -> str:
    """The rest of an error message about an unknown command: the second words that `word` needs, as `import` does."""
    seconds = [words[1] for words in MANAGED if words[0] == word and len(words) > 1]
    return f" alone; add one of {', '.join(seconds)}" if seconds else "; `karat --help` lists all"


if __name__ == "__main__":
    sys.exit(main())
