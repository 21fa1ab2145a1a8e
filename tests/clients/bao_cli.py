"""bao: the command line from the first mount to the last revocation."""

import tempfile
from pathlib import Path

from bao import Bao
from checks import check, check_equal, check_fields
from environment import Environment

MOUNT = "bao-gcp"
POLICY = "bao-reader"
TOKEN_POLICIES = [POLICY, "default"]
POLICY_TEXT = f'path "auth/{MOUNT}/role/*" {{\n  capabilities = ["read", "list"]\n}}\n'


def check_status(root: Bao) -> None:
    """The server as an operator first looks at it."""
    status = root.json("status")
    check_fields("bao status: unsealed", status, {"initialized": True, "sealed": False})
    root.succeed("status")
    mounts = root.json("auth list")
    check_fields("bao auth list: the token store is there", mounts["token/"], {"type": "token"})
    root.succeed("auth", "list", "-detailed")


def check_policies(root: Bao) -> None:
    """Policies from standard input and from files."""
    root.succeed("policy", "write", POLICY, "-", stdin=POLICY_TEXT)
    check_equal("bao policy read: as written", root.succeed("policy", "read", POLICY), POLICY_TEXT)
    names = root.json("policy list")
    check("bao policy list: all of them", {POLICY, "default", "root"} <= set(names), names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "passing.hcl")
        path.write_text('# none\npath "auth/token/lookup-self" { capabilities = ["deny"] }\n', encoding="utf-8")
        root.succeed("policy", "write", "bao-passing", str(path))
    root.succeed("policy", "delete", "bao-passing")
    root.refuse("bao policy delete: it is gone", "policy", "read", "bao-passing", text="No policy named")


def check_mount_and_role(root: Bao, environment: Environment) -> None:
    """The method on a path of its own, with config and role."""
    root.succeed("auth", "enable", f"-path={MOUNT}", "-description=for bao", "gcp")
    mount = root.json("auth list")[f"{MOUNT}/"]
    check_fields("bao auth enable: the mount is listed", mount, {"type": "gcp", "description": "for bao"})
    root.refuse(
        "bao auth enable: the path is taken",
        *("auth", "enable", f"-path={MOUNT}", "gcp"),
        text=f"path is already in use at {MOUNT}/",
    )

    root.succeed("auth", "tune", "-default-lease-ttl=1h", MOUNT)
    tuned = root.json("read", f"sys/auth/{MOUNT}/tune")["data"]
    check_fields("bao auth tune: the lease in force", tuned, {"default_lease_ttl": 3600})

    config = f"auth/{MOUNT}/config"
    endpoints = [f"custom_endpoint={name}={url}" for name, url in environment.custom_endpoint.items()]
    root.succeed("write", config, f"credentials=@{environment.credentials_file}", *endpoints)
    shown = root.json("read", config)["data"]
    check_equal("bao write config: endpoints are kept", shown["custom_endpoint"], environment.custom_endpoint)
    check("bao read config: no private key", "PRIVATE KEY" not in str(shown), shown)
    report = root.json("read", f"{config}/check")["data"]
    lacking = report["projects"][environment.project]["lacking"]
    check_equal("bao read config/check: the credentials lack nothing", lacking, [])

    role = f"auth/{MOUNT}/role/{environment.role}"
    root.succeed(
        *("write", role, "type=iam", f"bound_projects={environment.project}"),
        *(f"bound_service_accounts={environment.service_account}", f"token_policies={POLICY}", "token_ttl=10m"),
    )
    check_fields(
        "bao read role: as written",
        root.json("read", role)["data"],
        {
            "type": "iam",
            "bound_projects": [environment.project],
            "bound_service_accounts": [environment.service_account],
            "token_policies": [POLICY],
            "token_ttl": 600,
        },
    )
    check_equal("bao list roles: it is there", root.json("list", f"auth/{MOUNT}/roles"), [environment.role])
    root.refuse(
        "bao write role: an unknown field is refused",
        *("write", role, "bound_planets=mars"),
        text='unknown fields: ["bound_planets"]',
    )


