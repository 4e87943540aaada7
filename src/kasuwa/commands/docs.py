"""`kasuwa docs`: writes the documentation to a directory, as a static site."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kasuwa.boot.documentation import make_site

OutOption = Annotated[Path, typer.Option("--out", help="Directory to write. Files of an earlier run are replaced.")]


def write_docs(out: OutOption) -> None:
    """Write the documentation to a directory, as a static site.

    These are the pages that the service shows below /docs. All links are relative and nothing is loaded from elsewhere,
    so any web server can serve the directory, and a browser can open its index.html."""
    site = make_site()
    try:
        for address in site.addresses:
            place = out / address
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(site.read(address))
    except OSError as error:
        sys.exit(f"kasuwa: {out} cannot be written: {error.strerror}")
    typer.echo(f"{len(site.addresses)} files are in {out}; open {out / 'index.html'}")
