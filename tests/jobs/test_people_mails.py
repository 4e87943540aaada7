"""Mails to people: sent once through a real mail server with faults, and never again when nobody knows."""

from collections.abc import Iterator

import pytest

from kasuwa.people import mails, users
from kasuwa.people.mails import RETRY_AFTER
from kasuwa.rails.sandbox.mail import SandboxMail
from tests.jobs.people_ground import CONSOLE, VAULT, Ground, make_database, run, smtp
from tests.outbound.mail_server import SmtpServer, taking_mail
from tests.running import Deployments


@pytest.fixture(scope="module")
def dsn(deployments: Deployments) -> str:
    return make_database(deployments, "people_mails")


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    with taking_mail() as running:
        yield running


def test_a_mail_is_sent_once_to_the_address_of_its_person(dsn: str, server: SmtpServer) -> None:
    async def work(ground: Ground) -> None:
        person = await ground.add_person("once@people.example")
        assert await ground.queue(person)
        assert not await ground.queue(person), "an occasion has one mail"
        assert [await ground.send(smtp(server)) for _ in range(2)] == [1, 0]
        assert await ground.states() == [("sent", 1, "")]
        [mail] = await ground.outbox()
        assert (mail.email, mail.content) == ("once@people.example", None)

    run(dsn, work)
    [letter] = server.letters
    assert (letter.to, "Something waits." in letter.text) == ("once@people.example", True)


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (b"550 5.1.1 nobody", ("failed", 1, "550 5.1.1")),
        (b"450 4.2.1 busy", ("queued", 1, "450 4.2.1")),
    ],
)
def test_a_refusal_for_good_ends_a_mail_and_one_for_now_does_not(
    dsn: str, server: SmtpServer, reply: bytes, state: tuple[str, int, str]
) -> None:
    server.faults.content_reply = reply

    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person(f"{state[0]}@people.example"))
        await ground.send(smtp(server))
        assert await ground.states() == [state]
        assert await ground.send(smtp(server)) == 0, "it waits"

    run(dsn, work)


def test_a_mail_is_given_up_after_days_of_refusals(dsn: str, server: SmtpServer) -> None:
    server.faults.content_reply = b"451 4.3.0 later"

    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("patient@people.example"))
        rail = smtp(server)
        for _ in range(len(RETRY_AFTER) + 1):
            await ground.make_due()
            await ground.send(rail)
        assert await ground.states() == [("failed", len(RETRY_AFTER) + 1, "451 4.3.0")]

    run(dsn, work)


@pytest.mark.parametrize("fault", ["lost answer", "dead worker"])
def test_a_mail_whose_outcome_is_unknown_is_not_sent_again(dsn: str, server: SmtpServer, fault: str) -> None:
    server.faults.drops_after_content = fault == "lost answer"

    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person(f"{fault.replace(' ', '.')}@people.example"))
        if fault == "dead worker":
            assert len(await mails.claim(ground.pool)) == 1
            assert await ground.send(smtp(server)) == 0, "another process has it"
            await ground.end_lease()
        await ground.send(smtp(server))
        assert await ground.states() == [("unknown", 1, "")]
        server.faults.drops_after_content = False
        assert await ground.send(smtp(server)) == 0

    run(dsn, work)
    assert len(server.letters) == (1 if fault == "lost answer" else 0)


def test_the_answer_of_a_process_that_lost_its_lease_changes_nothing(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("late@people.example"))
        [late] = await mails.claim(ground.pool)
        await ground.end_lease()
        [current] = await mails.claim(ground.pool)
        await mails.end(ground.pool, late, "sent", "", keeps_content=False)
        assert await ground.states() == [("queued", 0, "")]
        await mails.end(ground.pool, current, "unknown", "", keeps_content=False)
        assert await ground.states() == [("unknown", 1, "")]

    run(dsn, work)


def test_the_share_of_the_deployment_holds_mails_back_without_counting_a_try(dsn: str, server: SmtpServer) -> None:
    async def work(ground: Ground) -> None:
        person = await ground.add_person("many@people.example")
        for occasion in ("one", "two"):
            await ground.queue(person, occasion)
        await ground.send(smtp(server, mails_a_minute=1))
        assert sorted(await ground.states()) == [("queued", 0, ""), ("sent", 1, "")]

    run(dsn, work)
    assert len(server.letters) == 1


