"""Filters of the log."""

import logging


class NoTraceOfRefusals(logging.Filter):
    """Removes the traceback from lines about answers below 500, which are no fault of ours. Drops no line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info, record.exc_text = None, None
        return True
