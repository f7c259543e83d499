import json
import threading
from pathlib import Path

from celery import Celery

TRANSPORT = "apps.jobs.execution.folder_broker:Transport"


def broker(folder: Path) -> Celery:
    for name in ("messages", "control"):
        (folder / name).mkdir(exist_ok=True)
    app = Celery("test", broker="filesystem://localhost", set_as_current=False)
    app.conf.update(
        broker_transport=TRANSPORT,
        task_default_queue="karat",
        broker_transport_options={
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
        },
    )
    return app


def test_a_message_is_a_file_that_only_its_owner_reads(tmp_path):
    app = broker(tmp_path)

    app.send_task("jobs.run", [17])

    (message,) = (tmp_path / "messages").iterdir()
    assert message.stat().st_mode & 0o077 == 0
    assert json.loads(message.read_text())["headers"]["task"] == "jobs.run"


def test_a_message_is_never_seen_half_written(tmp_path):
    app = broker(tmp_path)
    writer = threading.Thread(target=lambda: [app.send_task("jobs.run", [n]) for n in range(200)])
    writer.start()
    seen = set()
    while writer.is_alive():
        for path in (tmp_path / "messages").glob("[0-9]*.karat.msg"):
            if path.name not in seen:
                json.loads(path.read_text())
                seen.add(path.name)
    writer.join()

    assert len(list((tmp_path / "messages").iterdir())) == 200


def test_what_was_sent_is_received_in_order(tmp_path):
    app = broker(tmp_path)
    for number in range(3):
        app.send_task("jobs.run", [number])

    with app.connection() as connection:
        queue = connection.SimpleQueue("karat")
        received = [queue.get(timeout=5).payload[0] for _ in range(3)]

    assert sorted(received) == [[0], [1], [2]]
