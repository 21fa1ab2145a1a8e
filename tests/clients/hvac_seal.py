"""hvac: the first start of a server whose key is in shares, unsealing it, and sealing it again."""

import base64
from typing import Any

import hvac
from checks import check_equal, check_fields, check_refused
from environment import server_address

SHARES = 4
THRESHOLD = 2


def check_keys(root: hvac.Client) -> None:
    """The key that seals what is stored."""
    check_fields("get_encryption_key_status", root.sys.get_encryption_key_status(), {"term": 1})
    check_equal("rotate_encryption_key", root.sys.rotate_encryption_key().status_code, 204)
    status = root.sys.get_encryption_key_status()
    check_fields("get_encryption_key_status: another key", status["data"], {"term": 2})
    check_equal("is_authenticated: what is stored stays readable", root.is_authenticated(), True)


def revealed(encoded: str, otp: str) -> str:
    """The token that a one-time password hides."""
    padded = encoded + "=" * (-len(encoded) % 4)
    hidden = base64.b64decode(padded)
    return bytes(byte ^ pad for byte, pad in zip(hidden, otp.encode(), strict=True)).decode()


def check_root_generation(system: Any, keys: list[str]) -> None:
    """A root token by shares alone."""
    check_fields("read_root_generation_progress", system.read_root_generation_progress(), {"started": False})
    begun = system.start_root_token_generation()
    check_equal("cancel_root_generation", system.cancel_root_generation().status_code, 204)
    begun = system.start_root_token_generation(otp="x" * begun["otp_length"])
    check_fields("start_root_token_generation", begun, {"started": True, "required": THRESHOLD, "otp": ""})
    check_fields("generate_root: progress", system.generate_root(keys[0], begun["nonce"]), {"progress": 1})
    refused = hvac.exceptions.InvalidRequest
    again = "has already been provided"
    check_refused("generate_root: twice", refused, lambda: system.generate_root(keys[0], begun["nonce"]), text=again)
    done = system.generate_root(keys[1], begun["nonce"])
    check_fields("generate_root: enough shares", done, {"complete": True})
    token = revealed(done["encoded_root_token"], "x" * begun["otp_length"])
    root = hvac.Client(url=server_address(), token=token)
    check_fields("lookup_self: the new root token", root.auth.token.lookup_self()["data"], {"policies": ["root"]})
    root.auth.token.revoke_self()


def rekey(system: Any, keys: list[str]) -> list[str]:
    """New shares in the place of the old ones, verified."""
    check_fields("read_rekey_progress", system.read_rekey_progress(), {"started": False, "required": THRESHOLD})
    begun = system.start_rekey(secret_shares=3, secret_threshold=2, require_verification=True)
    check_fields("start_rekey", begun, {"started": True, "t": 2, "n": 3, "verification_required": True})
    made = system.rekey_multi(keys[:THRESHOLD], nonce=begun["nonce"])
    check_fields("rekey_multi", made, {"complete": True, "verification_required": True})
    check_fields("read_rekey_verify_progress", system.read_rekey_verify_progress(), {"started": True, "progress": 0})
    new: list[str] = made["keys_base64"]
    done = system.rekey_verify_multi(new[1:], nonce=made["verification_nonce"])
    check_fields("rekey_verify_multi", done, {"complete": True})
    return new


def main() -> None:
    """Runs all checks."""
    anybody = hvac.Client(url=server_address())
    system = anybody.sys
    check_equal("a new server is not initialized", system.is_initialized(), False)
    check_equal("read_health_status: 501", system.read_health_status().status_code, 501)
    made = system.initialize(SHARES, THRESHOLD)
    check_equal("initialize: as many shares as asked for", len(set(made["keys_base64"])), SHARES)
    check_equal("is_initialized", system.is_initialized(), True)
    already = "Vault is already initialized"
    check_refused(
        "initialize: works once", hvac.exceptions.InvalidRequest, lambda: system.initialize(1, 1), text=already
    )
    check_equal("is_sealed", system.is_sealed(), True)
    check_equal("read_health_status: 503", system.read_health_status().status_code, 503)

    root = hvac.Client(url=server_address(), token=made["root_token"])
    check_refused("sealed", hvac.exceptions.VaultDown, root.auth.token.lookup_self, text="Vault is sealed")
    one = system.submit_unseal_key(made["keys"][0])
    check_fields("submit_unseal_key", one, {"sealed": True, "progress": 1, "t": THRESHOLD, "n": SHARES})
    check_fields("submit_unseal_key: reset", system.submit_unseal_key(reset=True), {"progress": 0})
    check_fields("submit_unseal_keys", system.submit_unseal_keys(made["keys_base64"][2:]), {"sealed": False})
    check_equal("read_health_status: 200", system.read_health_status().status_code, 200)
    check_fields("lookup_self", root.auth.token.lookup_self()["data"], {"policies": ["root"]})

    check_refused("seal: not for everybody", hvac.exceptions.Forbidden, anybody.sys.seal)
    root.sys.seal()
    check_fields("read_seal_status", system.read_seal_status(), {"type": "shamir", "sealed": True, "progress": 0})
    check_fields("submit_unseal_keys: again", system.submit_unseal_keys(made["keys"][:2]), {"sealed": False})
    check_equal("is_authenticated", root.is_authenticated(), True)

    check_keys(root)
    check_root_generation(system, made["keys"])
    new = rekey(system, made["keys_base64"])
    root.sys.seal()
    check_fields("submit_unseal_keys: the new shares", system.submit_unseal_keys(new[:2]), {"sealed": False})


if __name__ == "__main__":
    main()
