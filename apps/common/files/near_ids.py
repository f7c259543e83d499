"""Ids that nearly fit: one rule that turns the unknown ids of a file into known ones.

A rule is proposed, never applied silently: ids that differ by case or padding may be different things. So a rule counts
only when it is unambiguous: no unknown id fits two known ones, and no known id is reached twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

Form = Callable[[str], str]

MOST_KNOWN = 50_000
"""From so many known ids on, no prefix or suffix is searched for: the search looks at each of them."""
PROBES = 20
LEAST_SHARE = 0.5
LEAST_OF_AFFIX = 2
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
_ORIGIN = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_INDEX = re.compile(r"(?:\A|(?<=/))(?:index|readme)(?:\.[a-z0-9]{1,5})?\Z", re.IGNORECASE)


class Proposal(NamedTuple):
    """One rule, in words, with the unknown ids that it makes fit and the known id of each.

    `difference` completes "They differ by …". `unknown` counts the unknown ids, fitting or not.
    """

    difference: str
    fits: Mapping[str, str]
    unknown: int

    @property
    def example(self) -> tuple[str, str]:
        """The first id of the file that fits, and its known id."""
        return next(iter(self.fits.items()))

    @property
    def sentence(self) -> str:
        """`12 of 14 ids nearly match: they differ by leading zeros, as Q1 is Q01.`"""
        written, known = self.example
        n, of = len(self.fits), f" of {self.unknown:,}" if len(self.fits) != self.unknown else ""
        words = "id nearly matches: it differs" if n == 1 and not of else "ids nearly match: they differ"
        return f"{n:,}{of} {words} by {self.difference}, as {written} is {known}."


def propose_fit(
    unknown: Iterable[str], known: Collection[str], *, taken: Iterable[str] = (), may_merge: bool = False
) -> Proposal | None:
    """The rule that makes most of the unknown ids fit, the simplest of several; None without an unambiguous one.

    `taken` are the known ids that the file has exactly: an unknown id that would become one of them is no fit, unless
    `may_merge` allows several spellings of one id in a file, as addresses have them. At least half of the unknown ids
    must fit.
    """
    wanted = list(dict.fromkeys(one for one in unknown if one))
    known = known if isinstance(known, (set, frozenset, dict)) else set(known)
    wanted = [one for one in wanted if one not in known]
    occupied = set() if may_merge else set(taken)
    best: Proposal | None = None
    for difference, ours, theirs in _rules(wanted, known):
        fits = _fits(wanted, known, ours, theirs, occupied, may_merge=may_merge)
        is_affix = difference.startswith(("the prefix", "the suffix"))
        enough = max(LEAST_SHARE * len(wanted), LEAST_OF_AFFIX if is_affix else 1)
        if fits and len(fits) >= enough and (best is None or len(fits) > len(best.fits)):
            best = Proposal(difference, fits, len(wanted))
        if best is not None and len(best.fits) == len(wanted):
            break
    return best


def _fits(
    wanted: list[str], known: Collection[str], ours: Form, theirs: Form, occupied: set[str], *, may_merge: bool
) -> dict[str, str] | None:
    """The ids that fit by equal forms; None when the rule is ambiguous for any of them."""
    forms = {one: ours(one) for one in wanted}
    needed = {form for form in forms.values() if form}
    places: dict[str, str] = {}
    doubled = set()
    for one in known:
        form = theirs(one)
        if form in needed and places.setdefault(form, one) != one:
            doubled.add(form)
    fits = {one: places[form] for one, form in forms.items() if form in places}
    if doubled & set(forms.values()):
        return None
    if not may_merge and (len(set(fits.values())) != len(fits) or occupied & set(fits.values())):
        return None
    return fits


def _rules(wanted: list[str], known: Collection[str]) -> Iterator[tuple[str, Form, Form]]:
    """The rules, simplest first: what differs, and the forms of an id of the file and of a known id."""
    for words, form in _SPELLINGS:
        yield words, form, form
    if len(known) > MOST_KNOWN:
        return
    for words, base in _BASES:
        yield from _affixes(wanted, known, words, base)


def _affixes(wanted: list[str], known: Collection[str], words: str, base: Form) -> Iterator[tuple[str, Form, Form]]:
    """Rules of one prefix or suffix, on the file's side or on ours, that the first unknown ids suggest."""
    bases = {base(one) for one in known}
    probes = [form for form in map(base, wanted[:PROBES]) if form]
    also = f" and {words}" if words else ""
    for text in _most_common(_cut_off(probe, bases, at_start=True) for probe in probes):
        yield f"the prefix {text}{also}", _without_prefix(base, text), base
    for text in _most_common(_cut_off(probe, bases, at_start=False) for probe in probes):
        yield f"the suffix {text}{also}", _without_suffix(base, text), base
    longer = [form for form in bases if form]
    for text in _most_common(_added(probe, longer, at_start=True) for probe in probes):
        yield f"the prefix {text}{also}", base, _without_prefix(base, text)
    for text in _most_common(_added(probe, longer, at_start=False) for probe in probes):
        yield f"the suffix {text}{also}", base, _without_suffix(base, text)


