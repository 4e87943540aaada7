"""The deployment files as data: the settings that each way of deployment gives the service, and its grace period."""

import configparser
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import yaml

from tests.deploy.dockerfile import read_stages
from tests.deploy.helm_templates import render_chart
from tests.source_rules import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
UNIT = DEPLOY / "kasuwa.service"
COMPOSE = DEPLOY / "compose.yaml"

# All parts of the chart that are optional, switched on.
EVERYTHING: Mapping[str, Any] = {
    "existingSecret": "kasuwa-secrets",
    "secretSettings": ["smtp_url", "database_reader_url", "paystack_secret_key"],
    "migration": {"secretSettings": ["database_owner_url", "database_reader_url"]},
    "image": {"pullSecrets": [{"name": "registry"}]},
    "extraEnvironment": {
        "KASUWA_HASH_HEADER": "x-shop-hash",
        "KASUWA_LARGE_AMOUNT": "5000.00",
        "KASUWA_MAIL_FROM": "Kasuwa <no-reply@example.com>",
    },
    "metrics": {"serviceMonitor": True},
    "service": {"type": "LoadBalancer", "annotations": {"example.com/internal": "true"}},
    "networkPolicy": {
        "apiFrom": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "consoleFrom": [{"podSelector": {"matchLabels": {"app": "vpn"}}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    },
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "payments", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "podAnnotations": {"example.com/team": "payments"},
}

DURATION = re.compile(r"(\d+)(s|min|)")


class Setup(msgspec.Struct):
    """One way to start the service: the variables that it gets, and the seconds between SIGTERM and SIGKILL."""

    name: str
    environment: dict[str, str]
    grace_seconds: int
    is_embedded: bool


def seconds(text: str) -> int:
    found = DURATION.fullmatch(text)
    assert found, text
    return int(found[1]) * (60 if found[2] == "min" else 1)


# --- systemd ------------------------------------------------------------------------------------------------------


class RepeatedKeys(dict[str, Any]):
    """A section of a unit: a key that is repeated keeps all its values, one per line."""

    def __setitem__(self, key: str, value: Any) -> None:
        before = self.get(key)
        super().__setitem__(key, [*before, *value] if isinstance(before, list) and isinstance(value, list) else value)


def read_unit() -> configparser.RawConfigParser:
    unit = configparser.RawConfigParser(strict=False, dict_type=RepeatedKeys, delimiters=("=",))
    unit.optionxform = lambda optionstr: optionstr  # type: ignore[method-assign]
    unit.read_string(UNIT.read_text())
    return unit


def unit_lines(section: str, key: str) -> list[str]:
    return read_unit()[section].get(key, "").split("\n")


def unit_setup() -> Setup:
    environment = dict(line.split("=", 1) for line in unit_lines("Service", "Environment"))
    return Setup("systemd", environment, seconds(unit_lines("Service", "TimeoutStopSec")[0]), True)


# --- compose ------------------------------------------------------------------------------------------------------


def read_compose() -> dict[str, Any]:
    found = yaml.safe_load(COMPOSE.read_text())
    assert isinstance(found, dict)
    return found


def image_environment() -> dict[str, str]:
    return read_stages()[-1].environment()


def compose_setups() -> list[Setup]:
    services = read_compose()["services"]
    return [
        Setup(
            f"compose {name}",
            image_environment() | services[name]["environment"],
            seconds(services[name]["stop_grace_period"]),
            False,
        )
        for name in ("migrate", "kasuwa")
    ]


# --- the chart ----------------------------------------------------------------------------------------------------


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    pod = manifest["spec"]["template"]["spec"]
    assert isinstance(pod, dict)
    return pod


def chart_setups(values: Mapping[str, Any] = EVERYTHING) -> list[Setup]:
    found = []
    for manifest in render_chart(values):
        if manifest["kind"] in ("Deployment", "Job"):
            (container,) = pod_of(manifest)["containers"]
            environment = {variable["name"]: variable["value"] for variable in container["env"]}
            grace = pod_of(manifest).get("terminationGracePeriodSeconds", 30)
            found.append(Setup(f"chart {manifest['kind']}", image_environment() | environment, grace, False))
    return found


def every_setup() -> list[Setup]:
    return [unit_setup(), *compose_setups(), *chart_setups()]
