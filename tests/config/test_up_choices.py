"""The variables that `karat up` sets itself, for the processes that it starts."""

import os

from apps.config import up


def test_what_it_chooses_is_noted_and_what_is_set_stays(monkeypatch):
    for name in ("KARAT_URL", "KARAT_ALLOWED_HOSTS", "KARAT_SET_BY_UP"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("KARAT_HTTPS", "1")

    for name in ("KARAT_URL", "KARAT_HTTPS", "KARAT_ALLOWED_HOSTS"):
        up.choose(name, "chosen")

    assert (os.environ["KARAT_URL"], os.environ["KARAT_HTTPS"]) == ("chosen", "1")
    assert os.environ["KARAT_SET_BY_UP"] == "KARAT_URL,KARAT_ALLOWED_HOSTS"
