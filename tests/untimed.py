"""Hypothesis without a stopwatch: a slow or busy machine must not fail a test."""

from hypothesis import HealthCheck, settings


def untimed(max_examples: int = 100) -> settings:
    return settings(deadline=None, max_examples=max_examples, suppress_health_check=[HealthCheck.too_slow])


UNTIMED = untimed()
