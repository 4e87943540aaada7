"""`kasuwa restore-test DIRECTORY`: a data directory that was restored, beside a service of either kind."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment, Deployments, copy_cluster, logins_of
from tests.simulate.processes import clean_environment, run_command

RIGHT = "the restored books are right\n"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose database is prepared and does not run."""
    made = tmp_path_factory.mktemp("data")
    copy_cluster(made)
    assert run_command(["migrate"], {"KASUWA_DATA": str(made)}).returncode == 0
    return made


@pytest.fixture
def restored(directory: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(directory, tmp_path / "restored", symlinks=True))


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    with deployments.fresh("restored-directory") as running:
        yield running


def test_a_restored_directory_is_checked_while_the_database_is_embedded(directory: Path, restored: Path) -> None:
    done = run_command(["restore-test", str(restored), "--note", "of last night"], {"KASUWA_DATA": str(directory)})
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.endswith(RIGHT)


def test_a_directory_is_checked_and_not_the_running_database_with_logins_in_files(
    deployment: Deployment, shop: MerchantClient, restored: Path, tmp_path: Path
) -> None:
    """The running database has more postings than those of the demo merchant, which both have."""
    PaymentClient(shop).paid()
    environ = clean_environment({"KASUWA_DATA": str(deployment.directory)})
    for name, value in logins_of(deployment.dsn, {}).items():
        file = tmp_path / name
        file.write_text(value)
        environ[f"{name}_FILE"] = str(file)
    done = run_command(["restore-test", str(restored)], environ)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert ": 2 postings\n" in done.stdout
    assert deployment.fetch("select count(*) from posting")[0][0] > 2
    assert done.stdout.endswith(RIGHT)
    recorded = deployment.fetch("select subject from audit_entry where action = 'tested a restore'")
    assert [row["subject"] for row in recorded] == [str(restored)]


def test_a_directory_without_a_database_is_refused(directory: Path, tmp_path: Path) -> None:
    done = run_command(["restore-test", str(tmp_path)], {"KASUWA_DATA": str(directory)})
    assert (done.returncode, done.stderr) == (1, f"kasuwa: there is no database in {tmp_path}\n")
