"""The twin of Monnify: compares persons with the register of BVNs, and tells nothing of them.

A BVN that begins with 222 belongs to ADAEZE CHIOMA OKAFOR, born on 28 June 1990, any other to nobody. The last digits
choose special answers:

    …402  our balance is used up        …400  another refusal        …500  a word that nobody documents
"""

from typing import Any

from aiohttp import web

from kasuwa.rails.twins.monnify_envelope import good, refused

NAMES = {"ADAEZE", "CHIOMA", "OKAFOR"}
BIRTH_DATE, PHONE = "28-Jun-1990", "08031234567"


def compare_person(body: dict[str, Any]) -> web.Response:
    bvn, names = body["bvn"], body["name"].upper().split()
    born, phone = body["dateOfBirth"], body["mobileNo"]
    if bvn.endswith("402"):
        return refused(400, "99", "Insufficient balance in wallet")
    if bvn.endswith("400"):
        return refused(400, "99", "Request could not be processed")
    if not bvn.startswith("222"):
        return refused(404, "99", "BVN not found")
    score = 100 * len(NAMES & set(names)) // len(NAMES)
    word = "FULL_MATCH" if score == 100 else "PARTIAL_MATCH" if score else "NO_MATCH"
    return good(
        {
            "bvn": bvn,
            "name": {"matchStatus": "PERHAPS" if bvn.endswith("500") else word, "matchPercentage": score},
            "dateOfBirth": "FULL_MATCH" if born == BIRTH_DATE else "NO_MATCH",
            "mobileNo": "FULL_MATCH" if phone == PHONE else "NO_MATCH",
        }
    )
