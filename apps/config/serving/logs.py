"""gunicorn's log in the format of Karat's own."""

import os
from typing import Any

from gunicorn.glogging import Logger


class Log(Logger):
    """What gunicorn takes as `--logger-class`. Its arbiter logs too, and has not loaded Django."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
        from apps.common.web.logs import formatter

        for handler in self.error_log.handlers:
            handler.setFormatter(formatter(self.error_fmt, dates=self.datefmt))
