"""Reads the descriptions of request and reply fields from the structs that declare them.

A field is described by the string that follows it, as Sphinx and Pydantic read them:

    class TransferRequest(msgspec.Struct, kw_only=True):
        amount: Amount
        "Amount to send, in naira."

The OpenAPI documents, docs/contract, the reference in the console and the generated clients all use these
descriptions. What a value must look like is not part of them: it is the description of the field's type
(wire/fields.py), and the error text of an invalid value.
"""

import ast
import inspect
from functools import cache
from types import ModuleType

import msgspec


@cache
def describe_fields(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Returns the description of each described field by its name on the wire, inherited fields included."""
    described: dict[str, str] = {}
    for ancestor in reversed(struct.__mro__):
        module = inspect.getmodule(ancestor)
        if module is not None and issubclass(ancestor, msgspec.Struct) and ancestor is not msgspec.Struct:
            described |= _read_classes(module).get(ancestor.__qualname__, {})
    return {
        field.encode_name: described[field.name] for field in msgspec.structs.fields(struct) if field.name in described
    }


@cache
def _read_classes(module: ModuleType) -> dict[str, dict[str, str]]:
    """Returns the described attributes of each class of a module."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: _read_attributes(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _read_attributes(declared: ast.ClassDef) -> dict[str, str]:
    attributes = {}
    for attribute, following in zip(declared.body, declared.body[1:], strict=False):
        match attribute, following:
            case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                attributes[name] = " ".join(text.split())
    return attributes
