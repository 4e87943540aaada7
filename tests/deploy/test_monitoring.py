"""The alerts for Prometheus and the dashboard for Grafana: every metric and label that they name exists."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import yaml

from kasuwa.observe.metrics import ALL_METRICS
from tests.running import Deployment
from tests.source_rules import REPOSITORY

FOLDER = REPOSITORY / "deploy" / "prometheus"
RULES = yaml.safe_load((FOLDER / "rules.yaml").read_text())
DASHBOARD = json.loads((REPOSITORY / "deploy" / "grafana" / "dashboard.json").read_text())
GUIDE = (REPOSITORY / "docs" / "going-live.md").read_text()
PROMTOOL = Path("/usr/bin/promtool")
METRIC = re.compile(r"\bkasuwa_[a-z_]+")
FAMILY = re.compile(r"^# TYPE (kasuwa_\w+) (\w+)$", re.MULTILINE)
# Counters that appear with their first event; they are in ALL_METRICS, which /metrics renders.
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


def all_rules() -> list[dict[str, Any]]:
    return [rule for group in RULES["groups"] for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in all_rules())
    yield from (target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])


def rendered_names(deployment: Deployment) -> set[str]:
    """Returns the names of series that /metrics renders, also of those that have not occurred yet."""
    with urlopen(f"http://127.0.0.1:{deployment.metrics_port}/metrics") as reply:
        text = reply.read().decode()
    names = {f"{family}{end}" for family, kind in FAMILY.findall(text) for end in SUFFIXES[kind]}
    for spec in ALL_METRICS:
        ends = SUFFIXES["histogram"] if spec.bounds else ("",) if spec.is_gauge else ("_total",)
        names |= {f"{spec.name}{end}" for end in ends}
    return names


def test_every_metric_of_the_alerts_and_the_dashboard_exists(deployment: Deployment) -> None:
    used = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert len(used) > 20
    assert used - rendered_names(deployment) == set()


def test_every_label_exists() -> None:
    labels = {label for spec in ALL_METRICS for label in spec.labels} | {"le", "lane"}
    grouped = {
        name for text in expressions() for found in re.findall(r"by \(([^)]*)\)", text) for name in found.split(", ")
    }
    matched = {name for text in expressions() for name in re.findall(r"(\w+)=~?\"", text)}
    legends = [target["legendFormat"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    shown = {name for legend in legends for name in re.findall(r"{{(\w+)}}", legend)}
    written = " ".join(text for rule in all_rules() for text in rule["annotations"].values())
    assert grouped | matched | shown | set(re.findall(r"\$labels\.(\w+)", written)) <= labels


def test_every_alert_says_what_it_is_and_the_guide_what_to_do() -> None:
    for rule in all_rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "description"}
        assert f"`{rule['alert']}`" in GUIDE, rule["alert"]


def test_promtool_accepts_the_rules_and_their_cases() -> None:
    """Checks the structure alone where promtool (Debian's package prometheus) is not installed."""
    names = [rule["alert"] for rule in all_rules()]
    assert len(set(names)) == len(names)
    if PROMTOOL.exists():
        for words in (["check", "rules", "rules.yaml"], ["test", "rules", "rules_test.yaml"]):
            done = subprocess.run([PROMTOOL, *words], cwd=FOLDER, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "SUCCESS" in done.stdout


def test_the_dashboard_has_one_place_for_each_panel() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {"${datasource}"}
