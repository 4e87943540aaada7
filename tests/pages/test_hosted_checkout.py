"""Limits and forms of hosted checkouts that need no database. Contract: payment#checkout-page"""

import asyncio
from typing import Any

import pytest

from kasuwa.boot.api import FORMS_BURST, make_page_throttle
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.shared_buckets import SharedBuckets
from kasuwa.pages import hosted_forms
from kasuwa.pages.hosted_checkout import HostedCheckouts, HostedServices
from kasuwa.settings.settings import Settings, read_settings
from tests.walk.bounds import FORMS_AT_ONCE

NOTHING: Any = None


def settings(environment: str) -> Settings:
    return read_settings({"KASUWA_ENVIRONMENT": environment})


def test_an_address_sends_40_forms_at_once_and_no_more() -> None:
    for number, is_within in FORMS_AT_ONCE.sides:
        take = make_page_throttle(settings("live"), SharedBuckets())
        assert take is not None
        assert ([take("192.0.2.1") for _ in range(number)][-1] == 0) == is_within, number


def test_an_address_that_sends_too_many_forms_must_wait_and_others_need_not() -> None:
    take = make_page_throttle(settings("live"), SharedBuckets())
    assert take is not None
    assert [take("192.0.2.1") for _ in range(FORMS_BURST)] == [0.0] * FORMS_BURST
    assert take("192.0.2.1") > 0
    assert take("192.0.2.2") == 0
    assert make_page_throttle(settings("test"), SharedBuckets()) is None


def test_a_form_beyond_the_limit_is_refused_before_anything_is_read() -> None:
    services = HostedServices(NOTHING, NOTHING, NOTHING, NOTHING, "", NOTHING, take=lambda address: 1.0)
    pages = HostedCheckouts(services)
    for path in ("/pay/checkout/" + "0" * 48, "/pay/link/cooking-class"):
        page = asyncio.run(pages.serve("POST", path, {}, "192.0.2.1", RequestProgress()))
        assert page is not None
        assert page.http == 429
    assert asyncio.run(pages.serve("POST", "/pay/other", {}, "192.0.2.1", RequestProgress())) is None


@pytest.mark.parametrize(
    ("field", "entered", "value"),
    [
        (hosted_forms.CARD_FIELDS[0], "4111 1100-0000 0013", "4111110000000013"),
        (hosted_forms.CARD_FIELDS[0], "4111110000000014", None),
        (hosted_forms.CARD_FIELDS[1], "9/27", "0927"),
        (hosted_forms.CARD_FIELDS[1], "09 / 2027", "0927"),
        (hosted_forms.CARD_FIELDS[1], "0927", "0927"),
        (hosted_forms.CARD_FIELDS[1], "13/27", None),
        (hosted_forms.CARD_FIELDS[2], "12", None),
        (hosted_forms.PHONE_FIELD, "0803 123 4567", "08031234567"),
        (hosted_forms.PHONE_FIELD, "call me", None),
        (hosted_forms.AMOUNT_FIELD, "2,500.50", "250050"),
        (hosted_forms.AMOUNT_FIELD, "0", None),
        (hosted_forms.AMOUNT_FIELD, "1e5", None),
        (hosted_forms.EMAIL_FIELD, " ada@example.com ", "ada@example.com"),
        (hosted_forms.EMAIL_FIELD, "ada@", None),
        (hosted_forms.FULLNAME, "  Ada   Obi ", "Ada Obi"),
        (hosted_forms.FULLNAME, "\x00", None),
    ],
)
def test_fields_are_read_as_payers_write_them(field: hosted_forms.FormField, entered: str, value: str | None) -> None:
    form = hosted_forms.read_fields((field,), {field.name: entered})
    assert form.values.get(field.name) == value
    assert (field.name in form.errors) is (value is None)
