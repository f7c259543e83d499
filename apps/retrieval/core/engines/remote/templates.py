"""Templates of requests with the placeholders `{{query}}`, `{{k}}` and `{{query_id}}`.

A body is parsed as JSON before values are put in, so the text of a query always stays one JSON value.
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
    """The JSON of a body, with its placeholders; they may be quoted or not. Raises BadParameters."""
    if len(text) > LONGEST:
        raise BadParameters(f"The body is longer than {LONGEST:,} characters.")
    quoted = _STRING_OR_PLACE.sub(lambda match: match[0] if match[0][0] == '"' else f'"{match[0]}"', text)
    try:
        body = json.loads(quoted)
    except ValueError as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadParameters(f"The body is not JSON{where}. Write placeholders like {{{{query}}}}.") from None
    except RecursionError:
        raise BadParameters("The body is nested too deeply.") from None
    _check_places(body)
    return body


def places_in(template: Any) -> set[str]:
    """The placeholders in a body or an address, known or not."""
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
        raise BadParameters(f"{{{{{unknown[0]}}}}} is not a known placeholder. Use {known}.")


def filled(template: Any, values: Values) -> Any:
    """The body with values for its placeholders. A string that is one placeholder becomes the value, with its type."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        return values[whole[1]] if whole else _PLACE.sub(lambda match: str(values[match[1]]), template)
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: filled(item, values) for key, item in template.items()}
    return template


def split_address(url: str) -> tuple[str, str]:
    """Split an address into scheme with host, and the rest without a fragment. Placeholders may be in the rest only.

    Raises BadParameters.
    """
    match = re.match(r"(https?://[^/?#]*)(.*)\Z", url.strip(), re.DOTALL | re.IGNORECASE)
    if match is None:
        raise BadParameters("The address begins with neither https:// nor http://.")
    if "{" in match[1]:
        raise BadParameters("{{query}} may only come after the host in the address.")
    _check_places(match[2])
    rest = match[2].partition("#")[0]
    if _NO_ADDRESS.search(_PLACE.sub("", rest)):
        raise BadParameters("The address contains a space or another character that must be written with % signs.")
    return match[1], rest


def filled_address(rest: str, values: Values) -> str:
    """The part of an address after the host, with percent-encoded values for its placeholders."""
    return _PLACE.sub(lambda match: quote(str(values[match[1]]), safe=""), rest)
