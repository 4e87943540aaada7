"""The option of commands that names the data directory. Imports nothing else of the service."""

from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[Path | None, typer.Option("--data", help="Data directory (KASUWA_DATA).")]
