"""The chart of deploy/helm: the manifests it makes, what its pods may do, and the values it refuses."""

from collections.abc import Mapping
from typing import Any

import pytest

from kasuwa.api.openapi.operations import ApiDescription, describe_paths
from kasuwa.methods.tables import list_methods
from kasuwa.settings.settings import SECRET_SETTINGS
from tests.deploy.deployment_files import EVERYTHING, image_environment, pod_of
from tests.deploy.dockerfile import read_stages
from tests.deploy.helm_templates import (
    CHART,
    NAMESPACE,
    RELEASE,
    chart_values,
    read_yaml,
    render_chart,
    render_file,
    value_errors,
)

SMALLEST: Mapping[str, Any] = {"existingSecret": "kasuwa-secrets"}
CLOSED: Mapping[str, Any] = {
    **SMALLEST,
    "console": {"enabled": False},
    "metrics": {"enabled": False},
    "networkPolicy": {"enabled": False},
    "disruptionBudget": {"enabled": False},
    "requestLog": False,
}
ALL_VALUES = {"smallest": SMALLEST, "everything": EVERYTHING, "closed": CLOSED}

VERSIONS = {
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "Service": "v1",
    "ServiceMonitor": "monitoring.coreos.com/v1",
}


@pytest.fixture(params=list(ALL_VALUES.values()), ids=list(ALL_VALUES))
def manifests(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return render_chart(request.param)


def of_kind(manifests: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def pods(manifests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [*of_kind(manifests, "Deployment"), *of_kind(manifests, "Job")]
    assert len(found) == 2
    return [pod_of(manifest) for manifest in found]


def serving(manifests: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the Deployment and its one container."""
    (deployment,) = of_kind(manifests, "Deployment")
    (container,) = pod_of(deployment)["containers"]
    return deployment, container


# --- all manifests ------------------------------------------------------------------------------------------------


def test_each_manifest_has_a_known_kind_and_a_name_of_its_own(manifests: list[dict[str, Any]]) -> None:
    assert {manifest["kind"]: manifest["apiVersion"] for manifest in manifests}.items() <= VERSIONS.items()
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    assert len(set(names)) == len(names)
    for manifest in manifests:
        assert manifest["metadata"]["name"].startswith(RELEASE)
        labels = manifest["metadata"]["labels"]
        assert (labels["app.kubernetes.io/name"], labels["app.kubernetes.io/instance"]) == ("kasuwa", RELEASE)


def test_optional_parts_are_made_when_they_are_wanted() -> None:
    def names(values: Mapping[str, Any]) -> set[str]:
        return {f"{manifest['kind']} {manifest['metadata']['name']}" for manifest in render_chart(values)}

    closed = {"Deployment shop", "Service shop", "Job shop-migrate"}
    assert names(CLOSED) == closed
    usual = closed | {"Service shop-console", "Service shop-metrics", "PodDisruptionBudget shop", "NetworkPolicy shop"}
    assert names(SMALLEST) == usual
    assert names(EVERYTHING) == usual | {"ServiceMonitor shop"}


def test_the_chart_makes_no_secret_and_puts_none_into_the_environment(manifests: list[dict[str, Any]]) -> None:
    assert of_kind(manifests, "Secret") == []
    for pod in pods(manifests):
        (container,) = pod["containers"]
        names = [variable["name"] for variable in container["env"]]
        assert len(set(names)) == len(names)
        assert not set(names) & {f"KASUWA_{name.upper()}" for name in SECRET_SETTINGS}
        assert all(set(variable) == {"name", "value"} for variable in container["env"])


def test_every_secret_file_is_mounted_where_the_settings_name_it(manifests: list[dict[str, Any]]) -> None:
    for pod in pods(manifests):
        (container,) = pod["containers"]
        (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == "secrets"]
        (volume,) = [volume["secret"] for volume in pod["volumes"] if volume["name"] == "secrets"]
        assert (volume["secretName"], volume["defaultMode"]) == ("kasuwa-secrets", 0o440)
        mounted = {f"{mount['mountPath']}/{item['path']}" for item in volume["items"]}
        named = {variable["value"] for variable in container["env"] if variable["name"].endswith("_FILE")}
        assert named <= mounted
        assert mount["readOnly"] is True


# --- pods ---------------------------------------------------------------------------------------------------------


def test_pods_are_not_root_read_only_and_without_rights(manifests: list[dict[str, Any]]) -> None:
    for pod in pods(manifests):
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert pod["automountServiceAccountToken"] is False
        assert "memory" in container["resources"]["limits"]


def test_kubernetes_sets_no_variables_that_look_like_settings(manifests: list[dict[str, Any]]) -> None:
    """A Service named kasuwa would set KASUWA_PORT to tcp://…, which the service refuses."""
    assert [pod["enableServiceLinks"] for pod in pods(manifests)] == [False, False]


def test_pods_write_to_the_volume_of_the_image_alone(manifests: list[dict[str, Any]]) -> None:
    (place,) = read_stages()[-1].only("VOLUME").arguments
    for pod in pods(manifests):
        (container,) = pod["containers"]
        writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
        assert writable == [place] == [image_environment()["KASUWA_DATA"]]


def test_probes_ask_paths_of_the_api_at_its_port(manifests: list[dict[str, Any]]) -> None:
    _, container = serving(manifests)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    environment = {variable["name"]: variable["value"] for variable in container["env"]}
    assert str(ports["api"]) == environment["KASUWA_PORT"]
    paths = describe_paths(ApiDescription(list_methods("live"), "live"))["paths"]
    asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: (probe["path"], probe["port"]) for name, probe in asked.items()} == {
        "startup": ("/healthz", "api"),
        "liveness": ("/healthz", "api"),
        "readiness": ("/readyz", "api"),
    }
    assert {probe["path"] for probe in asked.values()} <= set(paths)


def test_ports_of_the_container_are_those_of_the_settings(manifests: list[dict[str, Any]]) -> None:
    _, container = serving(manifests)
    environment = {variable["name"]: variable["value"] for variable in container["env"]}
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert ports.get("console") == environment.get("KASUWA_CONSOLE_PORT")
    assert ports.get("metrics") == environment.get("KASUWA_METRICS_PORT")
    assert ("console" in ports) == (environment.get("KASUWA_CONSOLE") != "off")


# --- how manifests refer to each other ----------------------------------------------------------------------------


def test_selectors_find_the_pods_that_serve_and_not_the_migration(manifests: list[dict[str, Any]]) -> None:
    deployment, container = serving(manifests)
    (job,) = of_kind(manifests, "Job")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    others = job["spec"]["template"]["metadata"]["labels"]
    selectors = [deployment["spec"]["selector"]["matchLabels"]]
    selectors += [service["spec"]["selector"] for service in of_kind(manifests, "Service")]
    selectors += [budget["spec"]["selector"]["matchLabels"] for budget in of_kind(manifests, "PodDisruptionBudget")]
    for selector in selectors:
        assert selector.items() <= labels.items()
        assert not selector.items() <= others.items()
    named = {port["name"] for port in container["ports"]}
    for service in of_kind(manifests, "Service"):
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= named


def test_opening_the_api_does_not_open_console_and_metrics() -> None:
    types = {
        service["metadata"]["name"]: (service["spec"]["type"], [port["name"] for port in service["spec"]["ports"]])
        for service in of_kind(render_chart(EVERYTHING), "Service")
    }
    assert types == {
        "shop": ("LoadBalancer", ["api"]),
        "shop-console": ("ClusterIP", ["console"]),
        "shop-metrics": ("ClusterIP", ["metrics"]),
    }


def test_prometheus_is_sent_to_the_metrics() -> None:
    manifests = render_chart(EVERYTHING)
    (monitor,) = of_kind(manifests, "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    found = [service for service in of_kind(manifests, "Service") if wanted <= service["metadata"]["labels"].items()]
    assert [service["metadata"]["name"] for service in found] == ["shop-metrics"]
    (endpoint,) = monitor["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["path"]) == (found[0]["spec"]["ports"][0]["name"], "/metrics")


def test_migrations_run_before_the_pods_are_replaced_and_old_pods_serve_on() -> None:
    manifests = render_chart(SMALLEST)
    (job,) = of_kind(manifests, "Job")
    deployment, _ = serving(manifests)
    annotations = job["metadata"]["annotations"]
    assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert "before-hook-creation" in annotations["helm.sh/hook-delete-policy"].split(",")
    (container,) = pod_of(job)["containers"]
    assert (container["args"], pod_of(job)["restartPolicy"]) == (["migrate"], "Never")
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    # A hook runs before the other manifests exist: it may only refer to what the operator made.
    assert {next(iter(set(volume) - {"name"})) for volume in pod_of(job)["volumes"]} == {"secret", "emptyDir"}


def test_the_network_policy_lets_in_who_is_named_and_out_what_is_needed() -> None:
    (policy,) = of_kind(render_chart(SMALLEST), "NetworkPolicy")
    assert policy["spec"]["ingress"] == [{"ports": [{"port": "api", "protocol": "TCP"}]}]
    outgoing = [[port["port"] for port in rule["ports"]] for rule in policy["spec"]["egress"]]
    assert outgoing == [[53, 53], [5432], [80, 443, 465, 587]]
    excepted = [block["ipBlock"]["except"] for block in policy["spec"]["egress"][-1]["to"]]
    assert "169.254.0.0/16" in excepted[0]
    (policy,) = of_kind(render_chart(EVERYTHING), "NetworkPolicy")
    given: Any = EVERYTHING["networkPolicy"]
    assert {rule["ports"][0]["port"]: rule["from"] for rule in policy["spec"]["ingress"]} == {
        "api": given["apiFrom"],
        "console": given["consoleFrom"],
        "metrics": given["metricsFrom"],
    }


# --- values -------------------------------------------------------------------------------------------------------


def test_without_a_secret_the_chart_is_refused_and_with_one_it_is_complete() -> None:
    assert [error.partition(":")[0] for error in value_errors(chart_values({}))] == ["existingSecret"]
    assert value_errors(chart_values(SMALLEST)) == []


def test_every_default_is_in_the_schema_and_the_other_way_around() -> None:
    def names(values: Any, place: str = "") -> set[str]:
        inner = {f"{place}{name}" for name in values}
        return inner.union(*(names(value, f"{place}{name}.") for name, value in values.items() if name in GROUPS))

    schema = read_yaml(CHART / "values.schema.json")

    def schema_names(found: Any, place: str = "") -> set[str]:
        properties = found.get("properties", {})
        inner = {f"{place}{name}" for name in properties}
        return inner.union(*(schema_names(p, f"{place}{name}.") for name, p in properties.items() if name in GROUPS))

    assert names(chart_values({})) | {"global"} == schema_names(schema)


# Of the Secret without further ado, for the job that migrates, or for a command that an operator runs.
ALWAYS_THERE = {"secret_key", "database_url", "database_owner_url", "new_secret_key"}


def test_every_secret_comes_from_the_secret_and_none_from_the_environment() -> None:
    properties = read_yaml(CHART / "values.schema.json")["properties"]
    assert set(properties["secretSettings"]["items"]["enum"]) == set(SECRET_SETTINGS) - ALWAYS_THERE
    refused = properties["extraEnvironment"]["propertyNames"]["not"]["enum"]
    assert set(refused) == {f"KASUWA_{name.upper()}" for name in SECRET_SETTINGS}


GROUPS = ("image", "console", "metrics", "service", "disruptionBudget", "networkPolicy")


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"environment": "prod"}, "environment"),
        ({"replicas": 0}, "replicas"),
        ({"workers": 65}, "workers"),
        ({"publicUrl": "pay.example"}, "publicUrl"),
        ({"preStopSeconds": -1}, "preStopSeconds"),
        ({"migration": {"deadlineSeconds": 60}}, "migration.deadlineSeconds"),
        ({"service": {"type": "Public"}}, "service.type"),
        ({"metrics": {"enabled": False, "serviceMonitor": True}}, "metrics.enabled"),
        ({"extraEnvironment": {"KASUWA_SECRET_KEY": "x"}}, "extraEnvironment"),
        ({"extraEnvironment": {"PATH": "/"}}, "extraEnvironment"),
        ({"networkPolicy": {"outgoingPorts": []}}, "networkPolicy.outgoingPorts"),
        ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy"),
        ({"replica": 3}, ""),
        ({"console": {"enable": True}}, "console"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(given: dict[str, Any], place: str) -> None:
    errors = value_errors(chart_values({**SMALLEST, **given}))
    assert [error.partition(":")[0] for error in errors] == [place]


def test_the_notes_name_the_services_of_the_release() -> None:
    notes = render_file("NOTES.txt", SMALLEST)
    assert f"--namespace {NAMESPACE} port-forward service/{RELEASE} 8080:8080" in notes
    assert f"service/{RELEASE}-console 8081:8081" in notes
    assert "publicUrl is not set" in notes
    assert "publicUrl" not in render_file("NOTES.txt", {**SMALLEST, "publicUrl": "https://pay.example"})
    assert "console" not in render_file("NOTES.txt", CLOSED)
