from concurrent.futures import ThreadPoolExecutor

from apps.jobs.execution import sweep


def test_a_host_has_one_id_for_all_its_processes(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(lambda _: sweep._id_in.__wrapped__(settings.DATA_DIR), range(64)))

    assert ids == {sweep.host_id()}
    assert [path.name for path in settings.DATA_DIR.iterdir()] == ["host-id"]
    assert (settings.DATA_DIR / "host-id").stat().st_mode & 0o077 == 0


def test_another_data_directory_is_another_host(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "one"
    one = sweep.host_id()
    settings.DATA_DIR = tmp_path / "two"

    assert sweep.host_id() != one
