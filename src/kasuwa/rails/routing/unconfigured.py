"""Rails of a deployment without a provider: every call raises Unavailable, so nothing is done."""

from kasuwa.core.mail import Mail
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, Unavailable
from kasuwa.terms.sms import Sms

NO_COLLECTION = "no rail for collections is configured"


class NoCollection:
    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def refund(self, order: CollectionOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)


class NoMail:
    async def send(self, mail: Mail) -> Answer:
        raise Unavailable("no mail server is configured")


class NoSms:
    async def send(self, sms: Sms) -> Answer:
        raise Unavailable("no vendor of text messages is configured")
