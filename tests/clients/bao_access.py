"""bao: the commands for tokens, token roles, policies, mounts, leases and wrapped answers."""

import json
import tempfile
from pathlib import Path

from bao import Bao
from checks import check, check_equal, check_fields
from environment import Environment

METHOD = "gcp"
MOUNT = "bao-access"
MOVED = "moved-by-bao"
POLICY = "bao-access"
POLICY_TEXT = 'path "auth/token/create" {\n  capabilities = ["update"]\n}\n'


def check_status(root: Bao) -> None:
    """The server and its help."""
    check_fields("bao status", root.json("status"), {"initialized": True, "sealed": False})
    check("bao path-help", root.succeed("path-help", "sys/auth").strip() != "", None)
    root.succeed("token", "lookup")
    check("bao list", "default" in root.json("list", "sys/policies/acl"), None)


def check_policies(root: Bao) -> None:
    """policy fmt, write, read, list, delete."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.hcl")
        path.write_text(POLICY_TEXT.replace("  ", "\t"), encoding="utf-8")
        root.succeed("policy", "fmt", str(path))
        check_equal("bao policy fmt: spaces", path.read_text(encoding="utf-8").strip(), POLICY_TEXT.strip())
        root.succeed("policy", "write", POLICY, str(path))
    check_equal("bao policy read", root.succeed("policy", "read", POLICY).strip(), POLICY_TEXT.strip())
    check("bao policy list", POLICY in root.json("policy list"), None)
    root.refuse("bao policy write: nonsense", "write", "sys/policies/acl/x", "policy=nonsense = 1", text="failed to parse policy")


def check_tokens(root: Bao) -> None:
    """token create with all its flags, lookup, renew, capabilities, revoke."""
    auth = root.json(
        "token create",
        f"-policy={POLICY}",
        "-ttl=1h",
        "-explicit-max-ttl=2h",
        "-display-name=bao",
        "-metadata=team=a",
        "-metadata=stage=test",
        "-renewable=true",
        "-type=service",
    )["auth"]
    token, accessor = auth["client_token"], auth["accessor"]
    shown = root.json("token lookup", token)["data"]
    check_fields(
        "bao token create: policies, TTLs, name, metadata",
        shown,
        {
            "policies": [POLICY, "default"],
            "explicit_max_ttl": 7200,
            "display_name": "token-bao",
            "meta": {"team": "a", "stage": "test"},
            "orphan": False,
        },
    )
    check_fields("bao token lookup -accessor", root.json("token lookup", "-accessor", accessor)["data"], {"id": ""})
    own = Bao(root.address, token)
    check_equal("bao token capabilities: one's own", own.succeed("token", "capabilities", "auth/token/create").strip(), "update")
    seen = root.succeed("token", "capabilities", token, "auth/token/create").strip()
    check_equal("bao token capabilities: another's", seen, "update")
    check_equal("bao token renew", own.json("token renew", "-increment=30m")["auth"]["lease_duration"], 1800)
    renewed = root.json("token renew", "-increment=20m", token)["auth"]
    check_equal("bao token renew: another's", renewed["lease_duration"], 1200)
    renewed = root.json("token renew", "-increment=15m", "-accessor", accessor)["auth"]
    check_equal("bao token renew -accessor", renewed["lease_duration"], 900)

    orphan = root.json("token create", "-orphan", "-no-default-policy", f"-policy={POLICY}", "-use-limit=7", "-period=1h")["auth"]
    check_fields("bao token create: -orphan, -no-default-policy", orphan, {"orphan": True, "token_policies": [POLICY]})
    shown = root.json("token lookup", orphan["client_token"])["data"]
    check_fields("bao token create: -use-limit, -period", shown, {"num_uses": 7, "period": 3600})
    chosen = root.json("token create", "-id=bao-has-chosen-this", f"-policy={POLICY}", "-ttl=5m")["auth"]
    check_equal("bao token create: -id", chosen["client_token"], "bao-has-chosen-this")
    wrapped = root.json("token create", "-wrap-ttl=1m", f"-policy={POLICY}", "-ttl=5m")["wrap_info"]
    inside = root.json("unwrap", wrapped["token"])["auth"]
    check_equal("bao unwrap: the token", inside["accessor"], wrapped["wrapped_accessor"])
    batch = root.json("token create", "-type=batch", f"-policy={POLICY}", "-ttl=5m")["auth"]
    shown = root.json("token lookup", batch["client_token"])["data"]
    check_fields("bao token create: -type=batch", shown, {"type": "batch", "renewable": False, "accessor": ""})

    child = own.json("token create", "-ttl=5m")["auth"]["client_token"]
    root.succeed("token", "revoke", "-mode=orphan", token)
    check_fields("bao token revoke -mode=orphan: the child is left", root.json("token lookup", child)["data"], {"orphan": True})
    root.succeed("token", "revoke", child)
    root.succeed("token", "revoke", "-accessor", orphan["accessor"])
    Bao(root.address, inside["client_token"]).succeed("token", "revoke", "-self")
    root.succeed("token", "revoke", chosen["client_token"])
    for gone in (token, child, orphan["client_token"], inside["client_token"], chosen["client_token"]):
        root.refuse("bao token revoke: it is gone", "token", "lookup", gone, text="bad token")
    check("bao list: accessors", accessor not in root.json("list", "auth/token/accessors"), accessor)


def check_token_roles(root: Bao) -> None:
    """Token roles, and tokens of a role."""
    place = "auth/token/roles/bao"
    root.succeed("write", place, f"allowed_policies={POLICY}", "orphan=true", "token_period=1h", "path_suffix=suffix")
    expected = {"allowed_policies": [POLICY], "orphan": True, "token_period": 3600, "path_suffix": "suffix"}
    check_fields("bao read: the role", root.json("read", place)["data"], expected)
    check("bao list: roles", "bao" in root.json("list", "auth/token/roles"), None)
    auth = root.json("token create", "-role=bao")["auth"]
    shown = root.json("token lookup", auth["client_token"])["data"]
    check_fields("bao token create: -role", shown, {"role": "bao", "path": "auth/token/create/bao/suffix"})
    root.succeed("token", "revoke", auth["client_token"])
    root.succeed("delete", place)
    root.refuse("bao delete: the role is gone", "read", place, text="No value found")


def check_mounts(root: Bao) -> None:
    """auth enable, list, tune, move, disable."""
    root.succeed("auth", "enable", f"-path={MOUNT}", "-description=for bao", "-default-lease-ttl=1h", METHOD)
    root.succeed("auth", "list", "-detailed")
    check_fields("bao auth list", root.json("auth list")[f"{MOUNT}/"], {"type": METHOD, "description": "for bao"})
    root.succeed(
        *("auth", "tune", "-default-lease-ttl=30m", "-max-lease-ttl=2h", "-description=tuned", "-token-type=batch"),
        *("-listing-visibility=unauth", "-audit-non-hmac-request-keys=role", "-passthrough-request-headers=X-Trace", MOUNT),
    )
    tuned = root.json("read", f"sys/auth/{MOUNT}/tune")["data"]
    expected = {
        "default_lease_ttl": 1800,
        "max_lease_ttl": 7200,
        "description": "tuned",
        "token_type": "batch",
        "listing_visibility": "unauth",
        "audit_non_hmac_request_keys": ["role"],
        "passthrough_request_headers": ["X-Trace"],
    }
    check_fields("bao auth tune", tuned, expected)
    root.succeed("auth", "move", f"auth/{MOUNT}", f"auth/{MOVED}")
    mounts = root.json("auth list")
    check("bao auth move", f"{MOVED}/" in mounts and f"{MOUNT}/" not in mounts, sorted(mounts))
    root.succeed("auth", "disable", MOVED)
    check("bao auth disable", f"{MOVED}/" not in root.json("auth list"), None)


def check_leases(root: Bao) -> None:
    """The lease commands, for leases that do not exist and for whole prefixes."""
    root.refuse("bao lease lookup", "lease", "lookup", "none", text="invalid lease")
    root.refuse("bao lease renew", "lease", "renew", "none", text="lease not found")
    root.succeed("lease", "revoke", "none")
    root.succeed("lease", "revoke", "-prefix", "auth/none/login")
    root.succeed("lease", "revoke", "-force", "-prefix", "auth/none/login")


def check_wrapping(root: Bao) -> None:
    """Whatever is asked for can be wrapped."""
    wrapped = json.loads(root.succeed("read", "-format=json", "-wrap-ttl=1m", f"sys/policies/acl/{POLICY}"))["wrap_info"]
    looked = root.json("write", "sys/wrapping/lookup", f"token={wrapped['token']}")["data"]
    check_fields("bao write: lookup", looked, {"creation_ttl": 60, "creation_path": f"sys/policies/acl/{POLICY}"})
    again = root.json("write", "sys/wrapping/rewrap", f"token={wrapped['token']}")["wrap_info"]
    check_fields("bao unwrap: rewrapped", root.json("unwrap", again["token"])["data"], {"name": POLICY})
    root.refuse("bao unwrap: once only", "unwrap", again["token"], text="wrapping token is not valid")


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = Bao(environment.address, environment.root_token)
    check_status(root)
    check_policies(root)
    check_tokens(root)
    check_token_roles(root)
    check_mounts(root)
    check_leases(root)
    check_wrapping(root)
    root.succeed("policy", "delete", POLICY)
    root.refuse("bao policy delete", "policy", "read", POLICY, text="No policy named")


if __name__ == "__main__":
    main()
