"""Runs the examples of the Python client's README against the real service, in order, as one program."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.merchant_client import MerchantClient

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


def test_the_examples_of_the_readme_run(shop: MerchantClient, base_url: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 9
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks))
    environment = {**os.environ, "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key, "KASUWA_URL": base_url}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "successful 1500.00 10.00"
    assert lines[-1] == "successful"
    assert any(re.fullmatch(r"resources\.banks attempt 1: HTTP 200 in [0-9.]+ s", line) for line in lines)
