"""A finding of `kasuwa doctor`: something that is in order, or a problem with its remedy."""

import msgspec


class Finding(msgspec.Struct, frozen=True):
    is_problem: bool
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{'wrong' if self.is_problem else 'ok':5}  {self.what}" + (
            f"\n       {self.remedy}" if self.remedy else ""
        )


def passed(what: str) -> Finding:
    return Finding(False, what)


def problem(what: str, mend: str) -> Finding:
    return Finding(True, what, mend)
