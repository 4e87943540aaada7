"""Sample events: one of every kind, each valid by its own struct."""

import msgspec
import pytest

from kasuwa.transactions.event_payloads import EVENT_KINDS, EndpointTestEvent
from kasuwa.webhooks.sample_events import SAMPLE_KINDS, build_sample_event
from tests.source_rules import REPOSITORY


@pytest.mark.parametrize("kind", SAMPLE_KINDS)
def test_a_sample_event_is_valid_and_says_its_kind_and_currency(kind: str) -> None:
    encoded = msgspec.json.encode(build_sample_event("test", kind))
    struct = EVENT_KINDS[kind].payload if kind in EVENT_KINDS else EndpointTestEvent
    decoded = msgspec.json.decode(encoded, type=struct)
    assert (decoded.kind, decoded.currency, decoded.txn_ref, decoded.endpoint) == (kind, "NGN", "TEST", "test")


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_every_kind_of_event_requires_a_currency(kind: str) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(EVENT_KINDS[kind].payload)}
    assert fields["currency"].required


def test_the_page_of_events_names_every_kind() -> None:
    lines = (REPOSITORY / "docs" / "contract" / "events.md").read_text().splitlines()
    [row] = [line for line in lines if line.startswith("| `kind` |")]
    listed = row.split("|")[2].partition(";")[0].split(", ")
    assert sorted(kind.strip() for kind in listed) == sorted(EVENT_KINDS)
