"""What a key that only reads sees of the reasons in events. (Contract: keys#masked)"""

from typing import Any

import msgspec
import pytest

from kasuwa.privacy.personal_fields import MASK, mask_reply


def read_masked(payload: dict[str, Any]) -> Any:
    body = msgspec.json.encode({"data": [{"kind": payload["kind"], "payload": payload}]})
    return msgspec.json.decode(mask_reply(body, "resources events"))["data"][0]["payload"]


@pytest.mark.parametrize("kind", ["card_dispute", "loan", "reactivation"])
def test_reasons_in_somebodys_words_are_masked_in_events(kind: str) -> None:
    assert read_masked({"kind": kind, "reason": "Ada is ill"}) == {"kind": kind, "reason": MASK}


def test_the_codes_of_failed_collections_are_shown_in_events() -> None:
    payload = {"kind": "loan_collection_failed", "reason": "card_declined", "step": "paused"}
    assert read_masked(payload) == payload


def test_names_are_masked_in_events_of_every_kind() -> None:
    assert read_masked({"kind": "payment", "fullname": "Ada Obi"}) == {"kind": "payment", "fullname": MASK}
