import os
import subprocess
import sys

from apps.config.servers import WEB_WORKER
from tests.conftest import REPO


def test_the_worker_can_be_found_before_django_is_loaded(tmp_path):
    """gunicorn's own command, as the image runs it, looks the worker up before it loads the application."""
    module, _ = WEB_WORKER.rsplit(".", 1)
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment = inherited | {"PYTHONPATH": str(REPO), "KARAT_DATA_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", f"import {module}, sys; sys.exit('django.db.models' in sys.modules)"]
    done = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr
