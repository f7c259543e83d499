"""Licences under which a release can be published, and the notice of each."""

from __future__ import annotations

from typing import NamedTuple


class Licence(NamedTuple):
    """`key` is the SPDX identifier."""

    key: str
    name: str
    url: str


LICENCES = (
    Licence(
        "CC-BY-4.0", "Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"
    ),
    Licence(
        "CC-BY-SA-4.0",
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    Licence(
        "CC-BY-NC-4.0",
        "Creative Commons Attribution-NonCommercial 4.0 International",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    Licence(
        "CC0-1.0",
        "Creative Commons Zero 1.0 Universal (public domain)",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    ),
    Licence("ODC-By-1.0", "Open Data Commons Attribution License 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
)
BY_KEY = {licence.key: licence for licence in LICENCES}


def notice(title: str, holder: str, key: str) -> str:
    licence = BY_KEY[key]
    of = f" by {holder}" if holder else ""
    return (
        f"{title}{of} is licensed under\n{licence.name} ({licence.key}).\n\n"
        f"The terms are at {licence.url}\n\nProvided as is, without warranty of any kind.\n"
    )
