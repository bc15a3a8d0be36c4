"""Threshold policies written as text: ``youden``, ``tpr:0.9``, ``cost:1,50``."""

from __future__ import annotations

import re

from tallymark.errors import InputError
from tallymark.registry import POLICIES, Policy


def parse_policy(text: str) -> tuple[Policy, tuple[float, ...]]:
    """The policy that a text names, and its numbers."""
    if re.fullmatch(r"[+-]?\d*,\d+", text.strip()):
        raise InputError(f"The threshold is {text!r}; write {text.strip().replace(',', '.')}, with a point.")
    name, _, written = text.partition(":")
    policy = POLICIES[name.strip()]
    try:
        numbers = tuple(float(part) for part in written.split(",")) if written.strip() else ()
    except ValueError:
        raise InputError(f"{text!r}: {written!r} is not a list of numbers; write {_spelling(policy)}.") from None
    missing = len(policy.arguments) - len(numbers)
    if not 0 <= missing <= len(policy.defaults):
        amount = f"{len(numbers) or 'no'} number{'s' if len(numbers) > 1 else ''}"
        raise InputError(f"{text!r} has {amount} behind it; write {_spelling(policy)}.")
    return policy, numbers + policy.defaults[len(policy.defaults) - missing :]


def policy_in(threshold: object) -> str | None:
    """The policy that a threshold names; None for a number, also one written as text."""
    if not isinstance(threshold, str):
        return None
    try:
        float(threshold)
    except ValueError:
        return threshold
    return None


def _spelling(policy: Policy) -> str:
    return f"{policy.example} ({', '.join(policy.arguments)})" if policy.arguments else policy.name
