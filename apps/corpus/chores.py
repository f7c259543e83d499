"""What is done now and then: files whose reader was interrupted are read after all."""

from datetime import datetime, timedelta

from apps.corpus.importing.actions import read_in_job
from apps.corpus.selectors import left_unread
from apps.jobs.chores import chore

PATIENCE = timedelta(minutes=10)
"""Longer than a request may last: until then somebody may be reading."""


@chore("corpus.unread", every=timedelta(minutes=10))
def read_what_was_left(at: datetime) -> None:
    for pk in left_unread(at - PATIENCE):
        read_in_job(import_id=pk, at=at)
