"""hvac: the methods of its `sys` class that concern mounts, policies, wrapping, capabilities, leases and status."""

import json

import hvac
from hvac.exceptions import InvalidPath, InvalidRequest

from checks import check, check_equal, check_fields, check_refused
from environment import Environment

METHOD = "gcp"
MOUNT = "hvac-sys"
MOVED = "moved-by-hvac"
POLICY = "hvac-sys"
POLICY_TEXT = 'path "sys/auth" {\n  capabilities = ["read"]\n}\n'


def check_status(root: hvac.Client) -> None:
    """Health, seal status, leader and initialization."""
    anonymous = hvac.Client(url=root.url)
    check_equal("is_initialized", anonymous.sys.is_initialized(), True)
    check_equal("read_init_status", anonymous.sys.read_init_status(), {"initialized": True})
    check_equal("is_sealed", anonymous.sys.is_sealed(), False)
    check_fields("read_seal_status", anonymous.sys.read_seal_status(), {"sealed": False, "progress": 0})
    check("read_leader_status", "ha_enabled" in anonymous.sys.read_leader_status(), None)
    check_fields("read_health_status", anonymous.sys.read_health_status(method="GET"), {"standby": False})
    code = anonymous.sys.read_health_status(active_code=299, method="GET").status_code
    check_equal("read_health_status: a status of one's own", code, 299)


def check_policies(root: hvac.Client) -> None:
    """The methods of both paths of policies."""
    root.sys.create_or_update_acl_policy(POLICY, POLICY_TEXT)
    check_fields("read_acl_policy", root.sys.read_acl_policy(POLICY)["data"], {"name": POLICY, "policy": POLICY_TEXT})
    check("list_acl_policies", POLICY in root.sys.list_acl_policies()["data"]["keys"], POLICY)
    as_json = {"path": {"sys/policy": {"capabilities": ["read"]}}}
    root.sys.create_or_update_policy("hvac-sys-old", as_json)
    rules = root.sys.read_policy("hvac-sys-old")["data"]["rules"]
    check_equal("read_policy: what create_or_update_policy wrote", json.loads(rules), as_json)
    check("list_policies", "hvac-sys-old" in root.sys.list_policies()["data"]["policies"], None)
    root.sys.delete_policy("hvac-sys-old")
    check_refused("delete_policy: it is gone", InvalidPath, lambda: root.sys.read_policy("hvac-sys-old"))


def check_capabilities(root: hvac.Client) -> None:
    """get_capabilities of one's own token, of another one, and by accessor."""
    auth = root.auth.token.create(policies=[POLICY], ttl="5m")["auth"]
    own = hvac.Client(url=root.url, token=auth["client_token"])
    for rule, answer in (
        ("one's own", own.sys.get_capabilities(["sys/auth"])),
        ("another's", root.sys.get_capabilities(["sys/auth"], token=auth["client_token"])),
        ("by accessor", root.sys.get_capabilities(["sys/auth"], accessor=auth["accessor"])),
    ):
        check_equal(f"get_capabilities: {rule}", answer["data"]["sys/auth"], ["read"])
    both = own.sys.get_capabilities(["sys/auth", "sys/nothing"])["data"]
    check_fields("get_capabilities: of several paths", both, {"sys/auth": ["read"], "sys/nothing": ["deny"]})
    root.auth.token.revoke(auth["client_token"])


def check_mounts(root: hvac.Client) -> None:
    """enable, list, tune, move and disable a method."""
    root.sys.enable_auth_method(METHOD, path=MOUNT, description="for hvac", config={"default_lease_ttl": "1h"})
    mount = root.sys.list_auth_methods()["data"][f"{MOUNT}/"]
    check_fields("list_auth_methods", mount, {"type": METHOD, "description": "for hvac"})
    check_equal("enable_auth_method: its config", mount["config"]["default_lease_ttl"], 3600)
    root.sys.tune_auth_method(
        MOUNT,
        default_lease_ttl="30m",
        max_lease_ttl="2h",
        description="tuned",
        audit_non_hmac_request_keys=["role"],
        audit_non_hmac_response_keys=["x"],
        listing_visibility="unauth",
        passthrough_request_headers=["X-Trace"],
    )
    expected = {
        "default_lease_ttl": 1800,
        "max_lease_ttl": 7200,
        "description": "tuned",
        "audit_non_hmac_request_keys": ["role"],
        "listing_visibility": "unauth",
        "passthrough_request_headers": ["X-Trace"],
    }
    check_fields("read_auth_method_tuning", root.sys.read_auth_method_tuning(MOUNT)["data"], expected)
    check_fields("read_mount_configuration", root.sys.read_mount_configuration(f"auth/{MOUNT}")["data"], expected)
    root.sys.tune_mount_configuration(f"auth/{MOUNT}", default_lease_ttl="20m")
    tuned = root.sys.read_auth_method_tuning(MOUNT)["data"]
    check_fields("tune_mount_configuration: and nothing else", tuned, {**expected, "default_lease_ttl": 1200})

    moved = root.sys.move_backend(f"auth/{MOUNT}", f"auth/{MOVED}")
    check("move_backend: it says which migration it is", "migration_id" in moved["data"], moved)
    check("move_backend: it is there", f"{MOVED}/" in root.sys.list_auth_methods()["data"], None)
    check("move_backend: and not here", f"{MOUNT}/" not in root.sys.list_auth_methods()["data"], None)
    root.sys.disable_auth_method(MOVED)
    check("disable_auth_method", f"{MOVED}/" not in root.sys.list_auth_methods()["data"], None)


def check_leases(root: hvac.Client) -> None:
    """The lease methods, for leases that do not exist and for whole prefixes."""
    check_refused("read_lease: no such lease", InvalidRequest, lambda: root.sys.read_lease("none"), "invalid lease")
    check_refused("renew_lease: no such lease", InvalidRequest, lambda: root.sys.renew_lease("none"), "lease not found")
    check_equal("revoke_lease: nothing to do", root.sys.revoke_lease("none").status_code, 204)
    check_refused("list_leases: none", InvalidPath, lambda: root.sys.list_leases("auth/none/login"))
    check_equal("revoke_prefix: nothing to do", root.sys.revoke_prefix("auth/none/login").status_code, 204)
    check_equal("revoke_force: nothing to do", root.sys.revoke_force("auth/none/login").status_code, 204)


def check_wrapping(root: hvac.Client) -> None:
    """wrap and unwrap."""
    payload = {"a": "b", "n": 7}
    token = root.sys.wrap(payload=payload, ttl=60)["wrap_info"]["token"]
    check_equal("unwrap: what wrap took", root.sys.unwrap(token)["data"], payload)
    check_refused("unwrap: once only", InvalidRequest, lambda: root.sys.unwrap(token), "wrapping token is not valid")
    token = root.sys.wrap(payload=payload, ttl=60)["wrap_info"]["token"]
    check_equal("unwrap: by the token itself", hvac.Client(url=root.url, token=token).sys.unwrap()["data"], payload)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = hvac.Client(url=environment.address, token=environment.root_token)
    check_status(root)
    check_policies(root)
    check_capabilities(root)
    check_wrapping(root)
    check_mounts(root)
    check_leases(root)
    root.sys.delete_acl_policy(POLICY)


if __name__ == "__main__":
    main()
