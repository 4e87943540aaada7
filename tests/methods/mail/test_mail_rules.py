"""The rules of mails: one of each occasion, the merchant's share, and what every answer makes of a mail."""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import AuditEntry, Context, Decision, Job, LoadedRows, Refusal, Row
from kasuwa.core.mail import MailTry
from kasuwa.core.mail_text import MAX_SUBJECT_LENGTH, MailText
from kasuwa.core.references import job_key
from kasuwa.methods.mail import steps
from kasuwa.methods.mail.model import BOUNCED as BOUNCED_STATE
from kasuwa.methods.mail.model import (
    FAILED,
    INTERVAL,
    MAIL_BURST,
    NOT_CONFIGURED,
    QUEUED,
    RETRY_AFTER,
    SENT,
    SMS,
    SMS_NOT_CONFIGURED,
    UNKNOWN,
    UNKNOWN_MAIL,
    MailRow,
    describe_try,
    erase_content,
    mail_key,
    make_mail_id,
    read_content,
    restore_content,
    share_key,
)
from kasuwa.methods.mail.rules.on_bounce import (
    NOT_SENT_YET,
    NOTED,
    NOTHING_CHANGED,
    decide_bounce,
    need_bounced_mail,
)
from kasuwa.methods.mail.rules.on_mail_answer import decide_mail_answer, need_queued_mail
from kasuwa.methods.mail.rules.queue_mail import NewMail, QueuedMail, need_mail_rows, queue_mail
from kasuwa.methods.mail.rules.send_again import (
    ALREADY_SENT,
    ERASED,
    STILL_QUEUED,
    decide_send_again,
    need_mail,
)
from kasuwa.methods.mail.wire import MailSendRequest
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED as NO_RAIL
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.mail import REPLY_CODE
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.mail import MailTerms, check_mail_terms
from kasuwa.terms.sms import Sms, SmsText
from tests.rule_context import MERCHANT, NOW, VAULT, context, merchant

TEXT = MailText(
    "Invoice\r\nBcc: all@example.com",
    "Dear <Ada>,",
    ("See & pay.",),
    (("Total", "NGN 1.00"),),
    (("Pay", "https://x/?a&b"),),
)
TAKEN = Answer(orders.SUCCESSFUL, None, "")
BOUNCED = Answer(orders.FAILED, None, "", {REPLY_CODE: "550 5.1.1"})


HELD = Answer(orders.UNAVAILABLE, None, "", retry_after=30, is_unsent=True)


class Mailbox:
    """The mails of one merchant in memory."""

    def __init__(self, **settings: Any) -> None:
        self.merchant = merchant(**settings)
        self.rows: dict[bytes, Row | None] = {}
        self.now = NOW
        self.is_configured = True
        self.sends_sms = True

    @property
    def context(self) -> Context:
        return context(self.now, merchant=self.merchant, sends_mail=self.is_configured, sends_sms=self.sends_sms)

    def load(self, needs: Any) -> LoadedRows:
        return LoadedRows({key: self.rows.get(key) for _, key in needs.rows})

    def apply(self, effects: Any) -> None:
        for row in (*effects.rows, *effects.jobs):
            self.rows[row.key] = row
        for job in effects.jobs_done:
            del self.rows[job.key]

    def queue(self, occasion: str = "one") -> QueuedMail:
        new = NewMail(
            occasion=occasion,
            purpose="invoice",
            reference="IN1",
            customer_id="CU1",
            to="ada@example.com",
            to_name="Ada",
            content=TEXT,
        )
        queued = queue_mail(new, self.context, self.load(need_mail_rows(self.merchant.merchant_id, occasion)))
        assert isinstance(queued, QueuedMail)
        self.apply(queued.effects)
        return queued

    def queue_sms(self, occasion: str = "one") -> QueuedMail:
        new = NewMail(
            occasion=occasion,
            purpose="payment_receipt",
            reference="GP1",
            customer_id="",
            to="+2348031234567",
            to_name="",
            content=SmsText("Ada Stores: paid"),
        )
        queued = queue_mail(new, self.context, self.load(need_mail_rows(self.merchant.merchant_id, occasion)))
        assert isinstance(queued, QueuedMail)
        self.apply(queued.effects)
        return queued

    def mail(self, occasion: str = "one") -> MailRow:
        row = self.rows[mail_key(self.merchant.merchant_id, make_mail_id(occasion))]
        assert isinstance(row, MailRow)
        return row

    def job(self, occasion: str = "one") -> Job | None:
        row = self.rows.get(job_key(mail_key(self.merchant.merchant_id, make_mail_id(occasion))))
        assert row is None or isinstance(row, Job)
        return row

    def answer(self, answer: Answer, job: Job | None = None) -> Decision:
        job = job or self.job()
        assert job is not None
        decision = decide_mail_answer(
            job, answer, self.context, self.load(need_queued_mail(job, answer, self.merchant))
        )
        self.apply(decision)
        return decision

    def send_again(self, mail_id: str | None = None) -> Any:
        request = MailSendRequest(mail_id=mail_id or self.mail().mail_id)
        decided = decide_send_again(request, self.context, self.load(need_mail(request, self.merchant)))
        if isinstance(decided, Decision):
            self.apply(decided)
        return decided


