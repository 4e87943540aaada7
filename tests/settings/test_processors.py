"""The default number of API processes: by the processors that this process may use, also in a container."""

import os
from pathlib import Path

import pytest

from kasuwa.settings.processors import count_processors, default_workers


@pytest.mark.parametrize(
    ("processors", "workers"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (8, 4), (16, 8), (64, 8), (256, 8)]
)
def test_small_machines_have_one_process_and_others_one_for_every_second_core(processors: int, workers: int) -> None:
    assert default_workers(processors) == workers


def make_groups(directory: Path, path: str, limits: dict[str, str]) -> tuple[Path, Path]:
    """Returns the root of control groups with these `cpu.max`, and the file that names the group of this process."""
    root, own = directory / "cgroup", directory / "own"
    own.write_text(f"12:cpu:/else\n0::{path}\n")
    for group, limit in limits.items():
        (root / group).mkdir(parents=True, exist_ok=True)
        (root / group / "cpu.max").write_text(limit + "\n")
    return root, own


def available() -> int:
    return len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("path", "limits", "limit"),
    [
        ("/", {"": "100000 100000"}, 1.0),
        ("/pod/container", {"": "max 100000", "pod": "150000 100000", "pod/container": "max 100000"}, 1.5),
        ("/pod/container", {"pod": "max 100000", "pod/container": "50000 100000"}, 0.5),
        ("/", {"": "max 100000"}, None),
        ("/", {"": "nonsense"}, None),
        ("/gone", {}, None),
    ],
)
def test_the_limit_of_a_container_counts(
    tmp_path: Path, path: str, limits: dict[str, str], limit: float | None
) -> None:
    expected = available() if limit is None else max(1, min(available(), int(limit)))
    assert count_processors(*make_groups(tmp_path, path, limits)) == expected


def test_the_limit_of_a_group_of_the_first_version_counts(tmp_path: Path) -> None:
    root, own = make_groups(tmp_path, "/", {"": "max 100000"})
    (root / "cpu").mkdir()
    (root / "cpu" / "cpu.cfs_quota_us").write_text("100000\n")
    (root / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert count_processors(root, own) == 1
    (root / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert count_processors(root, own) == available()


def test_a_system_without_control_groups_has_the_processors_of_its_affinity(tmp_path: Path) -> None:
    assert count_processors(tmp_path / "none", tmp_path / "neither") == available()
