"""Access rules of pages: the roles that may open them, or less than a session. Also checks email addresses."""

import msgspec


class SessionRequirement(msgspec.Struct, frozen=True):
    """An access rule that requires less than an authenticated session."""

    description: str


# Open to everybody, and open only between password and code.
NO_SESSION = SessionRequirement("no session")
PASSWORD_ONLY = SessionRequirement("password verified, code missing")
AccessRule = frozenset[str] | SessionRequirement

MAX_EMAIL_LENGTH = 200


def email_fault(email: str) -> str | None:
    name, at, domain = email.partition("@")
    is_valid = (
        bool(name and at and domain) and email.isprintable() and " " not in email and len(email) <= MAX_EMAIL_LENGTH
    )
    return (
        None if is_valid else f"must be an email address such as ada@example.com, at most {MAX_EMAIL_LENGTH} characters"
    )
