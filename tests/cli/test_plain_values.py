"""Values of command lines that are converted without pydantic: each is what typer makes of it, and refused as it is."""

from pathlib import Path
from typing import Annotated

import pytest
import typer
import typer.core
from typer._coercion import build_runtime_param
from typer.testing import CliRunner

from kasuwa.commands.plain_values import PlainValues

app = typer.Typer()


@app.command()
def show(
    name: str = "ada",
    count: Annotated[int, typer.Option(min=1, max=10)] = 3,
    seconds: Annotated[float, typer.Option(min=0)] = 0,
    rate: float | None = None,
    data: Path | None = None,
    statement: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
    tags: list[str] | None = None,
) -> None:
    print([name, count, seconds, rate, data, statement, tags])


def run(words: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output


CASES = [
    [],
    ["--name", ""],
    ["--name", "0123"],
    ["--name", "Ọlá"],
    ["--name", "\udcff"],
    *(["--count", text] for text in ("1", "10", "0", "11", "-1", "007", "1.0", "ten", " 2", "٣", "", "1_0")),
    *(["--seconds", text] for text in ("0", "1", "1.5", "-1", "1e3", "inf", "nan", "many", "٣")),
    *(["--rate", text] for text in ("0", "-2", "+2")),
    *(["--data", text] for text in (".", "no/such/place", "", "/etc/hostname", "Ọlá")),
    *(["--statement", text] for text in (".", "no-such-file", __file__)),
    ["--tags", "a", "--tags", "b"],
]


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_value_is_converted_or_refused_as_typer_does_it(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typer.core, "build_runtime_param", build_runtime_param)
    expected = run(words)
    monkeypatch.setattr(typer.core, "build_runtime_param", lambda one: PlainValues(one, build_runtime_param))
    assert run(words) == expected
