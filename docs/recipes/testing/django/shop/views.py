"""Places orders, and receives the events of their payments."""

import json
import uuid
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from kasuwa_client import InvalidSignature, Kasuwa, PaymentEvent, verify_event
from shop.models import Order


def make_client() -> Kasuwa:
    return Kasuwa(mid=settings.KASUWA_MID, key=settings.KASUWA_KEY, base_url=settings.KASUWA_URL)


@require_POST
def place_order(request: HttpRequest) -> JsonResponse:
    """Creates an order, and returns the account number that the customer pays into."""
    fields = json.loads(request.body)
    reference, amount = f"order-{uuid.uuid4().hex}", Decimal(fields["amount"])
    with make_client() as kasuwa:
        payment = kasuwa.payment.charge_bank_transfer(amount=amount, user=fields["customer"], customer_txnref=reference)
    order = Order.objects.create(reference=reference, amount=amount, account_number=payment.raw["accountNumber"])
    return JsonResponse({"reference": order.reference, "account_number": order.account_number}, status=201)


@require_POST
def receive_event(request: HttpRequest) -> HttpResponse:
    """The webhook. An event may come twice, late or out of order: the row is locked, and only an open order changes."""
    try:
        event = verify_event(request.body, request.headers, settings.KASUWA_KEY)
    except InvalidSignature:
        return HttpResponse(status=400)
    if not isinstance(event, PaymentEvent):
        return HttpResponse(status=200)
    with transaction.atomic():
        order = Order.objects.select_for_update().filter(reference=event.customer_txnref, state="open").first()
        if order is not None:
            is_paid = event.txn_status == "successful" and event.charged_amount == order.amount
            order.state = "paid" if is_paid else "refused"
            order.save(update_fields=["state"])
    return HttpResponse(status=200)
