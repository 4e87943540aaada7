"""Describes the columns that have ciphertexts, so that they can be found, counted and encrypted anew."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

# The operator's own secrets are sealed under this merchant_id, which no merchant has.
OPERATOR_ID = 0


class ClearFields(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that earlier versions stored in clear, and that a sealed column has as a JSON document now."""

    names: tuple[str, ...]  # a row without any of them, at any depth, has none in clear
    take: Callable[[dict[str, Any]], dict[str, Any]]  # removes them from the decoded column and returns them
    column: str = "detail"


class SealedColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column of ciphertexts. Null and empty bytes are no ciphertexts."""

    table: str
    column: str
    named_by: tuple[str, ...]  # columns that `place` takes
    place: Callable[..., str]  # the associated data of a row's ciphertext
    row_id: str = "key"  # with the merchant it identifies a row
    row_id_type: str = "bytea"
    is_of_merchant: bool = True  # else the rows belong to the operator
    is_cached: bool = True  # the writer may have the row in memory, so that a change takes the merchant's lock
    clear: ClearFields | None = None  # fields of the same row that are to be encrypted into this column

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"


class SealedJobField(msgspec.Struct, frozen=True):
    """A field of a job's work that is a ciphertext in base64."""

    field: str
    place: Callable[[str, bytes, Mapping[str, Any]], str]  # takes the job's reference, subject and work

    @property
    def name(self) -> str:
        return f"scheduled_job.work.{self.field}"


class SealedPlaces(msgspec.Struct, frozen=True):
    """All ciphertexts of the database."""

    columns: tuple[SealedColumn, ...]
    job_fields: tuple[SealedJobField, ...]
