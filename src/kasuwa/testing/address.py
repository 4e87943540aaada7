"""The address of a server of the test environment, with the merchant that creates others."""

from dataclasses import dataclass
from pathlib import Path

DEMO_MID, DEMO_KEY = "GP0000001", "123456789"


@dataclass(frozen=True, repr=False)
class ServerAddress:
    """A running server. `directory` is that of a server that was started for tests, else None. A
    server that `is_replayed` answers from the recording of a test."""

    url: str
    mid: str = DEMO_MID
    key: str = DEMO_KEY
    directory: Path | None = None
    is_replayed: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self.url!r})"
