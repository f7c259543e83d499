"""Where the database of a data directory moved to. Nothing works on the SQLite file that was left there.

The file `moved-to` has the address without user and password. It is written when a move is complete, and taken away
just before a database is put in the place of the one that was left.
"""

from pathlib import Path
from urllib.parse import quote

import dj_database_url

from apps.common.files.private import whole_file

MARKER = "moved-to"


def own_database(data_dir: Path) -> Path:
    """The SQLite file that is the database where DATABASE_URL is not set."""
    return data_dir / "karat.sqlite3"


def shown(address: str) -> str:
    """An address as in DATABASE_URL, with neither user nor password nor options."""
    there = dj_database_url.parse(address)
    if str(there["ENGINE"]).endswith("sqlite3"):
        return f"sqlite:///{there['NAME']}"
    host, port = str(there.get("HOST") or ""), there.get("PORT")
    host = f"[{host}]" if ":" in host else quote(host, safe="")
    return f"postgres://{host}{f':{port}' if port else ''}/{quote(str(there['NAME']))}"


def is_own(database: object, data_dir: Path) -> bool:
    """Whether this is the SQLite file of the data directory, by the NAME of its settings."""
    return Path(str(database)).resolve() == own_database(data_dir).resolve()


def note_move(to: str, data_dir: Path) -> None:
    """Write down where the database is from now on, at once or not at all."""
    there = dj_database_url.parse(to)
    if str(there["ENGINE"]).endswith("sqlite3") and is_own(there["NAME"], data_dir):
        forget_move(data_dir)
        return
    with whole_file(data_dir / MARKER) as stream:
        stream.write(f"{shown(to)}\n".encode())


def forget_move(data_dir: Path) -> None:
    """A database is in the place of the one that was left."""
    (data_dir / MARKER).unlink(missing_ok=True)


def moved_away(database: object, data_dir: Path) -> str:
    """Why nothing may work on this database, by the NAME of its settings: it was left by a move. "" otherwise."""
    marker = data_dir / MARKER
    if not is_own(database, data_dir) or not marker.exists():
        return ""
    there = marker.read_text(encoding="utf-8").strip()
    login = ", with its user and password" if there.startswith("postgres") else ""
    return (
        f"The database in {data_dir} moved to {there}. Set DATABASE_URL to that address{login}. To bring it back, move "
        "karat.sqlite3 away and run `karat move --to sqlite` with that DATABASE_URL. To go on with the one that was "
        f"left, without all that was done since, remove the file {marker}."
    )
