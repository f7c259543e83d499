"""What goes into the log."""

import logging


class NoTraceOfRefusals(logging.Filter):
    """Lets every line through. An answer below 500 is no fault of ours, and its line brings no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info, record.exc_text = None, None
        return True
