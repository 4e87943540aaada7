"""JSON documents: stored as sent, validated by known fields, merged and compared."""

from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kasuwa.wire.decoding import decoder
from kasuwa.wire.documents import Document, masked, merge, read_document, same_document, write_document

WHOLE = st.integers(-(2**63), 2**64 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("abc", max_size=2), below, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("abc", max_size=2), VALUES, max_size=4)


class Named(msgspec.Struct):
    name: str
    age: int | None = None


class NamedDocument(Document):
    known_struct = Named


class Body(msgspec.Struct):
    document: Document


def read(text: str) -> Document:
    body: Body = decoder(Body).decode(f'{{"document":{text}}}'.encode())
    return body.document


@given(OBJECTS)
def test_an_object_is_stored_as_sent(fields: dict[str, Any]) -> None:
    assume(masked(fields) == fields)
    assert msgspec.json.decode(read(msgspec.json.encode(fields).decode()).encode()) == fields


def test_a_card_number_in_an_object_is_masked() -> None:
    text = '{"a":"5399831234567895","b":5399831234567895,"c":[{"5399831234567895":1}],"n":1234567890123456}'
    kept = '{"a":"539983******7895","b":"539983******7895","c":[{"539983******7895":1}],"n":1234567890123456}'
    assert read(text) == kept


@pytest.mark.parametrize("text", ['{"n":1.10}', '{"n":1E+2}', '{"n":-0.0}', '{"n":[1e-400]}', '{"n":0.1}'])
def test_a_number_keeps_its_digits(text: str) -> None:
    assert read(text) == text
    assert write_document(read_document(text)) == text


@pytest.mark.parametrize(
    "text", ['{"n":1e400}', '{"n":[{"m":-1e999}]}', '{"n":18446744073709551616}', "[]", "5", '"x"']
)
def test_numbers_that_other_parsers_cannot_read_are_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(text)


def test_known_fields_are_validated_and_others_are_stored_as_sent() -> None:
    assert NamedDocument.read({"name": "x", "other": [1]}) == '{"name":"x","other":[1]}'
    assert NamedDocument.read({"name": "x", "age": None, "other": None}) == '{"name":"x","other":null}'
    assert [fault.field for fault in NamedDocument.find_errors({"age": "x"}, "data.who")] == [
        "data.who.name",
        "data.who.age",
    ]


def test_the_schema_of_a_document_lists_its_known_fields() -> None:
    assert set(NamedDocument.schema()["properties"]) == {"name", "age"}
    assert Document.schema() == {"type": "object"}


@given(OBJECTS, OBJECTS)
def test_a_merge_keeps_fields_that_the_update_does_not_have(kept: dict[str, Any], fields: dict[str, Any]) -> None:
    merged = merge(kept, fields)
    assert set(merged) == {*kept, *fields}
    for name, value in merged.items():
        if name not in fields:
            assert value == kept[name]
        elif isinstance(fields[name], dict) and isinstance(kept.get(name), dict):
            assert value == merge(kept[name], fields[name])
        else:
            assert value == fields[name]


@given(OBJECTS, OBJECTS)
def test_merging_the_same_update_twice_changes_nothing(kept: dict[str, Any], fields: dict[str, Any]) -> None:
    once = merge(kept, fields)
    assert merge(once, fields) == once
    assert merge({}, fields) == fields
    assert merge(kept, {}) == kept


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a":1,"b":{"c":2,"d":[3]}}', '{"b":{"d":[3],"c":2},"a":1}', True),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":1}', '{"a":true}', False),
        ('{"a":1.50}', '{"a":1.50}', True),
        ('{"a":0.1000000000000000000001}', '{"a":0.1000000000000000000002}', False),
        ('{"a":1}', '{"a":1,"b":null}', False),
        ("{}", "{}", True),
    ],
)
def test_two_documents_are_the_same_whatever_the_order_of_their_fields(one: str, other: str, same: bool) -> None:
    assert same_document(one, other) is same
    assert same_document(other, one) is same
