"""Calls actions through the Python client by their wire bodies, so that the walk over all examples can use it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from clients.generate.field_types import FieldType
from clients.generate.python import arguments_of
from clients.generate.surface import ActionSurface, read_surface
from kasuwa_client import AsyncKasuwa, Kasuwa
from tests.merchant_client import MerchantClient, RawReply, Reply

SURFACE = read_surface()


def find_action(path: str, fields: Mapping[str, Any]) -> ActionSurface | None:
    """Returns the action that a body selects: of those that fit, the one with the most selecting fields. If several
    have the same, one is selected by a required field that is there."""

    def rank(action: ActionSurface) -> tuple[int, bool, int]:
        required = [field.wire_name for field in action.fields if field.required]
        return len(action.selectors), all(name in fields for name in required), len(required)

    fitting = [
        action for action in SURFACE.actions_of(path) if all(fields.get(n) == v for n, v in action.selectors.items())
    ]
    return max(fitting, key=rank, default=None)


class WalkingClient(MerchantClient):
    """A merchant whose requests are sent by methods of the Python client. Remembers each result with its raw reply."""

    def __init__(self, shop: MerchantClient, call: Callable[[ActionSurface, dict[str, Any]], Any]) -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self._call = call
        self.results: list[tuple[ActionSurface, Any]] = []

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        action = find_action(method, fields)
        if action is None:  # another spelling of an action, which the client does not have
            return super().send_fields(method, fields, headers=headers)
        result = self._call(action, arguments_of(action, fields))
        self.results.append((action, result))
        return RawReply(200, {}, json.dumps(raw_of(result), default=str).encode(), {})

    def put(self, method: str, /, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
        received = super().send(method, msgspec.json.encode(fields), headers=headers)
        return Reply(received.http, received.body)


def call_sync(client: Kasuwa) -> Callable[[ActionSurface, dict[str, Any]], Any]:
    return lambda action, arguments: getattr(getattr(client, action.path), action.method)(**arguments)


def call_async(client: AsyncKasuwa, runner: asyncio.Runner) -> Callable[[ActionSurface, dict[str, Any]], Any]:
    async def call(action: ActionSurface, arguments: dict[str, Any]) -> Any:
        return await getattr(getattr(client, action.path), action.method)(**arguments)

    return lambda action, arguments: runner.run(call(action, arguments))


def raw_of(result: Any) -> Any:
    return result.raw if hasattr(result, "raw") else result


def check_result(action: ActionSurface, result: Any) -> None:
    """Checks that a result has every value of the raw reply, in the type that the surface says."""
    if action.paging == "none":
        check_value(action.reply, result, raw_of(result))
        return
    lines = result.raw if isinstance(result.raw, list) else result.raw["data"]
    record = FieldType("object", name=action.record)
    check_value(FieldType("list", item=record), result.data, lines)


def check_value(kind: FieldType, value: Any, raw: Any) -> None:
    if raw is None:
        assert value is None
    elif kind.kind == "object":
        fields = {field.wire_name: field for field in SURFACE.types[kind.name].fields}
        assert type(value).__name__ == kind.name
        assert value.raw == raw
        assert value.extra == {name: part for name, part in raw.items() if name not in fields}
        for name, field in fields.items():
            check_value(field.type, getattr(value, field.name), raw.get(name))
            assert getattr(value, name) == getattr(value, field.name)
    elif kind.kind == "list":
        assert isinstance(value, tuple)
        assert kind.item is not None
        for one, other in zip(value, raw, strict=True):
            check_value(kind.item, one, other)
    elif kind.kind in ("amount", "decimal"):
        assert isinstance(value, Decimal)
        assert value == Decimal(str(raw))
    elif kind.kind == "time":
        assert isinstance(value, datetime), (kind, value, raw)
        assert value.utcoffset() is not None
        assert value == datetime.fromisoformat(raw)
    elif kind.kind == "date":
        assert isinstance(value, date)
        assert value.isoformat() == raw
    else:
        assert value == raw