def test_a_mail_is_queued_with_its_job_and_sealed() -> None:
    box = Mailbox(mail=MailTerms("Ada's Shop", "office@example.com"))
    queued = box.queue()
    mail, job = box.mail(), box.job()
    assert job is not None
    assert (mail.status, mail.attempts, job.due, job.reference) == (QUEUED, 0, NOW, mail.mail_id)
    content = read_content(mail, VAULT.unseal)
    assert content is not None
    assert restore_content(job, VAULT) == content
    assert (content.to, content.sender_name, content.reply_to) == (
        "ada@example.com",
        "Ada's Shop",
        "office@example.com",
    )
    for secret in ("ada@example.com", "https://x"):
        assert secret not in repr((queued, content)) + job.work


def test_the_same_words_are_plain_text_and_html_without_markup_of_others() -> None:
    box = Mailbox()
    box.queue()
    content = read_content(box.mail(), VAULT.unseal)
    assert content is not None
    assert content.subject == "Invoice Bcc: all@example.com"
    for words in ("Dear <Ada>,", "See & pay.", "Total: NGN 1.00", "https://x/?a&b", MERCHANT.name):
        assert words in content.text
    for words in ("Dear &lt;Ada&gt;,", "See &amp; pay.", "NGN 1.00", 'href="https://x/?a&amp;b"'):
        assert words in content.html
    assert (content.sender_name, content.reply_to) == (MERCHANT.name, "")
    assert len(MailText("x" * 900, "", ()).subject) == MAX_SUBJECT_LENGTH


def test_an_occasion_has_one_mail() -> None:
    box = Mailbox()
    first = box.queue()
    assert (box.queue().effects.rows, box.queue().row) == ((), first.row)
    box.answer(TAKEN)
    assert box.queue().effects.rows == ()
    assert box.queue("two").row.mail_id != first.row.mail_id


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [(TAKEN, SENT, ""), (BOUNCED, FAILED, "550 5.1.1"), (orders.RAIL_SILENT, UNKNOWN, "")],
)
def test_an_answer_ends_a_mail(answer: Answer, status: str, code: str) -> None:
    box = Mailbox()
    box.queue()
    job = box.job()
    box.now += timedelta(seconds=3)
    box.answer(answer)
    mail = box.mail()
    assert (mail.status, mail.attempts, mail.reply_code, box.job()) == (status, 1, code, None)
    assert mail.sent_at == (box.now if status == SENT else None)
    assert box.answer(BOUNCED, job) == Decision()


