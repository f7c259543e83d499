import pytest

from tests.cli.evaluate.releases import write_release
from tests.remote_server import running


@pytest.fixture
def release_folder(tmp_path):
    return write_release(tmp_path / "doors-v2")


@pytest.fixture(scope="module")
def port():
    with running() as port:
        yield port
