"""What a provider says of a person, once everything about it was checked."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Claims:
    """What the provider says of a person. `email` is empty unless the provider has verified it; `address` is what it
    says anyway, and proves nothing by itself.

    `groups` is empty when the token names none; `has_too_many_groups` when the provider left them out for their number.
    """

    issuer: str
    subject: str
    email: str = ""
    address: str = ""
    name: str = ""
    groups: frozenset[str] = frozenset()
    has_too_many_groups: bool = False