def test_a_mail_that_is_not_taken_is_tried_for_days_and_has_then_failed() -> None:
    box = Mailbox()
    box.queue()
    waits = []
    while (job := box.job()) is not None:
        box.now = job.due
        box.answer(orders.RAIL_UNAVAILABLE)
        again = box.job()
        if again is not None:
            waits.append(again.due - box.now)
            assert box.answer(TAKEN, job) == Decision()  # of the try before
    assert tuple(waits) == RETRY_AFTER
    assert (box.mail().status, box.mail().attempts) == (FAILED, len(RETRY_AFTER) + 1)


def send_claimed(job: Job) -> Answer:
    # A call would raise: there is no mail system.
    return asyncio.run(steps.send(Rails(bank=NO_RAIL), job, NOW, restore_content(job, VAULT)))


@pytest.mark.parametrize("change", [{"claims": 2}, {"claims": 1, "is_queried_first": True}])
def test_a_mail_that_a_dead_process_may_have_sent_is_not_sent_again(change: dict[str, Any]) -> None:
    box = Mailbox()
    box.queue()
    job = box.job()
    assert job is not None
    assert send_claimed(msgspec.structs.replace(job, **change)).status == orders.UNKNOWN


@pytest.mark.parametrize("answer", [BOUNCED, orders.RAIL_SILENT])
def test_a_mail_that_failed_is_sent_again_under_its_id(answer: Answer) -> None:
    for again in (Mailbox.queue, Mailbox.send_again):
        box = Mailbox()
        first = box.queue().row
        box.answer(answer)
        box.now += timedelta(hours=1)
        again(box)
        job = box.job()
        assert job is not None
        assert (box.mail().status, box.mail().mail_id, job.reference) == (QUEUED, first.mail_id, first.mail_id)
        box.answer(TAKEN)
        assert (box.mail().status, box.mail().attempts) == (SENT, 2)


def test_every_refusal_to_send_again() -> None:
    box = Mailbox()
    for nobody in ("ML" + "0" * 32, "ML", "IN1"):
        assert box.send_again(nobody) is UNKNOWN_MAIL
    box.queue()
    assert box.send_again() is STILL_QUEUED
    box.answer(TAKEN)
    assert box.send_again() is ALREADY_SENT
    box.queue("two")
    box.apply(Decision(rows=(msgspec.structs.replace(erase_content(box.mail("two"))),)))
    assert box.send_again(box.mail("two").mail_id) is ERASED
    box.is_configured = False
    refused = box.send_again()
    assert isinstance(refused, Refusal)
    assert refused is NOT_CONFIGURED


def test_an_erased_mail_is_never_sent() -> None:
    box = Mailbox()
    box.queue()
    erased = erase_content(box.mail())
    assert (erased.status, erased.content_sealed, read_content(erased, VAULT.unseal)) == (FAILED, None, None)
    assert erase_content(erased) == erased
    box.apply(Decision(rows=(erased,)))
    assert box.queue().effects.rows == ()


def test_a_merchant_has_a_share_of_the_mail_system() -> None:
    box = Mailbox()
    dues = []
    for number in range(MAIL_BURST + 3):
        box.queue(f"mail {number}")
        job = box.job(f"mail {number}")
        assert job is not None
        dues.append(job.due - NOW)
    assert dues == [timedelta(0)] * MAIL_BURST + [INTERVAL * n for n in (1, 2, 3)]
    # An hour later the whole burst is there again, and no more.
    box.now += timedelta(hours=1)
    box.rows = {share_key(7): box.rows[share_key(7)]}
    later = []
    for number in range(MAIL_BURST + 1):
        box.queue(f"later {number}")
        job = box.job(f"later {number}")
        assert job is not None
        later.append(job.due - box.now)
    assert later == [timedelta(0)] * MAIL_BURST + [INTERVAL]


@pytest.mark.parametrize(
    "terms", [MailTerms(sender_name="a\nb"), MailTerms(sender_name="x" * 81), MailTerms(reply_to="office")]
)
def test_terms_that_no_header_can_have_are_refused(terms: MailTerms) -> None:
    with pytest.raises(ValueError, match="mail: "):
        check_mail_terms(terms)


