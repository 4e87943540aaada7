"""Every form of the console has a key, under which its writes are carried out once."""

import re
from pathlib import Path

import pytest

import kasuwa.console

TEMPLATES = sorted((Path(kasuwa.console.__file__).parent / "templates").glob("*.html"))
FORM = re.compile(r"<form\b[^>]*\bmethod=\"post\".*?</form>", re.DOTALL)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_every_form_that_is_sent_has_a_key(template: Path) -> None:
    text = template.read_text()
    assert text.count('method="post"') == len(FORM.findall(text))
    assert [form for form in FORM.findall(text) if "csrf_field()" not in form] == []
    assert text.count('name="csrf"') == text.count('name="form_key"') == (template.stem == "macros")
