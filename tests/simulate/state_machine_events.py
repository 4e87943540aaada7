"""The last part of the state machine: at the end of a sequence the log of events is exactly that of the model."""

from collections import Counter
from typing import Any

from tests.simulate.model_books import Id, Reply
from tests.simulate.state_machine_faults import FaultMachine

# What stands for a reference that no reply has shown.
HIDDEN = "(of the service)"


class ApiStateMachine(FaultMachine):
    def compare_everything(self) -> None:
        super().compare_everything()
        self.compare_events()

    def compare_events(self) -> None:
        """Compares the whole log: numbers without a gap, no event twice, and each payload field by field, with nothing
        missing and nothing else."""
        self.read_feed()
        assert [line["sequence"] for line in self.lines] == list(range(1, len(self.lines) + 1))
        assert len({line["txnRef"] for line in self.lines}) == len(self.lines), "an event came twice"
        known = {*self.ids.values(), *self.references.values(), *self.model.txns}
        found = Counter(flatten(hide(line["payload"], known)) for line in self.lines)
        expected = Counter(flatten(self.resolve(event)) for event in self.model.events)
        assert found == expected, ([*(found - expected)], "instead of", [*(expected - found)])

    def resolve(self, event: Reply) -> Reply:
        """Returns an event of the model with the references of the service."""
        return {name: self.name_of(value.key) if isinstance(value, Id) else value for name, value in event.items()}

    def name_of(self, key: str) -> str:
        if key in self.model.codes and key not in self.ids:
            return key
        return self.references.get(key) or self.ids.get(key) or HIDDEN


def hide(payload: Any, known: set[str]) -> Reply:
    """Returns a payload without references that no reply has shown."""
    hidden = {name for name in ("txnRef", "orderRef") if name in payload and payload[name] not in known}
    return {name: HIDDEN if name in hidden else value for name, value in payload.items()}


def flatten(payload: Reply) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in payload.items()))
