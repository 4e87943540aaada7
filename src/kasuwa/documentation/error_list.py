"""All codes of errors, with the refusals that have them: of docs/contract/errors.md, and of the client libraries."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import msgspec

import kasuwa
from kasuwa.core.codes import ERROR_MEANINGS, INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, refuse_fields
from kasuwa.core.error_codes import FIELD_INVALID, FIELD_MEANINGS

# What runs something when it is imported, and the pytest plugin: it needs the client, which is made from the list.
NOT_IMPORTED = ("kasuwa.__main__", "kasuwa.testing")


class ListedCode(msgspec.Struct):
    """A code with what is said of it."""

    code: str
    refusals: list[Refusal]  # that have it, or of which a field has it
    meaning: str = ""  # of a code that stands for a kind of fault; of others, the messages say it
    is_of_field: bool = False  # it is that of an entry of `errors`, below `field_invalid`

    @property
    def messages(self) -> list[str]:
        errors = [error for refusal in self.refusals for error in refusal.field_errors if error.code == self.code]
        texts = [error.reason for error in errors] if self.is_of_field else [one.message for one in self.refusals]
        return list(dict.fromkeys(texts))

    @property
    def example(self) -> Refusal:
        return self.refusals[0]


def import_modules() -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(kasuwa.__path__, "kasuwa."):
        if not module.name.startswith(NOT_IMPORTED):
            yield importlib.import_module(module.name)


def list_constants() -> dict[str, Refusal]:
    """Returns every refusal that a module names, also in a table, by module and name."""
    constants: dict[str, Refusal] = {}
    for module in import_modules():
        for name, value in vars(module).items():
            for key, refusal in list_parts(value):
                constants[f"{module.__name__}.{name}{key}"] = refusal
    return constants


def list_parts(value: Any) -> Iterator[tuple[str, Refusal]]:
    if isinstance(value, Refusal):
        yield "", value
    elif isinstance(value, Mapping):
        yield from ((f"[{key}]", part) for key, part in value.items() if isinstance(part, Refusal))


def list_error_codes() -> list[ListedCode]:
    """Returns every code, first those of refusals, then those of fields, each by name."""
    refusals: dict[str, ListedCode] = {}
    fields = {
        code: ListedCode(code, [refuse_fields(FieldError("amount", make_sentence(meaning), code))], meaning, True)
        for code, meaning in FIELD_MEANINGS.items()
    }
    for refusal in list_constants().values():
        add_refusal(refusals, refusal.error_code, refusal)
        for error in refusal.field_errors:
            if error.code not in FIELD_MEANINGS:
                add_refusal(fields, error.code, refusal, is_of_field=True)
    refusals[FIELD_INVALID] = ListedCode(
        FIELD_INVALID, [refuse_fields(FieldError("amount", "required"))], ERROR_MEANINGS[INVALID_REQUEST]
    )
    del fields[FIELD_INVALID]
    return [*(refusals[code] for code in sorted(refusals)), *(fields[code] for code in sorted(fields))]


def add_refusal(codes: dict[str, ListedCode], code: str, refusal: Refusal, is_of_field: bool = False) -> None:
    listed = codes.setdefault(code, ListedCode(code, [], is_of_field=is_of_field))
    if all(refusal.message != other.message for other in listed.refusals):
        listed.refusals.append(refusal)


def make_sentence(meaning: str) -> str:
    return meaning.replace("`", "")
