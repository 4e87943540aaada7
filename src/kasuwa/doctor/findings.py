"""A finding of `kasuwa doctor`: something that is in order, a problem with its remedy, or a warning: it works, but not
for everything."""

import msgspec


class Finding(msgspec.Struct, frozen=True):
    is_problem: bool
    what: str
    remedy: str = ""
    is_warning: bool = False

    def __str__(self) -> str:
        word = "wrong" if self.is_problem else "warn" if self.is_warning else "ok"
        return f"{word:5}  {self.what}" + (f"\n       {self.remedy}" if self.remedy else "")


def passed(what: str) -> Finding:
    return Finding(False, what)


def problem(what: str, mend: str) -> Finding:
    return Finding(True, what, mend)


def warning(what: str, mend: str) -> Finding:
    return Finding(False, what, mend, is_warning=True)
