"""Rows of `PUT /resources` about mails, and the step that sends them."""

from kasuwa.core.action import COLLECT, Read, Step, Write
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.mail import model, steps, store, wire
from kasuwa.methods.mail.rules import on_mail_answer, send_again

RESOURCES = (
    Read(
        name="mail",
        scope="collect",
        title="mails",
        request=wire.MailsRequest,
        reply=wire.MailsReply,
        read=store.list_mails,
        summary="Mails and text messages in your name, newest first: all, or those in a state or to a customer",
        example={"inquire": "mail"},
    ),
    Read(
        name="mail",
        scope="collect",
        title="mail_detail",
        only_with="mail_id",
        request=wire.MailShowRequest,
        reply=wire.MailReply,
        read=store.show_one,
        summary="One mail or text message with its text",
        example={"inquire": "mail", "mail_id": "<mail_id>"},
    ),
    Write(
        name="mail",
        scope="collect",
        selector="request",
        request=wire.MailSendRequest,
        reply=wire.MailReply,
        rules=(REFUSE_DRY_RUN,),
        needs=send_again.need_mail,
        decide=send_again.decide_send_again,
        permission=COLLECT,
        summary="Send a mail or text message again that failed or bounced, or whose outcome is unknown",
        example={"request": "mail", "mail_id": "<mail_id>"},
    ),
)

STEPS = (
    Step(
        model.SEND,
        model.LANE,
        steps.send,
        on_mail_answer.need_queued_mail,
        on_mail_answer.decide_mail_answer,
        accepts_callback=False,
        restore_secrets=model.restore_content,
    ),
)
