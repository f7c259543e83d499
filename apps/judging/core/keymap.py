"""Keys of the judging screen: the defaults, and which other keys may replace them. Plain values."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

MOST_GRADES = 10


class Act(NamedTuple):
    """An action of the judging screen that has a key."""

    name: str
    words: str
    usual: str


GRADES = tuple(Act(f"grade_{grade}", f"Grade {grade}", str(grade)) for grade in range(MOST_GRADES))
OTHERS = (
    Act("cant_judge", "Can’t judge", "x"),
    Act("unclear_query", "Can’t judge: unclear query", "q"),
    Act("unreadable", "Can’t judge: unreadable passage", "w"),
    Act("needs_expert", "Can’t judge: needs an expert", "e"),
    Act("missing_context", "Can’t judge: missing context", "r"),
    Act("undo", "Undo", "u"),
    Act("note", "Note", "n"),
    Act("evidence", "Mark evidence", "m"),
    Act("select", "Select words", "s"),
    Act("whole", "Whole text", "t"),
    Act("guideline", "Guideline", "g"),
    Act("lit", "Highlight the query’s words", "l"),
    Act("view", "One pair, or all of a query", "v"),
    Act("next", "Next passage", "j"),
    Act("previous", "Previous passage", "k"),
)
ACTS = {act.name: act for act in (*GRADES, *OTHERS)}
# Used by the page, by browsers with find-as-you-type, or no single character on many keyboards.
RESERVED = {
    "?": "“?” lists the keys.",
    "/": "Browsers open their search on “/”.",
    "'": "Browsers open their search on “'”.",
    "+": "“+” joins keys that are pressed together.",
    **{key: f"“{key}” waits for a letter on many keyboards." for key in "^`´~¨"},
}


def acts_for(grades: Iterable[int]) -> list[Act]:
    """The acts of a screen with these grades, in the order to list them."""
    return [act for act in (ACTS.get(f"grade_{grade}") for grade in grades) if act] + list(OTHERS)


def keys_of(chosen: Mapping[str, str]) -> dict[str, str]:
    """The key of every act; empty for one whose default key was given to another."""
    used = set(chosen.values())
    usual = {act.name: "" if act.usual in used else act.usual for act in ACTS.values()}
    return usual | dict(chosen)


def tidy(key: str) -> str:
    """A key as it is stored: capitals and small letters are the same."""
    return key.strip().lower()


def faults(keys: Mapping[str, str], *, digits_are_free: bool = False) -> dict[str, str]:
    """A sentence for each act that can't have its key. Empty when all keys are valid.

    A digit is the grade it names; only with `digits_are_free` may it have another act.
    """
    by_act: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, key in keys.items():
        holder = first.setdefault(key, name)
        fault = _key_fault(name, key, digits_are_free)
        if fault is None and holder != name:
            fault = f"“{key}” is “{ACTS[holder].words}” already."
        if fault:
            by_act[name] = fault
    return by_act


def _key_fault(name: str, key: str, digits_are_free: bool) -> str | None:
    if name not in ACTS:
        return "There is no such action."
    if len(key) != 1 or not key.isprintable() or key.isspace():
        return "A key is one character: a letter, a digit or a sign."
    if key in RESERVED:
        return f"{RESERVED[key]} Choose another one."
    if key.isascii() and key.isdigit() and name != f"grade_{key}" and not digits_are_free:
        return f"{key} is the key of grade {key}. Free the digits below to use it here."
    return None


def changed_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """The differences from the default keys, which are all that is stored."""
    return {name: key for name, key in keys.items() if key != ACTS[name].usual}


def frees_digits(chosen: Mapping[str, str]) -> bool:
    """Whether some digit has another act than its grade."""
    return any(key.isascii() and key.isdigit() and name != f"grade_{key}" for name, key in chosen.items())
