"""`kasuwa doctor`: prints the findings of kasuwa.doctor.checks."""

import os

import typer

from kasuwa.commands.database import one_line_errors
from kasuwa.commands.directory_option import DataOption
from kasuwa.doctor.checks import examine
from kasuwa.settings.settings import read_settings


def doctor(data: DataOption = None) -> None:
    """Say what is wrong with this deployment, and how to mend it.

    The exit code is 1 if anything is wrong."""
    with one_line_errors():
        findings = examine(read_settings(os.environ, data=data))
    typer.echo("\n".join(str(finding) for finding in findings))
    if any(finding.is_problem for finding in findings):
        raise typer.Exit(1)
