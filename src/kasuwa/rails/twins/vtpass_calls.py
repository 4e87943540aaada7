"""Forms of the calls of VTpass's twin, from the tables of fields in the vendor's documentation.

The fields of a bill depend on its product: vtpass.py checks them.
"""

from collections.abc import Mapping

from kasuwa.rails.twins.forms import Call, integer, optional, text

# The documentation calls numbers of customers Number. They begin with zeros: texts.
CUSTOMER = r"[0-9]{6,13}"

CALLS: Mapping[str, Call] = {
    "GET /service-categories": Call(),
    "GET /services": Call({"identifier": text("airtime")}),
    "GET /service-variations": Call({"serviceID": text("mtn-data")}),
    "GET /balance": Call(),
    "POST /merchant-verify": Call(
        body={
            "serviceID": text("ikeja-electric"),
            "billersCode": text("1111111111111", CUSTOMER),
            "type": optional(text("prepaid", "prepaid|postpaid")),
        }
    ),
    "POST /pay": Call(
        body={
            "request_id": text("202601051030kz1"),
            "serviceID": text("ikeja-electric"),
            "phone": text("08011111111", r"[0-9]{11,13}"),
            "amount": optional(integer(1500)),
            "billersCode": optional(text("1111111111111", CUSTOMER)),
            "variation_code": optional(text("prepaid")),
            "subscription_type": optional(text("change", "change|renew")),
            "quantity": optional(integer(1)),
        }
    ),
    "POST /requery": Call(body={"request_id": text("202601051030kz1", "[0-9]{12}[A-Za-z0-9]*")}),
}