def log_in(environment: Environment) -> Bao:
    """Logs in without a token, as a workload does."""
    anonymous = Bao(environment.address, token=None)
    login = ("write", f"auth/{MOUNT}/login", f"role={environment.role}")
    anonymous.refuse("bao write login: a JWT is needed", *login, text="jwt argument is required")
    auth = anonymous.json(*login, f"jwt={environment.jwt}")["auth"]
    check_fields(
        "bao write login: a token of the role",
        auth,
        {"lease_duration": 600, "renewable": True, "token_policies": TOKEN_POLICIES},
    )
    wrapped = anonymous.json("write", "-wrap-ttl=1m", *login[1:], f"jwt={environment.jwt}")["wrap_info"]
    inside = Bao(environment.address, wrapped["token"]).json("unwrap")["auth"]
    check_equal("bao unwrap: a wrapped login", inside["accessor"], wrapped["wrapped_accessor"])
    return Bao(environment.address, auth["client_token"])


def check_explanation(root: Bao, environment: Environment) -> None:
    """Why a login would go as it does."""
    explain = ("write", f"auth/{MOUNT}/login/explain", f"role={environment.role}")
    allowed = root.json(*explain, f"jwt={environment.jwt}")["data"]
    check_equal("bao write login/explain: it would be let in", allowed["allowed"], True)
    refused = root.json(*explain, f"jwt={environment.instance_jwt}")["data"]
    failed = [check["check"] for check in refused["checks"] if check["verdict"] == "failed"]
    check_equal("bao write login/explain: what stands in the way", failed, ["audience"])


def check_token(workload: Bao, environment: Environment) -> None:
    """The token's life from the command line."""
    token = workload.json("token lookup")["data"]
    display_name = f"{MOUNT}-{environment.service_account}"
    check_fields(
        "bao token lookup: who it is", token, {"display_name": display_name, "path": f"auth/{MOUNT}/login"}
    )
    role = f"auth/{MOUNT}/role/{environment.role}"
    check_equal("bao token capabilities: as the policy says", capabilities(workload, role), ["list", "read"])
    check_equal("bao token capabilities: denied by default", capabilities(workload, "sys/auth"), ["deny"])
    workload.succeed("read", role)
    workload.succeed("login", "-no-store", workload.token or "")
    workload.refuse("bao read config: denied", "read", f"auth/{MOUNT}/config", text="permission denied")

    renewed = workload.json("token renew")["auth"]
    check_equal("bao token renew: the role's TTL again", renewed["lease_duration"], 600)
    token = workload.json("token lookup")["data"]
    check("bao token renew: it shows", "last_renewal" in token, token)

    workload.succeed("token", "revoke", "-self")
    workload.refuse("bao token revoke -self: it is gone", "token", "lookup", text="permission denied")


def capabilities(bao: Bao, path: str) -> list[str]:
    """The capabilities of the token on a path, in alphabetical order."""
    return bao.succeed("token", "capabilities", path).strip().split(", ")


def check_child_tokens(root: Bao) -> None:
    """Tokens made from tokens."""
    created = root.json("token create", f"-policy={POLICY}", "-ttl=5m", "-display-name=child")["auth"]
    check_fields(
        "bao token create: policies and TTL as asked",
        created,
        {"token_policies": TOKEN_POLICIES, "lease_duration": 300, "renewable": True, "orphan": False},
    )
    child = Bao(root.address, created["client_token"])
    check_equal("bao token create: its name", child.json("token lookup")["data"]["display_name"], "token-child")
    check_equal("bao token capabilities: the root token", capabilities(root, "sys/auth"), ["root"])
    child.succeed("token", "revoke", "-self")
    child.refuse("bao token revoke -self: the child is gone", "token", "lookup", text="permission denied")


def check_removal(root: Bao, environment: Environment) -> None:
    """Taking everything away again."""
    role = f"auth/{MOUNT}/role/{environment.role}"
    root.succeed("delete", role)
    root.refuse("bao delete role: it is gone", "read", role, text="No value found")
    root.succeed("auth", "disable", MOUNT)
    mounts = root.json("auth list")
    check("bao auth disable: the mount is gone", f"{MOUNT}/" not in mounts, sorted(mounts))
    root.succeed("policy", "delete", POLICY)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = Bao(environment.address, environment.root_token)
    check_status(root)
    check_policies(root)
    check_mount_and_role(root, environment)
    check_token(log_in(environment), environment)
    check_explanation(root, environment)
    check_child_tokens(root)
    check_removal(root, environment)


if __name__ == "__main__":
    main()
