"""The replies that the tests recorded in the test environment (tests/examples.py), as examples of an environment."""

from typing import Any

from kasuwa.core.reference_tables import load_reference_data

# Values that only the test environment has, and what live shows in their place.
NEUTRAL_TEXTS = {
    "Sandbox Bank (Mastercard test BIN)": "Example Bank",
    "Sandbox merchant": "Ada Stores",
}


def read_recorded_replies(environment: str) -> dict[str, Any]:
    """Returns the recorded reply of each action. Those of live name nothing of the test environment."""
    recorded: dict[str, Any] = load_reference_data("replies")
    return recorded if environment == "test" else {name: as_in_live(reply) for name, reply in recorded.items()}


def as_in_live(value: Any, field: str = "") -> Any:
    if isinstance(value, dict):
        return {name: as_in_live(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [as_in_live(part) for part in value]
    if field == "endpoint" and value == "test":
        return "live"
    if not isinstance(value, str):
        return value
    for text, neutral in NEUTRAL_TEXTS.items():
        value = value.replace(text, neutral)
    return value
