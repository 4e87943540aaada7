"""Savings without the name that somebody gave them, who asked to be forgotten."""

from typing import ClassVar

import msgspec

from kasuwa.methods.investments.decide import Savings

ERASED_NAME = "(erased)"


class PersonsSavings(Savings):
    """Savings of which nothing changes but their name, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("name",)


def forget_name(savings: PersonsSavings) -> PersonsSavings:
    return msgspec.structs.replace(savings, name=ERASED_NAME)
