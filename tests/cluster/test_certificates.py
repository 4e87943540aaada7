"""The files of certificates: what can be used, why others would refuse it, and files that change."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kasuwa.cluster import certificates
from kasuwa.cluster.certificates import (
    CertificateError,
    CertificateFiles,
    PeerCertificates,
    list_names,
    plain_name,
    try_own,
)
from tests.certificates import Authority, other_ca, write_key

CALLER, LISTENER = "127.0.0.2", "127.0.0.3"


@pytest.fixture
def ca(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def test_files_that_do_not_fit_together_leave_those_before_in_use(ca: Authority, tmp_path: Path) -> None:
    files = ca.issue(LISTENER)
    used = PeerCertificates(files)
    before = used.accepting
    key = files.key.read_bytes()
    ca.issue(LISTENER)
    new_key = files.key.read_bytes()
    files.key.write_bytes(key)
    for _ in range(2):
        assert not used.reload()
        assert "are not a certificate and its key" in used.trouble
    files.key.unlink()
    for _ in range(2):
        assert not used.reload()
        assert "cannot be read" in used.trouble
    assert used.accepting is before
    files.key.write_bytes(new_key)
    assert used.reload()
    assert (used.trouble, used.accepting is before) == ("", False)


def test_files_that_cannot_be_used_are_named_and_not_quoted(ca: Authority, tmp_path: Path) -> None:
    files = ca.issue(LISTENER)
    with pytest.raises(CertificateError) as error:
        PeerCertificates(CertificateFiles(tmp_path / "no.pem", tmp_path / "no.key", ca.path))
    assert all(f"{tmp_path}/{name} cannot be read" in str(error.value) for name in ("no.pem", "no.key"))
    write_key(files.key, ca._key, b"a password")
    with pytest.raises(CertificateError, match="without a password"):
        PeerCertificates(files)
    write_key(files.key, ca._key)
    with pytest.raises(CertificateError, match="mismatch"):
        PeerCertificates(files)
    files = ca.issue(LISTENER)
    ca.path.write_text("nothing of a CA\n")
    with pytest.raises(CertificateError, match="no certificate of a CA") as error:
        PeerCertificates(files)
    assert "nothing" not in str(error.value)
    os.unlink(ca.path)
    with pytest.raises(CertificateError, match="cannot be read"):
        PeerCertificates(files)


@pytest.mark.parametrize(
    ("issue", "why"),
    [
        (lambda ca, _: ca.issue(LISTENER), ""),
        (lambda ca, _: ca.issue("a.example", "a.example", LISTENER), ""),
        (lambda ca, _: ca.issue(CALLER), certificates.OTHER_HOST),
        (lambda ca, _: ca.issue(LISTENER, days=-1), certificates.EXPIRED),
        (lambda ca, _: ca.issue(LISTENER, is_client=False), certificates.OTHER_CA),
        (lambda ca, directory: other_ca(ca, LISTENER, directory), certificates.OTHER_CA),
    ],
)
def test_a_host_knows_why_others_would_refuse_it(
    issue: Callable[[Authority, Path], CertificateFiles], why: str, ca: Authority, tmp_path: Path
) -> None:
    assert try_own(PeerCertificates(issue(ca, tmp_path)), LISTENER) == why


def test_a_name_for_several_hosts_is_none(ca: Authority) -> None:
    assert try_own(PeerCertificates(ca.issue("wild", "*.example")), "a.example") == certificates.OTHER_HOST


def test_names_have_one_spelling() -> None:
    listed = (("DNS", "A.Example"), ("IP Address", "FD00:0:0:0:0:0:0:1"), ("DNS", "*.example"), ("URI", "x:y"))
    assert list_names({"subjectAltName": listed}) == {"a.example", "fd00::1"}
    assert plain_name("[fd00::1]") == "fd00::1"
    assert list_names({}) == frozenset()
