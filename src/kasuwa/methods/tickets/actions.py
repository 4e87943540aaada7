"""Rows of `PUT /resources` about tickets."""

from kasuwa.core.action import COLLECT, FieldRule, Read, Write
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.tickets import payer_model, store, wire
from kasuwa.methods.tickets.rules import admit, open_sale

RESOURCES = (
    Write(
        name="ticket",
        scope="collect",
        selector="request",
        request=wire.TicketLinkRequest,
        reply=wire.TicketLinkReply,
        rules=(
            FieldRule(("type",), open_sale.check_one_time),
            FieldRule(("ticket_data",), open_sale.check_ticket_data),
            REFUSE_DRY_RUN,
        ),
        needs=open_sale.need_ticket_link,
        decide=open_sale.decide_ticket_link,
        permission=COLLECT,
        summary="Make a link that sells tickets",
        example={
            "request": "ticket",
            "title": "Lagos Jazz Night",
            "description": "Saturday, 20:00, Freedom Park",
            "currency": "NGN",
            "ticket_data": [
                {"name": "Regular", "amount": "5000.00", "quantity": 200},
                {"name": "Table for four", "amount": "40000.00", "quantity": 10},
            ],
        },
    ),
    Read(
        name="ticket",
        scope="collect",
        title="ticket_links",
        request=wire.TicketLinksRequest,
        reply=wire.TicketLinksReply,
        read=store.list_ticket_links,
        summary="Links that sell tickets, newest first, with what each has sold",
        example={"inquire": "ticket"},
    ),
    Read(
        name="ticket",
        scope="collect",
        title="ticket_sales",
        only_with="link_id",
        request=wire.TicketSalesRequest,
        reply=wire.TicketSalesReply,
        read=store.show_sales,
        summary="A link that sells tickets, with what it sold",
        example={"inquire": "ticket", "link_id": "<link_id>"},
    ),
    Read(
        name="ticket",
        scope="collect",
        title="ticket_by_code",
        only_with="code",
        request=wire.TicketCodeRequest,
        reply=wire.TicketReply,
        read=store.show_by_code,
        summary="The ticket of a code",
        example={"inquire": "ticket", "code": "KZTX-7QH4-M9BG"},
    ),
    Write(
        name="ticket_use",
        scope="collect",
        selector="request",
        request=wire.TicketUseRequest,
        reply=wire.TicketReply,
        rules=(REFUSE_DRY_RUN,),
        needs=admit.need_use,
        decide=admit.decide_use,
        permission=COLLECT,
        summary="Admit the holder of a ticket, once",
        example={"request": "ticket_use", "code": "KZTX-7QH4-M9BG"},
    ),
)

# What payers do on the page of tickets (pages/). Not reachable through the API.
OPEN_TICKET_PURCHASE = Write(
    name="open_ticket_purchase",
    request=payer_model.OpenTicketPurchase,
    reply=object,
    needs=open_sale.need_purchase,
    decide=open_sale.decide_purchase,
    permission=COLLECT,
    summary="A payer has chosen tickets",
    example={},
    accepts_idempotency_key=False,
)
PAYER_ACTIONS = (OPEN_TICKET_PURCHASE,)
