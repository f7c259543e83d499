from apps.common.errors import Refusal

LONGEST = {"name": 120, "tag": 110, "commit": 80}


class TooLong(Refusal):
    """A text that its column could not hold."""


def check_lengths(**texts: str) -> None:
    """Refuse what the columns could not hold; a file's tag can be of any length."""
    for name, value in texts.items():
        longest = LONGEST[name]
        if len(value) > longest:
            raise TooLong(f"The {name} is longer than {longest} characters.", code="too_long")
