"""Node.js for the tests: pinned packages are installed once, and a failing program shows its output."""

from pathlib import Path

import msgspec
import pytest

from tests.node import NodeFailed, install_npm_packages, run_node

ROOT = Path(__file__).parent.parent
GENERATOR = Path(__file__).parent / "generators" / "typescript"


def test_pinned_packages_are_installed_once() -> None:
    modules = install_npm_packages(GENERATOR)
    locked = msgspec.json.decode((GENERATOR / "package-lock.json").read_bytes())["packages"]
    for name in ("openapi-typescript", "typescript"):
        installed = msgspec.json.decode((modules / name / "package.json").read_bytes())
        assert installed["version"] == locked[f"node_modules/{name}"]["version"]
    assert install_npm_packages(GENERATOR) == modules
    assert not (GENERATOR / "node_modules").exists()


def test_a_failing_program_raises_its_output(tmp_path: Path) -> None:
    with pytest.raises(NodeFailed, match="no such thing"):
        run_node(["-e", "throw new Error('no such thing')"], tmp_path)


def test_a_program_gets_its_environment(tmp_path: Path) -> None:
    output = run_node(["-p", "process.env.KASUWA_WORD"], tmp_path, {"KASUWA_WORD": "hello"})
    assert output.strip() == "hello"


def test_lock_files_name_no_registry() -> None:
    found = [path for path in ROOT.glob("*/**/package-lock.json") if not {"node_modules", ".venv"} & set(path.parts)]
    assert GENERATOR / "package-lock.json" in found
    assert [path for path in found if b'"resolved"' in path.read_bytes()] == []
