"""bao agent: the auto-auth daemon logs in with method `jwt`, writes its sinks, renews, and logs in anew at the end."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import bao
from bao import Bao
from checks import check, check_equal, failed, passed
from environment import Environment

MOUNT = "gcp"
#: TTL of the daemon's token in seconds: short, so that it has to be renewed while we watch.
TOKEN_TTL = 30
#: How long a token can be renewed, in seconds: so that a new login is needed while we watch.
TOKEN_MAX_TTL = 70
#: How long a login or a renewal is waited for, in seconds.
PATIENCE = 120

Seen = TypeVar("Seen")


def wait_for(rule: str, look: Callable[[], Seen | None], agent: subprocess.Popen[bytes], log: Path) -> Seen:
    """Looks again and again until there is something to see, the daemon has died or patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and agent.poll() is None:
        seen = look()
        if seen is not None:
            passed(rule)
            return seen
        time.sleep(0.1)
    ending = "still running" if agent.poll() is None else f"exit code {agent.returncode}"
    failed(rule, f"not within {PATIENCE} s; the daemon ({ending}) says:\n{log.read_text(encoding='utf-8')}")


def prepare(root: Bao, environment: Environment) -> None:
    """Makes sure that the mount exists, and gives it config and role."""
    if f"{MOUNT}/" not in root.json("auth list"):
        root.succeed("auth", "enable", MOUNT)
    endpoints = [f"custom_endpoint={name}={url}" for name, url in environment.custom_endpoint.items()]
    root.succeed("write", f"auth/{MOUNT}/config", f"credentials=@{environment.credentials_file}", *endpoints)
    root.succeed(
        *("write", f"auth/{MOUNT}/role/{environment.role}", "type=iam"),
        *(f"bound_service_accounts={environment.service_account}", f"token_ttl={TOKEN_TTL}s"),
        f"token_max_ttl={TOKEN_MAX_TTL}s",
    )


def settings(environment: Environment, folder: Path, wrapped_login: bool) -> dict[str, Any]:
    """The daemon's configuration file."""
    method: dict[str, Any] = {
        "type": "jwt",
        "mount_path": f"auth/{MOUNT}",
        "config": {"path": str(folder / "jwt"), "role": environment.role, "remove_jwt_after_reading": False},
    }
    sinks: list[dict[str, Any]] = [{"type": "file", "config": {"path": str(folder / "sink")}}]
    if wrapped_login:
        method["wrap_ttl"] = "5m"
    else:
        sinks.append({"type": "file", "wrap_ttl": "5m", "config": {"path": str(folder / "wrapped-sink")}})
    return {"vault": {"address": environment.address}, "auto_auth": {"method": [method], "sink": sinks}}


@contextmanager
def running_agent(
    environment: Environment, folder: Path, wrapped_login: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon, for as long as the block runs."""
    jwt, configuration = folder / "jwt", folder / "agent.json"
    jwt.write_text(environment.jwt, encoding="utf-8")
    configuration.write_text(json.dumps(settings(environment, folder, wrapped_login)), encoding="utf-8")
    with open(folder / "log", "wb") as log:
        agent = subprocess.Popen(
            [bao.binary(), "agent", f"-config={configuration}"],
            env=bao.environment_of(environment.address, token=None, home=str(folder)),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield agent
        finally:
            agent.terminate()
            try:
                agent.wait(timeout=10)
            except subprocess.TimeoutExpired:
                agent.kill()
                agent.wait()


def watch(environment: Environment, folder: Path) -> None:
    """Sees the daemon through its login and through a renewal that carries it past the first TTL."""
    sink, log = folder / "sink", folder / "log"
    with running_agent(environment, folder) as agent:
        token = wait_for(
            "bao agent: the token reaches the sink",
            lambda: (sink.exists() and sink.read_text(encoding="utf-8").strip()) or None,
            agent,
            log,
        )
        workload = Bao(environment.address, token)

        def look_up() -> dict[str, Any] | None:
            outcome = workload.run("token", "lookup", "-format=json")
            return json.loads(outcome.stdout)["data"] if outcome.returncode == 0 else None

        first = wait_for("bao agent: the token is alive", look_up, agent, log)
        check_equal("bao agent: it came from the mount", first["path"], f"auth/{MOUNT}/login")
        check_equal("bao agent: it has the role's TTL", first["creation_ttl"], TOKEN_TTL)

        def outlived() -> dict[str, Any] | None:
            token = look_up()
            age = time.time() - first["creation_time"]
            return token if token is not None and age > TOKEN_TTL + 1 else None

        last = wait_for("bao agent: the token outlives its first TTL", outlived, agent, log)
        check("bao agent: it was renewed", last["last_renewal_time"] > last["creation_time"], last)
        check("bao agent: its end has moved", last["expire_time"] > first["expire_time"], last)
        check_equal("bao agent: the sink still holds it", sink.read_text(encoding="utf-8").strip(), token)
        check_wrapped(environment, folder / "wrapped-sink", token)

        def another_token() -> str | None:
            written = sink.read_text(encoding="utf-8").strip()
            return written if written not in ("", token) else None

        fresh = wait_for("bao agent: at the end of the token's life it logs in anew", another_token, agent, log)
        outcome = Bao(environment.address, fresh).json("token lookup")["data"]
        check_equal("bao agent: the new token came from the mount too", outcome["path"], f"auth/{MOUNT}/login")


def check_wrapped(environment: Environment, sink: Path, token: str) -> None:
    """Opens what the daemon left in a wrapped sink; it opens once."""
    wrapped = json.loads(sink.read_text(encoding="utf-8"))
    wrapping = Bao(environment.address, wrapped["token"])
    opened = wrapping.json("unwrap")["data"]
    check_equal("bao agent: the wrapped sink holds the same token", opened["token"], token)
    wrapping.refuse("bao agent: it opens once", "unwrap", text="wrapping token is not valid or does not exist")


def watch_wrapped_login(environment: Environment, folder: Path) -> None:
    """Sees a daemon that never learns its own token: the login itself is wrapped."""
    sink, log = folder / "sink", folder / "log"
    with running_agent(environment, folder, wrapped_login=True) as agent:
        written = wait_for(
            "bao agent: a wrapped login reaches the sink",
            lambda: (sink.exists() and sink.read_text(encoding="utf-8").strip()) or None,
            agent,
            log,
        )
        wrapped = json.loads(written)
        check_equal("bao agent: it was made by the login", wrapped["creation_path"], f"auth/{MOUNT}/login")
        opened = Bao(environment.address, wrapped["token"]).json("unwrap")
        auth = opened["auth"]
        check_equal("bao agent: what is inside is the login's token", auth["accessor"], wrapped["wrapped_accessor"])
        Bao(environment.address, auth["client_token"]).succeed("token", "lookup")


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    prepare(Bao(environment.address, environment.root_token), environment)
    with tempfile.TemporaryDirectory() as folder:
        watch(environment, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        watch_wrapped_login(environment, Path(folder))


if __name__ == "__main__":
    main()
