"""Hypothesis without a stopwatch: a slow or busy machine must not fail a test."""

from hypothesis import HealthCheck, settings


def without_deadline(max_examples: int = 100) -> settings:
    return settings(deadline=None, max_examples=max_examples, suppress_health_check=[HealthCheck.too_slow])


def use_no_deadline() -> None:
    """Takes the deadline from all tests that are collected from now on."""
    settings.register_profile("without a deadline", without_deadline())
    settings.load_profile("without a deadline")
