"""The type of planted bugs."""

import msgspec


class Bug(msgspec.Struct, frozen=True):
    """A mistake that someone could make: one text of the sources is replaced by another."""

    name: str
    file: str  # below src/kasuwa
    original: str  # occurs once in the file
    planted: str
    test: str  # the test that must find it: file below tests, "::", name, and a parameter's id where one is enough

    @property
    def file_of_test(self) -> str:
        return self.test.partition("::")[0]
