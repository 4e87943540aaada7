"""`PUT /resources`: what a merchant can look up. Read this first."""

from kasuwa.core.action import Lookup, Method, Read, Rule
from kasuwa.core.banks import bank_is_known
from kasuwa.methods.resources import lookups, store, wire

RESOURCES = Method(
    name="resources",
    selectors=("inquire", "action"),  # Spec silent: D2
    actions=(
        Read(
            name="banks",
            request=wire.BanksRequest,
            reply=dict[str, str],
            read=store.list_banks,
            summary="Bank codes and names",
            example={"inquire": "banks"},
        ),
        Lookup(
            name="accountname",
            request=wire.AccountNameRequest,
            reply=wire.AccountNameReply,
            rules=(Rule(("bank_code",), bank_is_known),),
            rail="bank",
            ask=lookups.ask_account_name,
            summary="The name on a bank account",
            example={"inquire": "accountname", "accountnumber": "0040000008", "bankcode": "058"},
        ),
        Read(
            name="wallet",
            request=wire.WalletRequest,
            reply=wire.WalletReply,
            read=store.show_wallet,
            summary="The merchant's balances",
            example={"inquire": "wallet"},
        ),
    ),
)
