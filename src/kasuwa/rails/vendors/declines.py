"""Response codes of declined payments, from the words in which vendors tell the reason."""

REFUSED = "05"

# Words of vendors, each with the code of NIP that merchants know.
CODES = {
    "insufficient": "51",
    "not sufficient": "51",
    "expired": "54",
    "incorrect pin": "55",
    "limit": "61",
    "fraud": "34",
    "stolen": "43",
    "lost card": "41",
    "do not honor": "05",
    "do not honour": "05",
    "issuer": "91",
    "unavailable": "91",
    "timeout": "91",
    "cancel": "17",
    "amount": "13",
}


def decline_code(words: str) -> str:
    """Returns the response code of a decline."""
    lowered = words.lower()
    return next((code for text, code in CODES.items() if text in lowered), REFUSED)
