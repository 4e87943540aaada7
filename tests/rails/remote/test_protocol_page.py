"""The page and the OpenAPI document of the rail protocol agree with the types that are used."""

import json
import re

import msgspec

from kasuwa.rails.check.run import SAMPLES_OF_TEST
from kasuwa.rails.remote.messages import Callback, CardDecision, CardMessage, OrderAnswer, TransferRequest
from kasuwa.rails.remote.paths import PATHS
from kasuwa.rails.remote.signing import SIGNATURE, RemoteSecret, sign
from kasuwa.settings.settings import Settings
from tests.rail_protocol import FILE, write_document
from tests.source_rules import REPOSITORY

PAGE = (REPOSITORY / "docs" / "rail-protocol.md").read_text()


def test_the_openapi_document_is_that_of_the_types() -> None:
    assert FILE.read_text() == write_document(), "run python -m tests.rail_protocol"


def test_every_path_setting_and_sample_is_on_the_page() -> None:
    for path in PATHS:
        assert f"`{path.path}`" in PAGE, path.path
    for name in Settings.__struct_fields__:
        if name.startswith("remote_"):
            assert f"KASUWA_{name.upper()}`" in PAGE, name
    for service, names in SAMPLES_OF_TEST.items():
        for name in names:
            assert f"`{name}`" in PAGE, (service, name)


def test_the_examples_of_the_page_have_their_types() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    for text, form in zip(
        examples, (TransferRequest, OrderAnswer, Callback, Callback, CardMessage, CardDecision), strict=True
    ):
        assert set(json.loads(text)) <= set(msgspec.structs.asdict(msgspec.json.decode(text, type=form)))


def test_the_signature_of_the_page_can_be_computed_by_hand() -> None:
    """HMAC-SHA-256 of the four parts, computed with openssl."""
    signature = sign(RemoteSecret("key-1", "s" * 32), 1767225600, "POST", "/v1/balance", b"{}")
    assert SIGNATURE.fullmatch(str(signature))
    assert signature.digest == "9084bbb1da6ce1e391a28cf406d58a373ccd6559cc67f5379d36a6456eeb8035"
