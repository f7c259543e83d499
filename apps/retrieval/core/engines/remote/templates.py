"""What is asked, with places for the query: `{{query}}`, `{{k}}` and `{{query_id}}`.

A body is parsed as JSON before anything is put in, so whatever a query holds, it stays one JSON value.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from apps.retrieval.core.engines.base import BadParameters

PLACES = ("query", "k", "query_id")
LONGEST = 20_000
_PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_NO_ADDRESS = re.compile(r"[^\x21-\x7e]|[\\<>\"{}|^`]")
_STRING_OR_PLACE = re.compile(r'"(?:[^"\\]|\\.)*"|\{\{[^{}"]*\}\}')

Values = Mapping[str, str | int]


def parse_body(text: str) -> Any:
    """The JSON of a body with its places unfilled; a place may stand with quotes or without. Raises BadParameters."""
    if len(text) > LONGEST:
        raise BadParameters(f"The body is longer than {LONGEST:,} characters.")
    quoted = _STRING_OR_PLACE.sub(lambda found: found[0] if found[0][0] == '"' else f'"{found[0]}"', text)
    try:
        body = json.loads(quoted)
    except ValueError as wrong:
        where = f" at line {wrong.lineno}" if isinstance(wrong, json.JSONDecodeError) else ""
        raise BadParameters(f"The body is not JSON{where}. Places for values are written {{{{query}}}}.") from None
    except RecursionError:
        raise BadParameters("The body is nested too deeply.") from None
    _check_places(body)
    return body


def places_in(template: Any) -> set[str]:
    """The places that a body or an address holds, known or not."""
    if isinstance(template, str):
        return set(_PLACE.findall(template))
    if isinstance(template, list):
        return {place for item in template for place in places_in(item)}
    if isinstance(template, dict):
        return {place for item in template.values() for place in places_in(item)}
    return set()


def _check_places(template: Any) -> None:
    if unknown := sorted(places_in(template) - set(PLACES)):
        known = ", ".join(f"{{{{{place}}}}}" for place in PLACES)
        raise BadParameters(f"{{{{{unknown[0]}}}}} is not known. Places are {known}.")


def filled(template: Any, values: Values) -> Any:
    """The body with its values. A string that is nothing but a place becomes the value itself, a number a number."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        return values[whole[1]] if whole else _PLACE.sub(lambda found: str(values[found[1]]), template)
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: filled(item, values) for key, item in template.items()}
    return template


def split_address(url: str) -> tuple[str, str]:
    """Scheme and host, and the rest, of an address that may hold places. Raises BadParameters for one in the host."""
    found = re.match(r"(https?://[^/?#]*)(.*)\Z", url.strip(), re.DOTALL | re.IGNORECASE)
    if found is None:
        raise BadParameters("The address begins with neither https:// nor http://.")
    if "{" in found[1]:
        raise BadParameters("{{query}} may only come after the host in the address.")
    _check_places(found[2])
    rest = found[2].partition("#")[0]
    if _NO_ADDRESS.search(_PLACE.sub("", rest)):
        raise BadParameters("The address holds a space or another character that must be written with % signs.")
    return found[1], rest


def filled_address(rest: str, values: Values) -> str:
    """The part of an address after the host, with values percent-encoded so that none of them can end its place."""
    return _PLACE.sub(lambda found: quote(str(values[found[1]]), safe=""), rest)
