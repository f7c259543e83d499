"""The file that says where a database moved to."""

import pytest

from apps.config.moved import forget_move, moved_away, note_move, own_database

ADDRESSES = {
    "postgres://karat:s3cret@db.example.org:5433/gold?sslmode=require&password=s3cret": (
        "postgres://db.example.org:5433/gold"
    ),
    "postgresql://karat:s3cret@localhost/karat": "postgres://localhost/karat",
    "postgres://karat:s3cret@[::1]/karat": "postgres://[::1]/karat",
    "postgres://%2Frun%2Fpostgresql/karat": "postgres://%2Frun%2Fpostgresql/karat",
    "sqlite:////srv/karat/gold.sqlite3": "sqlite:////srv/karat/gold.sqlite3",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_sentence_names_the_new_place_without_who_and_with_what_password(tmp_path, address):
    note_move(address, tmp_path)

    told = moved_away(own_database(tmp_path), tmp_path)

    assert told.startswith(f"The database in {tmp_path} moved to {ADDRESSES[address]}. Set DATABASE_URL to that ")
    assert f"remove the file {tmp_path}/moved-to." in told
    assert "s3cret" not in (tmp_path / "moved-to").read_text()
    assert (tmp_path / "moved-to").stat().st_mode & 0o077 == 0


def test_only_the_database_that_was_left_is_refused(tmp_path):
    note_move("postgres://localhost/karat", tmp_path)

    assert not moved_away("karat", tmp_path)
    assert not moved_away(tmp_path / "other.sqlite3", tmp_path)
    assert not moved_away(own_database(tmp_path / "elsewhere"), tmp_path / "elsewhere")


def test_a_later_move_is_told_instead_of_the_first_and_a_move_back_takes_the_file_away(tmp_path):
    for place in ("first", "second"):
        note_move(f"postgres://{place}/karat", tmp_path)
        assert f"moved to postgres://{place}/karat." in moved_away(own_database(tmp_path), tmp_path)

    note_move(f"sqlite:///{own_database(tmp_path)}", tmp_path)

    assert not moved_away(own_database(tmp_path), tmp_path)
    assert not list(tmp_path.iterdir())
    forget_move(tmp_path)
