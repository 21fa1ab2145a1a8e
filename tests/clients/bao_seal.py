"""bao: the first start of a server whose key is in shares, unsealing it, and sealing it again."""

from typing import Any

from bao import Bao
from checks import check, check_equal, check_fields, failed
from environment import server_address

SHARES = 5
THRESHOLD = 3

#: How `bao status` and `bao operator init -status` end when the server is sealed, or not initialized.
NOT_YET = 2


def status(anybody: Bao) -> dict[str, Any]:
    """The output of `bao status`, whose exit code is that of the state."""
    outcome = anybody.run("status", "-format=json")
    if outcome.returncode not in (0, NOT_YET):
        failed("bao status", outcome.stderr)
    seen = anybody.parsed(outcome)
    check_equal("bao status: the exit code says whether it is sealed", outcome.returncode == NOT_YET, seen["sealed"])
    return seen


def initialize(anybody: Bao) -> dict[str, Any]:
    """The first start, which works once."""
    check_fields("bao status: a new server", status(anybody), {"initialized": False, "sealed": True})
    check_equal("bao operator init -status: not yet", anybody.run("operator", "init", "-status").returncode, NOT_YET)
    anybody.refuse(
        "bao operator init: one of two shares would be the key",
        *("operator", "init", "-key-shares=2", "-key-threshold=1"),
        text="threshold must be greater than one for multiple shares",
    )
    numbers = (f"-key-shares={SHARES}", f"-key-threshold={THRESHOLD}")
    made = anybody.json("operator init", *numbers)
    keys = made["unseal_keys_b64"]
    check_equal("bao operator init: as many shares as asked for", len(set(keys)), SHARES)
    check_fields("bao operator init: and its numbers", made, {"unseal_shares": SHARES, "unseal_threshold": THRESHOLD})
    anybody.succeed("operator", "init", "-status")
    again = "Vault is already initialized"
    anybody.refuse("bao operator init: works once", "operator", "init", *numbers, text=again)
    expected = {"type": "shamir", "initialized": True, "sealed": True, "t": THRESHOLD, "n": SHARES, "progress": 0}
    check_fields("bao status: sealed after the first start", status(anybody), expected)
    return made


def give(anybody: Bao, key: str) -> dict[str, Any]:
    """Gives one share."""
    return anybody.json("operator unseal", key)


def unseal(anybody: Bao, keys: list[str]) -> None:
    """Gives shares until the server is open."""
    for progress, key in enumerate(keys[: THRESHOLD - 1], start=1):
        check_fields("bao operator unseal: progress", give(anybody, key), {"sealed": True, "progress": progress})
    check_fields("bao operator unseal: open", give(anybody, keys[THRESHOLD - 1]), {"sealed": False, "progress": 0})


def check_attempts(anybody: Bao, keys: list[str]) -> None:
    """Faults while shares are given, few enough that this address may still give the right ones."""
    first = give(anybody, keys[0])
    check("bao operator unseal: an attempt has a nonce", len(first["nonce"]) == 36, first)
    short = "key is shorter than minimum 16 bytes"
    anybody.refuse("bao operator unseal: too short", "operator", "unseal", "abcd", text=short)
    check_equal("bao operator unseal: which changes nothing", status(anybody)["progress"], 1)
    give(anybody, keys[1])
    anybody.refuse("bao operator unseal: a wrong share", "operator", "unseal", "ab" * 33, text="invalid key")
    check_equal("bao operator unseal: which takes no other away", status(anybody)["progress"], THRESHOLD - 1)
    reset = anybody.json("operator unseal", "-reset")
    check_fields("bao operator unseal -reset", reset, {"progress": 0, "nonce": ""})


def check_keys(root: Bao, anybody: Bao) -> None:
    """The key that seals what is stored."""
    before = root.json("read", "sys/key-status")["data"]
    check_equal("bao operator key-status: the first key", before["term"], 1)
    anybody.refuse("bao operator rotate: not for everybody", "write", "-f", "sys/rotate", text="permission denied")
    root.succeed("write", "-f", "sys/rotate")
    check_equal("bao read sys/key-status: another key", root.json("read", "sys/key-status")["data"]["term"], 2)
    root.succeed("write", "sys/rotate/config", "interval=25h")
    config = root.json("read", "sys/rotate/config")["data"]
    check_fields("bao read sys/rotate/config", config, {"interval": "25h0m0s", "enabled": True})
    check_fields("bao token lookup: what is stored stays readable", root.json("token lookup")["data"], {"ttl": 0})


def generate_root(anybody: Bao, keys: list[str]) -> str:
    """A root token by shares alone."""
    begun = anybody.json("operator generate-root", "-init")
    again = anybody.run("operator", "generate-root", "-init")
    check("bao operator generate-root: one at a time", again.returncode != 0, again.stdout)
    nonce = f"-nonce={begun['nonce']}"
    done: dict[str, Any] = {}
    for key in keys[:THRESHOLD]:
        done = anybody.json("operator generate-root", nonce, key)
    check_fields("bao operator generate-root: enough shares", done, {"complete": True})
    decode = f"-decode={done['encoded_token']}"
    decoded = anybody.succeed("operator", "generate-root", decode, f"-otp={begun['otp']}")
    return decoded.strip()


def rekey(root: Bao, keys: list[str]) -> list[str]:
    """New shares in the place of the old ones."""
    numbers = ("secret_shares=3", "secret_threshold=2")
    begun = root.json("write", "sys/rotate/root/init", *numbers)["data"]
    made: dict[str, Any] = {}
    for key in keys[:THRESHOLD]:
        made = root.json("write", "sys/rotate/root/update", f"key={key}", f"nonce={begun['nonce']}")["data"]
    check_fields("bao write sys/rotate/root/update: new shares", made, {"complete": True})
    return list(made["keys_base64"])


def main() -> None:
    """Runs all checks."""
    anybody = Bao(server_address(), token=None)
    made = initialize(anybody)
    root = Bao(server_address(), made["root_token"])
    root.refuse("bao token lookup: sealed", "token", "lookup", text="Vault is sealed")
    check_attempts(anybody, made["unseal_keys_b64"])
    unseal(anybody, made["unseal_keys_b64"])
    check_fields("bao token lookup: the root token", root.json("token lookup")["data"], {"policies": ["root"]})

    anybody.refuse("bao operator seal: not for everybody", "operator", "seal", text="permission denied")
    root.succeed("operator", "seal")
    check_fields("bao status: sealed by the operator", status(anybody), {"initialized": True, "sealed": True})
    unseal(anybody, list(reversed(made["unseal_keys_hex"])))
    check_fields("bao status: open again", status(anybody), {"initialized": True, "sealed": False})

    check_keys(root, anybody)
    another = Bao(server_address(), generate_root(anybody, made["unseal_keys_b64"]))
    check_fields("bao token lookup: the new root token", another.json("token lookup")["data"], {"policies": ["root"]})
    new = rekey(another, made["unseal_keys_b64"])
    another.succeed("operator", "seal")
    give(anybody, new[0])
    check_fields("bao operator unseal: the new shares", give(anybody, new[2]), {"sealed": False})


if __name__ == "__main__":
    main()
