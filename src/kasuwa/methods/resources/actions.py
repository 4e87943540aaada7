"""The actions of `PUT /resources`: look-ups, balances, events and personalized accounts."""

from kasuwa.core.action import (
    COLLECT,
    INTEGRATE,
    MANAGE,
    AdminCommand,
    ApiMethod,
    FieldRule,
    Lookup,
    MemoryRead,
    Read,
    Step,
    Write,
    require_one,
)
from kasuwa.core.banks import check_bank_code
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.resources import commands, lookups, model, steps, store, wire
from kasuwa.methods.resources.rules import close_account, open_account
from kasuwa.wire.people import check_bvn

PERSONALIZED_RULES = (FieldRule(("bvn",), check_bvn), REFUSE_DRY_RUN)

EXAMPLE_CLOSED = {"name": "Bola Ade", "reference": "customer-18", "email": "bola.ade@example.com"}
EXAMPLE_PAYEE = {"name": "Ada Obi", "reference": "customer-17", "email": "ada.obi@example.com"}

RESOURCES = ApiMethod(
    name="resources",
    scope="all",
    # Some clients send `action` instead of `inquire`. Contract: #requests
    selectors=("inquire", "request", "action"),
    actions=(
        MemoryRead(
            name="banks",
            scope="any",
            request=wire.BanksRequest,
            reply=dict[str, str],
            answer=lookups.list_banks,
            summary="Bank codes and names",
            example={"inquire": "banks"},
        ),
        Lookup(
            name="accountname",
            scope="any",
            request=wire.AccountNameRequest,
            reply=wire.AccountNameReply,
            rules=(FieldRule(("bank_code",), check_bank_code),),
            rail="bank",
            ask=lookups.resolve_account_name,
            summary="The name on a bank account",
            example={"inquire": "accountname", "accountnumber": "0040000008", "bankcode": "058"},
        ),
        Lookup(
            name="bvn",
            scope="lend",
            request=wire.BvnRequest,
            reply=wire.BvnReply,
            rules=(FieldRule(("bvn",), check_bvn),),
            rail="identity",
            ask=lookups.resolve_bvn,
            permission=MANAGE,
            summary="The person with a Bank Verification Number",
            example={"inquire": "bvn", "bvn": "12345678901"},
        ),
        MemoryRead(
            name="card",
            scope="any",
            request=wire.CardRequest,
            reply=wire.CardReply,
            answer=lookups.show_card,
            summary="The brand, issuer and country of a card, by its first six digits",
            example={"inquire": "card", "card_no": "539983"},
        ),
        Write(
            name="personalized-accounts",
            scope="collect",
            selector="request",
            request=wire.PersonalizedRequest,
            reply=wire.PersonalizedReply,
            rules=PERSONALIZED_RULES,
            needs=open_account.need_personalized,
            decide=open_account.decide_personalized,
            permission=COLLECT,
            summary="An account number for one reference, to receive money on",
            example={"request": "personalized-accounts", **EXAMPLE_PAYEE},
        ),
        # Public clients spell it both ways. Contract: resources#personalized-accounts
        Write(
            name="personalized_account",
            scope="collect",
            selector="request",
            request=wire.PersonalizedRequest,
            reply=wire.PersonalizedReply,
            rules=PERSONALIZED_RULES,
            needs=open_account.need_personalized,
            decide=open_account.decide_personalized,
            permission=COLLECT,
            summary="Same as personalized-accounts",
            example={"request": "personalized_account", **EXAMPLE_CLOSED},
        ),
        Write(
            name="close_personalized_account",
            scope="collect",
            selector="request",
            request=wire.CloseAccountRequest,
            reply=wire.CloseAccountReply,
            rules=(REFUSE_DRY_RUN,),
            needs=close_account.need_close,
            decide=close_account.decide_close,
            permission=COLLECT,
            summary="Close the account of a reference, so that nobody can pay into it any more",
            example={"request": "close_personalized_account", "reference": EXAMPLE_CLOSED["reference"]},
        ),
        Read(
            name="accounts",
            scope="collect",
            request=wire.AccountsRequest,
            reply=wire.AccountsReply,
            read=store.list_accounts,
            summary="Personalized accounts and their states, newest first",
            example={"inquire": "accounts", "state": "open"},
        ),
        Read(
            name="wallet",
            scope="payout",
            request=wire.WalletRequest,
            reply=wire.WalletReply,
            read=store.show_wallet,
            summary="The merchant's balances",
            example={"inquire": "wallet"},
        ),
        Read(
            name="events",
            scope="read",
            request=wire.EventsRequest,
            reply=wire.EventsReply,
            read=store.list_events,
            summary="The event log, with every attempt to deliver",
            example={"inquire": "events", "limit": 5},
        ),
        Read(
            name="event_feed",
            scope="read",
            request=wire.FeedRequest,
            reply=wire.FeedReply,
            read=store.feed_events,
            summary="Events by sequence, for merchants who cannot receive webhooks",
            example={"inquire": "event_feed", "after": 0},
        ),
        AdminCommand(
            name="resend",
            selector="request",
            request=wire.ResendRequest,
            rules=(require_one("first", "failed_since", "event_id", reason="required, or from and to"),),
            reply=wire.ResendReply,
            run=commands.resend,
            permission=INTEGRATE,
            summary="Send one event again, a range of them, or all that failed",
            example={"request": "resend", "from": 1, "to": 5},
        ),
    ),
    steps=(
        *(
            Step(
                kind=kind,
                lane=model.LANE,
                call=steps.call_account_rail,
                needs=open_account.need_account_answer,
                decide=open_account.decide_account_answer,
                restore_secrets=steps.restore_secrets,
                accepts_callback=False,
            )
            for kind in (model.OPEN_ACCOUNT, model.QUERY_ACCOUNT)
        ),
        Step(
            kind=model.CLOSE_ACCOUNT,
            lane=model.LANE,
            call=steps.close_at_rail,
            needs=close_account.need_close_answer,
            decide=close_account.decide_close_answer,
            restore_secrets=steps.restore_secrets,
            accepts_callback=False,
        ),
    ),
)
