"""What a merchant's invoices say of its business."""

import msgspec

MAX_ADDRESS_LENGTH = 300
MAX_TIN_LENGTH = 30


class BusinessTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The address and the tax identification number that invoices show beside the merchant's name."""

    address: str = ""
    tin: str = ""


NO_BUSINESS_TERMS = BusinessTerms()


def find_address_fault(address: str) -> str | None:
    if len(address) > MAX_ADDRESS_LENGTH or not address.isprintable():
        return f"at most {MAX_ADDRESS_LENGTH} characters on one line"
    return None


def find_tin_fault(tin: str) -> str | None:
    """The forms of the tax authorities differ: any letters, digits and hyphens are taken."""
    if len(tin) > MAX_TIN_LENGTH or not tin.isascii() or not all(part.isalnum() for part in tin.split("-") if tin):
        return f"at most {MAX_TIN_LENGTH} letters, digits and hyphens, such as 01234567-0001"
    return None


def check_business_terms(terms: BusinessTerms) -> None:
    """Raises ValueError if the terms are invalid."""
    for name, fault in (("address", find_address_fault(terms.address)), ("tin", find_tin_fault(terms.tin))):
        if fault is not None:
            raise ValueError(f"business: {name} must have {fault}")
