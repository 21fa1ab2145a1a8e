"""hvac: status, policies, a mount with config and role, login, renewal, revocation."""

import json

import hvac
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest

from checks import check, check_equal, check_fields, check_refused
from environment import Environment

MOUNT = "hvac-gcp"
POLICY = "hvac-reader"
TOKEN_POLICIES = ["default", POLICY]
POLICY_TEXT = 'path "auth/hvac-gcp/role/*" {\n  capabilities = ["read"]\n}\n'


def check_status(root: hvac.Client) -> None:
    """The questions that a client asks before anything else."""
    anonymous = hvac.Client(url=root.url)
    check_equal("sys/init says that the server is initialized", anonymous.sys.is_initialized(), True)
    check_equal("sys/seal-status says that it is not sealed", anonymous.sys.is_sealed(), False)
    check_fields("sys/seal-status has its key shares", anonymous.seal_status, {"t": 1, "n": 1, "progress": 0})
    health = anonymous.sys.read_health_status(method="GET")
    check_fields(
        "sys/health says that the server is active",
        health,
        {"initialized": True, "sealed": False, "standby": False},
    )
    check_equal("sys/health answers HEAD", anonymous.sys.read_health_status(method="HEAD").status_code, 200)
    check("sys/leader answers", "ha_enabled" in anonymous.sys.read_leader_status(), anonymous.ha_status)
    check_equal("the root token is accepted", root.is_authenticated(), True)
    check_refused("no token, no list of mounts", Forbidden, anonymous.sys.list_auth_methods, "permission denied")
    stranger = hvac.Client(url=root.url, token="hvs.unknown")
    check_refused("an unknown token is refused", Forbidden, stranger.sys.list_auth_methods, "invalid token")


def check_policies(root: hvac.Client) -> None:
    """Policies by their current path and by the one that came before it."""
    root.sys.create_or_update_acl_policy(POLICY, POLICY_TEXT)
    read = root.sys.read_acl_policy(POLICY)["data"]
    check_fields("a policy is read back byte for byte", read, {"name": POLICY, "policy": POLICY_TEXT})
    names = root.sys.list_acl_policies()["data"]["keys"]
    check("policies are listed", {POLICY, "default", "root"} <= set(names), names)
    check_equal("policies are listed in order", names, sorted(names))
    check_equal("the older path reads it too", root.sys.read_policy(POLICY)["rules"], POLICY_TEXT)
    names = root.sys.list_policies()["policies"]
    check("the older path lists it too", POLICY in names, names)

    root.sys.create_or_update_policy("hvac-passing", {"path": {"auth/token/*": {"capabilities": ["read"]}}})
    root.sys.delete_acl_policy("hvac-passing")
    check_refused("a deleted policy is gone", InvalidPath, lambda: root.sys.read_acl_policy("hvac-passing"))
    check_refused(
        "a policy that does not parse is refused",
        InvalidRequest,
        lambda: root.sys.create_or_update_acl_policy("hvac-broken", 'path "x" { capabilities = ["fly"] }'),
        'invalid capability "fly"',
    )
    check_refused("and not stored", InvalidPath, lambda: root.sys.read_acl_policy("hvac-broken"))


def check_mount(root: hvac.Client) -> None:
    """Enabling the method a second time, under a path of its own."""
    root.sys.enable_auth_method("gcp", description="for hvac", path=MOUNT)
    mounts = root.sys.list_auth_methods()["data"]
    check_fields("the mount is listed", mounts[f"{MOUNT}/"], {"type": "gcp", "description": "for hvac"})
    check("the token store is listed", "token/" in mounts, sorted(mounts))
    check_refused(
        "its path is taken",
        InvalidRequest,
        lambda: root.sys.enable_auth_method("gcp", path=MOUNT),
        f"path is already in use at {MOUNT}/",
    )


def check_config(root: hvac.Client, environment: Environment) -> None:
    """Configuring the mount, and what may be read back."""
    key_file = json.loads(environment.credentials)
    check_refused(
        "credentials that are no key file are refused",
        InvalidRequest,
        lambda: root.auth.gcp.configure(credentials='{"type":"service_account"}', mount_point=MOUNT),
        "missing private key in credentials",
    )
    root.auth.gcp.configure(credentials=environment.credentials, mount_point=MOUNT)
    root.write_data(f"auth/{MOUNT}/config", data={"custom_endpoint": environment.custom_endpoint})
    config = root.auth.gcp.read_config(mount_point=MOUNT)
    expected = {name: key_file[name] for name in ("client_email", "client_id", "private_key_id", "project_id")}
    expected["custom_endpoint"] = environment.custom_endpoint
    check_fields("config names the account and the endpoints", config, expected)
    shown = json.dumps(config)
    check("config shows no private key", "private_key" not in config and "PRIVATE KEY" not in shown, config)
    check("config shows no raw credentials", "credentials" not in config, config)