@pytest.mark.parametrize("held", [HELD, msgspec.structs.replace(HELD, is_unsent=False)], ids=["share", "vendor"])
def test_a_mail_that_is_held_back_for_a_while_is_not_counted_as_tried(held: Answer) -> None:
    mailbox = Mailbox()
    mailbox.queue()
    for _ in range(len(RETRY_AFTER) + 2):
        mailbox.answer(held)
        job = mailbox.job()
        assert job is not None
        assert (job.attempt, job.due) == (0, mailbox.now + timedelta(seconds=30))
        mailbox.now = job.due
    mailbox.answer(TAKEN)
    assert (mailbox.mail().status, mailbox.mail().attempts) == (SENT, 1)


# --- text messages ----------------------------------------------------------------------------------------------------


class Telephone:
    """A vendor of text messages that keeps them."""

    def __init__(self) -> None:
        self.messages: list[Sms] = []

    async def send(self, sms: Sms) -> Answer:
        self.messages.append(sms)
        return TAKEN


def test_a_text_message_is_queued_sealed_and_given_to_its_vendor_alone() -> None:
    box, telephone = Mailbox(), Telephone()
    queued = box.queue_sms()
    job = box.job()
    assert job is not None
    content = restore_content(job, VAULT)
    assert read_content(box.mail(), VAULT.unseal) == content
    assert (content.channel, content.subject, content.html, content.reply_to) == (SMS, "", "", "")
    assert "+2348031234567" not in repr((queued, content)) + job.work
    # A call of the mail system would raise: there is none.
    answer = asyncio.run(steps.send(Rails(bank=NO_RAIL, sms=telephone), job, NOW, content))
    assert telephone.messages == [Sms(to="+2348031234567", text="Ada Stores: paid")]
    box.answer(answer)
    assert (box.mail().status, box.job()) == (SENT, None)


def test_mails_and_text_messages_share_what_a_merchant_may_send() -> None:
    box = Mailbox()
    for number in range(MAIL_BURST):
        box.queue(f"mail {number}")
    box.queue_sms("sms")
    job = box.job("sms")
    assert job is not None
    assert job.due - NOW == INTERVAL


def test_a_text_message_that_may_have_left_is_not_sent_again_by_itself() -> None:
    box = Mailbox()
    box.queue_sms()
    job = box.job()
    assert job is not None
    claimed = msgspec.structs.replace(job, claims=2)
    box.answer(send_claimed(claimed))
    assert (box.mail().status, box.job()) == (UNKNOWN, None)
    box.sends_sms = False
    assert box.send_again() is SMS_NOT_CONFIGURED
    box.sends_sms, box.is_configured = True, False
    assert isinstance(box.send_again(), Decision)
    assert box.mail().status == QUEUED


def test_a_mail_is_not_sent_by_a_vendor_of_text_messages() -> None:
    box = Mailbox()
    box.queue()
    box.answer(BOUNCED)
    box.is_configured = False
    assert box.send_again() is NOT_CONFIGURED


def test_a_vendor_that_cannot_be_reached_is_tried_by_and_by() -> None:
    """An answer that nothing left, and that does not say until when to wait, counts as a try: else it would be tried
    again at once, for as long as the vendor is away."""
    box = Mailbox()
    box.queue_sms()
    box.answer(Answer(orders.UNAVAILABLE, None, "", is_unsent=True))
    job = box.job()
    assert job is not None
    assert (box.mail().attempts, job.attempt, job.due - box.now) == (1, 1, RETRY_AFTER[0])


# --- bounces ----------------------------------------------------------------------------------------------------------

ENTRY = AuditEntry("command:ada", "recorded a bounce", "ML1")


