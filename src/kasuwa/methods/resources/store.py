"""Plain reads of what a merchant owns and of the catalogues. No writes; merchant_id in every WHERE."""

from kasuwa.core.banks import bank_names
from kasuwa.core.decision import Merchant
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.reading import Reader
from kasuwa.methods.resources.wire import BanksRequest, WalletLine, WalletReply, WalletRequest

WALLETS = "select currency, posted, held from account where merchant_id = $1 and name like 'wallet:main:%'"


async def list_banks(request: BanksRequest, merchant: Merchant, reader: Reader) -> dict[str, str]:
    return bank_names()


async def show_wallet(request: WalletRequest, merchant: Merchant, reader: Reader) -> WalletReply:
    rows = {currency: (posted, held) for currency, posted, held in await reader.fetch(WALLETS, merchant.merchant_id)}
    # NGN always exists, also before its first kobo. Spec silent: D12
    rows.setdefault("NGN", (0, 0))
    lines = [
        WalletLine(
            currency=currency,
            balance=format_minor(rows[currency][0]),
            available=format_minor(rows[currency][0] - rows[currency][1]),
            held=format_minor(rows[currency][1]),
        )
        for currency in CURRENCIES
        if currency in rows
    ]
    return WalletReply(data=lines)
