"""Finds the queries that a table names, by id or by their words, and names those that are new."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apps.common.files.near_ids import Proposal, propose_fit
from apps.queries.core.naming import QueryNames

Asked = tuple[str, str]
MOST_ARE_IDS = 0.8


class MatchedQuery(NamedTuple):
    """A query of the project, or a new one, whose key is negative."""

    outside_id: str
    key: int


class QueryMatches(NamedTuple):
    """The query of each id and text. `new` are ids and texts to create, `unmade` texts that are not to be created.

    `lost` are ids that are not here and have no text; `near` is a proposal for such ids. `are_ids`: the column of
    queries has ids instead of words.
    """

    found: dict[Asked, MatchedQuery]
    new: list[tuple[str, str]]
    unmade: list[str]
    lost: list[str]
    near: Proposal | None
    are_ids: bool


def match_queries(
    asked: Sequence[Asked], names: QueryNames, keys: Mapping[str, int], *, takes_near: bool, makes_new: bool
) -> QueryMatches:
    """Match each (id, text) of a table; `keys` are the queries of the project. Nothing is created here."""
    are_ids = _are_ids([text for _, text in asked if text], keys)
    wanted = {one: (one[0] or one[1], "") if are_ids else one for one in dict.fromkeys(asked) if any(one)}
    unknown = {query_id for query_id, _ in wanted.values() if query_id and query_id not in keys}
    taken = [query_id for query_id, _ in wanted.values() if query_id in keys]
    textless = [query_id for query_id, text in wanted.values() if query_id in unknown and not text]
    near = propose_fit(textless, keys, taken=taken)
    fits = near.fits if near and takes_near else {}
    matches = QueryMatches({}, [], [], [], near, are_ids)
    made: dict[str, int] = {}
    for one, (written, text) in wanted.items():
        query_id = fits.get(written, written) or names.known_id(text) or ""
        if query_id not in keys and query_id not in made:
            if not text:
                matches.lost.append(query_id)
                continue
            if not makes_new:
                matches.unmade.append(text)
                continue
            query_id = query_id or names.id_for(text)
            names.learn(query_id, text)
            matches.new.append((query_id, text))
            made[query_id] = -len(matches.new)
        matches.found[one] = MatchedQuery(query_id, keys.get(query_id) or made[query_id])
    return matches


def _are_ids(values: Sequence[str], keys: Mapping[str, int]) -> bool:
    """Whether the values are ids: half of them are known, or most nearly fit known ones."""
    distinct = set(values)
    exact = sum(value in keys for value in distinct)
    if not distinct or exact * 2 >= len(distinct):
        return bool(distinct)
    if any(" " in value for value in distinct):
        return False
    near = propose_fit(sorted(distinct), keys)
    return near is not None and exact + len(near.fits) >= MOST_ARE_IDS * len(distinct)
