"""Sessions in the database, and temporary ones in the cookie while the database cannot be written to.

People who sign in while the database is locked or the disk is full get a lent session: its data, signed, in place of
its key. It lasts a quarter of an hour and is for reading: saving fails anyway. It ends with the password or the account
like any other; only signing out elsewhere does not end it.
"""

import logging
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.core import signing
from django.db import DatabaseError

from apps.accounts.models import Visit
from apps.common.web.outages import outage_of

log = logging.getLogger(__name__)

SALT = "karat.lent-session"
LENT_MARK = "~"
LENT_SECONDS = 15 * 60


class SessionStore(db.SessionStore):
    @property
    def is_lent(self) -> bool:
        return (self.session_key or "").startswith(LENT_MARK)

    def load(self) -> dict[str, Any]:
        if not self.is_lent:
            return super().load()
        assert self.session_key is not None
        try:
            return signing.loads(self.session_key.removeprefix(LENT_MARK), salt=SALT, max_age=LENT_SECONDS)
        except signing.BadSignature:
            self._session_key = None
            return {}

    def save(self, must_create: bool = False) -> None:
        if self.is_lent:
            self._lend(dict(self.items()))
            return
        try:
            super().save(must_create)
        except (DatabaseError, UpdateError) as problem:
            outage = outage_of(problem)
            if outage is None:
                raise
            if not must_create:
                raise _database_error(problem) from problem
            log.warning("%s: a person signed in for reading only.", outage.title)
            self._lend(getattr(self, "_session_cache", {}))

    def delete(self, session_key: str | None = None) -> None:
        if not (session_key or self.session_key or "").startswith(LENT_MARK):
            super().delete(session_key)

    def cycle_key(self) -> None:
        """Give the session a new key. During an outage the old key may remain, since it cannot be deleted."""
        data, old = dict(self.items()), self.session_key
        self.create()
        self._session_cache = data
        if old is None:
            return
        try:
            if not self.is_lent:
                Visit.objects.filter(session=old).update(session=self.session_key)
            self.delete(old)
        except DatabaseError as problem:
            if outage_of(problem) is None or not self.is_lent:
                raise

    def _lend(self, data: dict[str, Any]) -> None:
        self._session_key = LENT_MARK + signing.dumps(data, salt=SALT, compress=True)


def _database_error(problem: BaseException) -> BaseException:
    """The database error behind Django's UpdateError ("the session was deleted"), when it is an outage."""
    return problem if isinstance(problem, DatabaseError) else problem.__context__ or problem


class Login(NamedTuple):
    """Who signed in, and the hash that their password had then."""

    user_id: int
    auth_hash: str


@lru_cache(maxsize=4096)
def signed_in(session_data: str) -> Login | None:
    """The sign-in that the stored data of a session holds; None for a session of nobody, and for data not of ours.

    Whether it still counts depends on the session's end, the account and the password now.
    """
    data = SessionStore().decode(session_data)
    if data.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS or not str(data[SESSION_KEY]).isdigit():
        return None
    return Login(int(data[SESSION_KEY]), data.get(HASH_SESSION_KEY, ""))