def test_without_a_mail_server_a_mail_fails_at_once_and_says_so(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("nowhere@people.example"))
        await ground.send(None)
        assert await ground.states() == [("failed", 1, "no mail server is configured")]

    run(dsn, work)


def test_a_person_who_was_disabled_gets_no_mail(dsn: str, server: SmtpServer) -> None:
    async def work(ground: Ground) -> None:
        person = await ground.add_person("gone@people.example")
        await ground.queue(person)
        async with ground.pool.acquire() as connection:
            await users.disable(connection, VAULT, person.user_id)
        await ground.send(smtp(server))
        assert await ground.states() == [("failed", 1, "the account is disabled")]

    run(dsn, work)
    assert server.letters == []


def test_in_test_the_mails_stay_readable_and_leave_nothing(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("outbox@people.example"))
        await ground.send(SandboxMail(), keeps_content=True)
        [mail] = await ground.outbox()
        assert (mail.status, mail.content.to, "Something waits." in mail.content.text) == (
            "sent",
            "outbox@people.example",
            True,
        )

    run(dsn, work)


def test_in_test_the_address_selects_that_a_mail_comes_back(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("returned@people.example"))
        assert await ground.send(SandboxMail(), keeps_content=True) == 1
        [(state, tries, code)] = await ground.states()
        assert (state, tries, code != "") == ("bounced", 1, True)
        [mail] = await ground.outbox()
        assert mail.sent_at is not None

    run(dsn, work)


def test_a_link_is_queued_with_it_and_a_newer_one_replaces_it(dsn: str, server: SmtpServer) -> None:
    tokens: list[str] = []

    async def work(ground: Ground) -> None:
        async with ground.pool.acquire() as connection, connection.transaction():
            user_id = await users.add_user(connection, VAULT, "invited@people.example", None, "operator:support")
            for _ in range(2):
                tokens.append(await users.make_link(connection, VAULT, user_id, "invitation"))
                await mails.queue_link(connection, VAULT, tokens[-1], CONSOLE)
        assert await ground.states() == [("failed", 0, "replaced by a newer link"), ("queued", 0, "")]
        await ground.send(smtp(server))
        [newest, first] = await ground.outbox()
        assert (newest.purpose, newest.content, first.content) == ("invitation", None, None)

    run(dsn, work)
    [letter] = server.letters
    assert f"{CONSOLE}/link/{tokens[1]}" in letter.text
    assert tokens[0] not in letter.text
    assert "invited" not in str(letter.message["Subject"])


def test_a_mail_of_a_transaction_that_fails_is_not_queued(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        async def fail() -> None:
            async with ground.pool.acquire() as connection, connection.transaction():
                user_id = await users.add_user(connection, VAULT, "never@people.example", None, "operator:support")
                token = await users.make_link(connection, VAULT, user_id, "invitation")
                await mails.queue_link(connection, VAULT, token, CONSOLE)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        assert await ground.states() == []

    run(dsn, work)


def test_what_a_person_turned_off_is_not_queued_but_alerts_are(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        person = await ground.add_person("quiet@people.example")
        async with ground.pool.acquire() as connection, connection.transaction():
            await mails.turn_off(connection, person.user_id, [mails.PROPOSALS])
        assert not await ground.queue(person, "proposal", mails.PROPOSALS)
        assert await ground.queue(person, "alert", mails.SIGN_IN_ALERT)
        async with ground.pool.acquire() as connection, connection.transaction():
            await mails.turn_off(connection, person.user_id, [])
        assert await ground.queue(person, "proposal", mails.PROPOSALS)

    run(dsn, work)


def test_the_text_of_a_mail_is_encrypted_where_it_waits(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        await ground.queue(await ground.add_person("sealed@people.example"))
        [[row]] = await ground.pool.fetch("select person_mail::text from person_mail")
        assert "sealed@people.example" not in row
        assert "Something waits" not in row

    run(dsn, work)
