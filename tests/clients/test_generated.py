"""Checks that the generated files of the client libraries are those that the action tables give today."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import kasuwa
import kasuwa_client
from clients.generate import calls, python
from clients.generate.surface import read_surface
from kasuwa_client import errors

ROOT = Path(__file__).parents[2]


@cache
def python_files() -> dict[Path, str]:
    return python.render_all()


def test_no_generated_file_is_stale() -> None:
    for path, text in python_files().items():
        assert path.read_text() == text, "run python -m clients.generate"


@pytest.mark.parametrize("name", ["_sync_groups.py", "_async_groups.py"])
def test_every_action_is_a_method_with_its_recorded_example(name: str) -> None:
    text = python_files()[python.FOLDER / name]
    for action in read_surface().actions:
        assert re.search(rf"def {action.method}\(", text), action.title
        assert f"shop.{action.path}.{action.method}(" in text, action.title
    assert text.count("Example, and the reply that was recorded for it:") == len(read_surface().actions)


def test_both_clients_have_a_group_for_every_path() -> None:
    for kind in (kasuwa_client.Kasuwa, kasuwa_client.AsyncKasuwa):
        shop = kind(mid="GP0000001", key="secret")
        assert [path for path in read_surface().paths if not hasattr(shop, path)] == []


def test_every_status_of_the_contract_has_its_exception() -> None:
    for status in read_surface().statuses:
        kind = errors.STATUS_ERRORS[status.code]
        assert kind.__name__ == status.name
        assert getattr(kasuwa_client, status.name) is kind
        assert f"Status {status.code}" in (kind.__doc__ or "")
    assert len(errors.STATUS_ERRORS) == len(read_surface().statuses)


def test_the_versions_of_service_and_client_are_in_step() -> None:
    client = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text())["project"]["version"]
    assert kasuwa.__version__ == client == kasuwa_client.__version__


def test_the_calls_of_the_documentation_are_not_stale() -> None:
    for path, text in calls.render_all().items():
        assert path.read_text() == text, "run python -m clients.generate"
