"""The small renderer of helm_templates.py gives what helm gives for the parts of the language that the chart uses."""

from typing import Any

import pytest

from tests.deploy.helm_templates import TemplateError, render_template

SCOPE: dict[str, Any] = {
    "Values": {
        "name": "shop",
        "count": 2,
        "on": True,
        "off": False,
        "empty": "",
        "none": {},
        "map": {"b": "2", "a": "1"},
        "list": [80, 443],
        "tree": {"limits": {"memory": "1Gi"}},
    },
    "Release": {"Name": "r"},
}


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ("a {{ .Values.name }} b", "a shop b"),
        ("{{ .Values.count | quote }}", '"2"'),
        ("{{ .Values.on }}", "true"),
        ('{{ .Values.empty | default "x" }}', "x"),
        ("{{ .Values.name | default .Release.Name | quote }}", '"shop"'),
        ("{{ .Values.empty | default .Release.Name }}", "r"),
        ("{{ add .Values.count 90 }}", "92"),
        ("a\n  {{- toYaml .Values.tree | nindent 4 }}\nb", "a\n    limits:\n      memory: 1Gi\nb"),
        ("a\n{{- if .Values.on }}\nb\n{{- end }}\nc", "a\nb\nc"),
        ("a\n{{- if .Values.off }}\nb\n{{- end }}\nc", "a\nc"),
        ("{{ if .Values.none }}a{{ else }}b{{ end }}", "b"),
        ("{{ if not .Values.empty }}a{{ end }}", "a"),
        ("{{ if .Values.off }}{{ if .Values.on }}a{{ else }}b{{ end }}{{ else }}c{{ end }}", "c"),
        ("{{ if .Values.on }}{{ if .Values.off }}a{{ else }}b{{ end }}{{ else }}c{{ end }}", "b"),
        ("{{ range $k, $v := .Values.map }}{{ $k }}={{ $v }};{{ end }}", "a=1;b=2;"),
        ("{{ range $v := .Values.list }}{{ $v }} {{ end }}", "80 443 "),
        ("{{ range $v := .Values.none }}{{ $v }}{{ end }}", ""),
        ("a  {{- .Values.name -}}  b", "ashopb"),
    ],
)
def test_a_template_is_rendered(template: str, rendered: str) -> None:
    assert render_template(template, SCOPE) == rendered


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Values.missing }}",
        "{{ .Values.name.deeper }}",
        "{{ include .Values.name }}",
        '{{ required "x" .Values.name }}',
        "{{ if .Values.on }}",
        "{{ end }}",
        "{{ range .Values.list }}{{ end }}",
        "{{ $unknown }}",
    ],
)
def test_a_template_that_the_renderer_does_not_know_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        render_template(template, SCOPE)
