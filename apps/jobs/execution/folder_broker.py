"""The embedded broker: Celery's messages as files in a folder."""

import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Writes a message under a temporary name first, so that nobody reads an incomplete one."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        draft = Path(self.data_folder_out, f".{name}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(dumps(payload))
        draft.rename(draft.with_name(name))


class Transport(filesystem.Transport):
    Channel = Channel