def _most_common(texts: Iterable[Iterable[str]]) -> list[str]:
    counts = Counter(text for some in texts for text in some)
    return [text for text, _ in sorted(counts.items(), key=lambda pair: (-pair[1], len(pair[0]), pair[0]))[:3]]


def _cut_off(probe: str, known: Collection[str], *, at_start: bool) -> Iterator[str]:
    """What can be cut off the probe so that a known id remains."""
    for place in range(1, len(probe)):
        head, tail = probe[:place], probe[place:]
        if _is_seam(head, tail) and (tail if at_start else head) in known:
            yield head if at_start else tail


def _added(probe: str, known: Iterable[str], *, at_start: bool) -> Iterator[str]:
    """What known ids have before, or after, the probe."""
    for one in known:
        if len(one) <= len(probe):
            continue
        if at_start and one.endswith(probe) and _is_seam(one[: -len(probe)], probe):
            yield one[: -len(probe)]
        if not at_start and one.startswith(probe) and _is_seam(probe, one[len(probe) :]):
            yield one[len(probe) :]


def _is_seam(head: str, tail: str) -> bool:
    """Whether a prefix can end here: not within a number, and not within a word."""
    left, right = head[-1], tail[0]
    return not (left.isdigit() and right.isdigit()) and not (left.isalpha() and right.isalpha())


def _without_prefix(base: Form, text: str) -> Form:
    return lambda one: form[len(text) :] if (form := base(one)).startswith(text) else ""


def _without_suffix(base: Form, text: str) -> Form:
    return lambda one: form[: -len(text)] if (form := base(one)).endswith(text) else ""


def _as_it_is(one: str) -> str:
    return one


def _unpadded(one: str) -> str:
    return _ZEROS.sub("", one)


def _unpadded_lower(one: str) -> str:
    return _unpadded(one.casefold())


def _joined(one: str) -> str:
    """Without what may divide the words of an id."""
    return re.sub(r"[\s_.:-]+", "-", one.strip()).casefold()


def _without_extension(one: str) -> str:
    return _EXTENSION.sub("", one)


def path_of(address: str) -> str:
    """The path of an address without origin, query, fragment and outer slashes; `a//index.html` is `a`."""
    path = re.split(r"[?#]", _ORIGIN.sub("", address.strip()), maxsplit=1)[0]
    return _INDEX.sub("", unquote(path)).strip("/")


def _path_lower(one: str) -> str:
    return path_of(one).casefold()


def _page(one: str) -> str:
    return _without_extension(path_of(one)).casefold()


_SPELLINGS: tuple[tuple[str, Form], ...] = (
    ("capitals", str.casefold),
    ("leading zeros", _unpadded),
    ("capitals and leading zeros", _unpadded_lower),
    ("a file extension", _without_extension),
    ("the site's address or slashes", path_of),
    ("the site's address, slashes or capitals", _path_lower),
    ("the site's address, slashes or a file extension", _page),
    ("hyphens, underscores or spaces", _joined),
)
_BASES: tuple[tuple[str, Form], ...] = (
    ("", _as_it_is),
    ("leading zeros", _unpadded),
    ("capitals", str.casefold),
    ("capitals and leading zeros", _unpadded_lower),
)
