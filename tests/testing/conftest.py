"""The plugin's own fixtures, with the server of these tests as theirs."""

import pytest

from kasuwa.testing import Server
from kasuwa.testing.server import connect
from tests.running import Deployment


@pytest.fixture
def kasuwa_server(deployment: Deployment) -> Server:
    return connect(f"http://127.0.0.1:{deployment.port}")
