"""Describes the columns that have ciphertexts, so that they can be found, counted and encrypted anew."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.core.row_codes import CodedTable


class SealedColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column of ciphertexts, or a field of a JSON column that is one in base64. Null and empty are no ciphertexts."""

    table: str
    column: str
    named_by: tuple[str, ...]  # columns that `place` takes
    place: Callable[..., str]  # the associated data of a row's ciphertext
    row_id: str = "key"  # with the merchant it identifies a row
    row_id_type: str = "bytea"
    is_of_merchant: bool = True  # else the rows belong to the operator
    is_cached: bool = True  # the writer may have the row in memory, so that a change takes the merchant's lock
    json_field: str = ""  # if the column is JSON
    kinds: tuple[str, ...] = ()  # of the rows that may have the field, so that JSON of others is not read

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}" + (f".{self.json_field}" if self.json_field else "")

    @property
    def ciphertext_sql(self) -> str:
        """The SQL expression of the ciphertext, as bytes."""
        if not self.json_field:
            return self.column
        kinds = ", ".join(f"'{kind}'" for kind in self.kinds)
        return f"case when kind in ({kinds}) then decode({self.column} ->> '{self.json_field}', 'base64') end"


class SealedJobField(msgspec.Struct, frozen=True):
    """A field of a job's work that is a ciphertext in base64."""

    field: str
    place: Callable[[str, bytes, Mapping[str, Any]], str]  # takes the job's reference, subject and work

    @property
    def name(self) -> str:
        return f"scheduled_job.work.{self.field}"


class SealedPlaces(msgspec.Struct, frozen=True):
    """All ciphertexts of the database, and the codes of rows."""

    columns: tuple[SealedColumn, ...]
    job_fields: tuple[SealedJobField, ...]
    coded_tables: tuple[CodedTable, ...] = ()  # whose rows have a code by the same keys
