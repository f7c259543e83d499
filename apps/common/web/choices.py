"""A field of the API for one of a few values."""

from typing import Any

from rest_framework import serializers

MOST_NAMED = 30


class ChoiceField(serializers.ChoiceField):
    """Whoever sends another value is told which there are."""

    def fail(self, key: str, **values: Any) -> Any:
        if key == "invalid_choice" and len(self.choices) <= MOST_NAMED:
            known = ", ".join(map(str, self.choices))
            raise serializers.ValidationError(f'"{values["input"]}" is none of: {known}.', code=key)
        super().fail(key, **values)
