"""Checks that report themselves: one line each, and the program ends at the first that fails."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

Refusal = TypeVar("Refusal", bound=Exception)


def passed(rule: str) -> None:
    """Reports that a rule was seen to hold."""
    print(f"ok: {rule}", flush=True)


def failed(rule: str, reason: str) -> NoReturn:
    """Ends the program: a rule does not hold."""
    sys.exit(f"FAILED: {rule}: {reason}")


def check(rule: str, holds: bool, seen: Any) -> None:
    """Expects `holds`; what was `seen` explains a failure."""
    if not holds:
        failed(rule, f"saw {seen!r}")
    passed(rule)


def check_equal(rule: str, seen: Any, expected: Any) -> None:
    """Expects what was seen to equal what was expected."""
    if seen != expected:
        failed(rule, f"expected {expected!r}, saw {seen!r}")
    passed(rule)


def check_fields(rule: str, seen: dict[str, Any], expected: dict[str, Any]) -> None:
    """Expects these fields, whatever others there are."""
    wrong = [
        f"{name}: expected {value!r}, saw {seen.get(name, 'nothing')!r}"
        for name, value in expected.items()
        if name not in seen or seen[name] != value
    ]
    if wrong:
        failed(rule, "; ".join(wrong))
    passed(rule)


def check_refused(rule: str, refusal: type[Refusal], call: Callable[[], Any], text: str = "") -> Refusal:
    """Expects `call` to raise exactly this kind of refusal, with `text` somewhere in its message."""
    try:
        answer = call()
    except Exception as error:  # pylint: disable=broad-exception-caught
        if type(error) is not refusal or text not in str(error):
            failed(rule, f"expected {refusal.__name__} with {text!r}, saw {type(error).__name__}: {error}")
        passed(rule)
        return error
    failed(rule, f"expected {refusal.__name__}, but it was answered: {answer!r}")