def bounce(box: Mailbox, number: int, code: str = "550 5.1.1", *, is_final: bool = True) -> Any:
    sent_as = MailTry(box.merchant.merchant_id, box.mail().mail_id, number)
    decided = decide_bounce(sent_as, code, is_final, ENTRY, box.context, box.load(need_bounced_mail(sent_as)))
    box.apply(decided)
    assert decided.audit_entries == ((ENTRY,) if decided.rows else ())
    return decided.reply


@pytest.mark.parametrize("answer", [TAKEN, orders.RAIL_SILENT])
def test_a_bounce_ends_a_mail_that_was_or_may_be_sent(answer: Answer) -> None:
    box = Mailbox()
    box.queue()
    box.answer(answer)
    sent_at = box.mail().sent_at
    box.now += timedelta(hours=1)
    assert bounce(box, 0) == BOUNCED_STATE
    mail = box.mail()
    assert (mail.status, mail.reply_code, mail.attempts) == (BOUNCED_STATE, "550 5.1.1", 1)
    assert (mail.sent_at, mail.changed_at) == (sent_at, box.now)
    assert bounce(box, 0, "554 5.7.1") == NOTHING_CHANGED
    assert box.mail() == mail
    assert box.send_again().reply.data.status == QUEUED


def test_a_late_mail_is_noted_while_it_is_sent() -> None:
    box = Mailbox()
    box.queue()
    box.answer(TAKEN)
    changed_at = box.mail().changed_at
    box.now += timedelta(hours=1)
    assert [bounce(box, 0, "4.4.1", is_final=False) for _ in range(2)] == [NOTED, NOTHING_CHANGED]
    assert (box.mail().status, box.mail().reply_code, box.mail().changed_at) == (SENT, "4.4.1", changed_at)
    assert bounce(box, 0, "4.4.2", is_final=False) == NOTHING_CHANGED
    assert bounce(box, 0) == BOUNCED_STATE
    assert bounce(box, 0, "4.4.2", is_final=False) == NOTHING_CHANGED


@pytest.mark.parametrize("code", ["", "550 5.1.1"])
def test_a_late_mail_has_the_code_of_a_temporary_failure(code: str) -> None:
    box = Mailbox()
    box.queue()
    box.answer(TAKEN)
    mail = box.mail()
    assert bounce(box, 0, code, is_final=False) == NOTHING_CHANGED
    assert box.mail() == mail


def test_a_bounce_of_a_mail_whose_answer_is_not_recorded_comes_again() -> None:
    box = Mailbox()
    box.queue()
    assert bounce(box, 0) == NOT_SENT_YET
    box.answer(Answer(orders.UNAVAILABLE, None, ""))
    assert bounce(box, 0) == NOTHING_CHANGED, "the first try was not taken: this is no bounce of the next one"
    assert bounce(box, 1) == NOT_SENT_YET
    box.answer(TAKEN)
    assert bounce(box, 0) == NOTHING_CHANGED
    assert bounce(box, 1) == BOUNCED_STATE


@pytest.mark.parametrize("answer", [BOUNCED, Answer(orders.FAILED, None, "")])
def test_a_bounce_of_a_mail_that_failed_or_is_unknown_changes_nothing(answer: Answer) -> None:
    box = Mailbox()
    box.queue()
    box.answer(answer)
    assert bounce(box, 0) == NOTHING_CHANGED
    stranger = MailTry(box.merchant.merchant_id, "ML" + "0" * 32, 0)
    rows = box.load(need_bounced_mail(stranger))
    assert decide_bounce(stranger, "", True, ENTRY, box.context, rows) == Decision(reply=NOTHING_CHANGED)


def test_the_job_of_each_try_says_which_one_it_is() -> None:
    box = Mailbox()
    box.queue()
    for number in range(3):
        job = box.job()
        assert job is not None
        assert describe_try(job) == MailTry(box.merchant.merchant_id, box.mail().mail_id, number)
        box.answer(HELD)
        held = box.job()
        assert held is not None
        assert describe_try(held).number == number, "it was not given to the mail system"
        box.answer(Answer(orders.UNAVAILABLE, None, ""))
