"""What a test has set and takes back: faults of a rail, and a clock that stands still."""

from collections.abc import Callable
from types import TracebackType
from typing import Literal

from kasuwa_client import Kasuwa

RailName = Literal["bank", "biller", "card", "decider", "identity", "issuer", "mobile"]
FaultKind = Literal["timeout", "reset", "unavailable", "decline"]
FaultOperation = Literal[
    "transfer",
    "initiate",
    "charge",
    "validate",
    "refund",
    "accountname",
    "pay",
    "resolve",
    "bvn",
    "purchase",
    "authorize",
]


class PlannedFault:
    """Faults of a rail, which end with the block."""

    def __init__(self, client: Kasuwa, rail: RailName, on: FaultOperation | None) -> None:
        self._client = client
        self._rail = rail
        self._on = on

    def clear(self) -> None:
        """Clears the faults of the rail that are left, or of its operation alone if they were limited to one."""
        self._client.sandbox.fault(rail=self._rail, kind="none", on=self._on)

    def __enter__(self) -> "PlannedFault":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


class FrozenClock:
    """A clock that stands still. At the end of the block it runs again, unless it stood still before."""

    def __init__(self, unfreeze: Callable[[], None], was_frozen: bool) -> None:
        self._unfreeze = unfreeze
        self._was_frozen = was_frozen

    def release(self) -> None:
        """Lets the clock run again, unless it stood still before."""
        if not self._was_frozen:
            self._unfreeze()

    def __enter__(self) -> "FrozenClock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