def check_role(root: hvac.Client, environment: Environment) -> None:
    """Creating, reading and listing a role."""
    gcp = root.auth.gcp
    check_refused("no roles, no list", InvalidPath, lambda: gcp.list_roles(mount_point=MOUNT))
    check_refused(
        "an iam role must have an account",
        InvalidRequest,
        lambda: gcp.create_role(environment.role, "iam", environment.project, mount_point=MOUNT),
        "IAM role type must have at least one service account",
    )
    gcp.create_role(
        environment.role,
        "iam",
        environment.project,
        ttl="10m",
        max_ttl="20m",
        policies=[POLICY],
        bound_service_accounts=[environment.service_account],
        mount_point=MOUNT,
    )
    check_fields(
        "the role is read back",
        gcp.read_role(environment.role, mount_point=MOUNT),
        {
            "type": "iam",
            "bound_projects": [environment.project],
            "bound_service_accounts": [environment.service_account],
            "token_ttl": 600,
            "token_max_ttl": 1200,
            "token_policies": [POLICY],
            "max_jwt_exp": 900,
        },
    )
    check_equal("the role is listed", gcp.list_roles(mount_point=MOUNT), {"keys": [environment.role]})


def check_refused_logins(environment: Environment) -> None:
    """Logins that must not succeed."""
    gcp = hvac.Client(url=environment.address).auth.gcp
    header, claims, signature = environment.jwt.split(".")
    forged = f"{header}.{claims}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"
    refusals = [
        ("a role that does not exist", "nobody", environment.jwt, 'role "nobody" not found'),
        ("a forged signature", environment.role, forged, "unable to verify JWT signature"),
        ("text that is no JWT", environment.role, "not a jwt", "unable to parse signed JWT"),
    ]
    for what, role, jwt, text in refusals:
        check_refused(
            f"no login with {what}",
            InvalidRequest,
            lambda role=role, jwt=jwt: gcp.login(role, jwt, mount_point=MOUNT),
            text,
        )


def check_login(environment: Environment) -> hvac.Client:
    """The login itself, and what the token may do."""
    workload = hvac.Client(url=environment.address)
    auth = workload.auth.gcp.login(environment.role, environment.jwt, mount_point=MOUNT)["auth"]
    check_fields(
        "login answers with a token of the role",
        auth,
        {
            "policies": TOKEN_POLICIES,
            "token_policies": TOKEN_POLICIES,
            "lease_duration": 600,
            "renewable": True,
            "token_type": "service",
            "orphan": True,
            "num_uses": 0,
        },
    )
    check_fields(
        "its metadata names the account",
        auth["metadata"],
        {
            "role": environment.role,
            "project_id": environment.project,
            "service_account_email": environment.service_account,
        },
    )
    token = workload.auth.token.lookup_self()["data"]
    check_fields(
        "the token can look itself up",
        token,
        {
            "id": auth["client_token"],
            "accessor": auth["accessor"],
            "path": f"auth/{MOUNT}/login",
            "display_name": f"{MOUNT}-{environment.service_account}",
            "policies": TOKEN_POLICIES,
            "creation_ttl": 600,
            "type": "service",
        },
    )
    check("it has not been renewed", "last_renewal" not in token, token)
    role = workload.auth.gcp.read_role(environment.role, mount_point=MOUNT)
    check_equal("its policy lets it read the role", role["type"], "iam")
    check_refused(
        "its policy does not let it read the config",
        Forbidden,
        lambda: workload.auth.gcp.read_config(mount_point=MOUNT),
        "permission denied",
    )
    return workload


def check_renewal_and_revocation(workload: hvac.Client) -> None:
    """The rest of the token's life."""
    renewed = workload.auth.token.renew_self(increment="5m")["auth"]
    check_fields("the token is renewed for as long as it asked", renewed, {"lease_duration": 300, "renewable": True})
    token = workload.auth.token.lookup_self()["data"]
    check("the renewal shows", "last_renewal" in token and 0 < token["ttl"] <= 300, token)
    workload.auth.token.revoke_self()
    check_refused("a revoked token is refused", Forbidden, workload.auth.token.lookup_self, "invalid token")


def check_removal(root: hvac.Client, environment: Environment) -> None:
    """Taking everything away again; tokens die with their mount."""
    gcp = root.auth.gcp
    workload = hvac.Client(url=environment.address)
    workload.auth.gcp.login(environment.role, environment.jwt, mount_point=MOUNT)
    gcp.delete_role(environment.role, mount_point=MOUNT)
    check_refused(
        "a deleted role is gone", InvalidPath, lambda: gcp.read_role(environment.role, mount_point=MOUNT)
    )
    check_equal("its tokens live on", workload.is_authenticated(), True)
    root.sys.disable_auth_method(MOUNT)
    check_refused("they die with the mount", Forbidden, workload.auth.token.lookup_self, "invalid token")
    check("the mount is gone", f"{MOUNT}/" not in root.sys.list_auth_methods()["data"], MOUNT)
    root.sys.delete_policy(POLICY)
    check_refused("the policy is gone", InvalidPath, lambda: root.sys.read_policy(POLICY))


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = hvac.Client(url=environment.address, token=environment.root_token)
    check_status(root)
    check_policies(root)
    check_mount(root)
    check_config(root, environment)
    check_role(root, environment)
    check_refused_logins(environment)
    workload = check_login(environment)
    check_renewal_and_revocation(workload)
    check_removal(root, environment)


if __name__ == "__main__":
    main()
