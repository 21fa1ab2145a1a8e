"""hvac: every method of its `auth.token` class."""

import hvac
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest

from checks import check, check_equal, check_fields, check_refused
from environment import Environment

POLICY = "hvac-tokens"
ROLE = "hvac-tokens"
TOKEN_POLICIES = ["default", POLICY]
POLICY_TEXT = 'path "auth/token/create" {\n  capabilities = ["update"]\n}\n'


def as_token(root: hvac.Client, token: str) -> hvac.Client:
    """The same server with another token."""
    return hvac.Client(url=root.url, token=token)


def check_creation(root: hvac.Client) -> str:
    """create and create_orphan, with every field."""
    token = root.auth.token
    auth = token.create(
        policies=[POLICY],
        meta={"team": "a"},
        ttl="1h",
        explicit_max_ttl="2h",
        display_name="hvac",
        type="service",
    )["auth"]
    check_fields(
        "create: the token is as asked for",
        auth,
        {
            "token_policies": TOKEN_POLICIES,
            "metadata": {"team": "a"},
            "lease_duration": 3600,
            "renewable": True,
            "token_type": "service",
            "orphan": False,
        },
    )
    shown = token.lookup(auth["client_token"])["data"]
    check_fields(
        "lookup: everything that create was told",
        shown,
        {
            "display_name": "token-hvac",
            "explicit_max_ttl": 7200,
            "path": "auth/token/create",
            "orphan": False,
            "id": auth["client_token"],
        },
    )
    alone = token.create(policies=[POLICY], no_parent=True, no_default_policy=True, renewable=False, ttl="5m")["auth"]
    check_fields(
        "create: no_parent, no_default_policy, renewable",
        alone,
        {"orphan": True, "token_policies": [POLICY], "renewable": False},
    )
    periodic = token.create(policies=[POLICY], period="10m")["auth"]
    check_fields("create: a period", token.lookup(periodic["client_token"])["data"], {"period": 600})
    chosen = token.create(id="hvac-has-chosen-this", policies=[POLICY], ttl="5m")
    check_equal("create: an ID of one's own", chosen["auth"]["client_token"], "hvac-has-chosen-this")
    check("create: which is warned about", bool(chosen["warnings"]), chosen["warnings"])
    orphan = token.create_orphan(policies=[POLICY], ttl="5m", meta={"a": "b"}, num_uses=3, display_name="o")["auth"]
    check_fields("create_orphan: it is one", orphan, {"orphan": True, "lease_duration": 300, "metadata": {"a": "b"}})
    wrapped = token.create(policies=[POLICY], ttl="5m", wrap_ttl="1m")
    inside = root.sys.unwrap(wrapped["wrap_info"]["token"])["auth"]
    check_equal("create: wrapped", inside["accessor"], wrapped["wrap_info"]["wrapped_accessor"])
    for other in (alone, periodic, chosen["auth"], orphan, inside):
        token.revoke(other["client_token"])
    check_refused("create: a negative TTL", InvalidRequest, lambda: token.create(ttl="-1s"), "ttl must be positive")
    return str(auth["client_token"])


def check_lookups(root: hvac.Client, own: str) -> None:
    """lookup, lookup_self, lookup_accessor and list_accessors."""
    token = root.auth.token
    shown = as_token(root, own).auth.token.lookup_self()["data"]
    accessor = shown["accessor"]
    check_fields("lookup_self: one's own token", shown, {"id": own, "policies": TOKEN_POLICIES, "meta": {"team": "a"}})
    check_fields("lookup_accessor: without the token", token.lookup_accessor(accessor)["data"], {"id": "", "accessor": accessor})
    check("list_accessors: it is among them", accessor in token.list_accessors()["data"]["keys"], accessor)
    check_refused("lookup: an unknown token", Forbidden, lambda: token.lookup("nonsense"), "bad token")
    check_refused("lookup_accessor: an unknown one", InvalidRequest, lambda: token.lookup_accessor("nonsense"), "invalid accessor")


def check_renewals(root: hvac.Client, own: str) -> None:
    """renew, renew_self and renew_accessor."""
    token, accessor = root.auth.token, root.auth.token.lookup(own)["data"]["accessor"]
    check_fields("renew: as long as it was made for", token.renew(own)["auth"], {"lease_duration": 3600, "client_token": own})
    check_equal("renew: an increment", token.renew(own, increment="30m")["auth"]["lease_duration"], 1800)
    renewed = as_token(root, own).auth.token.renew_self(increment="20m")["auth"]
    check_fields("renew_self: an increment", renewed, {"lease_duration": 1200, "accessor": accessor})
    renewed = token.renew_accessor(accessor, increment="15m")["auth"]
    check_fields("renew_accessor: without the token", renewed, {"lease_duration": 900, "client_token": ""})
    beyond = token.renew(own, increment="9h")
    check("renew: not beyond its end", beyond["auth"]["lease_duration"] <= 7200, beyond["auth"])
    check("renew: and it says so", "exceeded the effective max_ttl" in str(beyond["warnings"]), beyond["warnings"])
    check_refused("renew: an unknown token", InvalidRequest, lambda: token.renew("nonsense"), "token not found")


def check_revocations(root: hvac.Client, own: str) -> None:
    """revoke, revoke_self, revoke_accessor and revoke_and_orphan_children."""
    token = root.auth.token
    child = as_token(root, own).auth.token.create(ttl="5m")["auth"]
    token.revoke_and_orphan_children(own)
    check_refused("revoke_and_orphan_children: it is gone", Forbidden, lambda: token.lookup(own), "bad token")
    check_fields("its child is left alone", token.lookup(child["client_token"])["data"], {"orphan": True})
    as_token(root, child["client_token"]).auth.token.revoke_self()
    check_refused("revoke_self: it is gone", Forbidden, lambda: token.lookup(child["client_token"]), "bad token")

    parent = token.create(policies=[POLICY], ttl="5m")["auth"]
    child = as_token(root, parent["client_token"]).auth.token.create(ttl="5m")["auth"]
    token.revoke_accessor(parent["accessor"])
    for gone in (parent, child):
        check_refused("revoke_accessor: with its children", Forbidden, lambda: token.lookup(gone["client_token"]), "bad token")
    token.revoke(parent["client_token"])


def check_roles(root: hvac.Client) -> None:
    """create_or_update_role, read_role, list_roles, delete_role, and tokens of a role."""
    token = root.auth.token
    token.create_or_update_role(
        ROLE,
        allowed_policies=[POLICY],
        disallowed_policies=["root"],
        orphan=True,
        renewable=True,
        path_suffix="suffix",
        token_period="1h",
        token_explicit_max_ttl="4h",
    )
    expected = {
        "name": ROLE,
        "allowed_policies": [POLICY],
        "disallowed_policies": ["root"],
        "orphan": True,
        "renewable": True,
        "path_suffix": "suffix",
        "token_period": 3600,
        "token_explicit_max_ttl": 14400,
    }
    check_fields("read_role: as written", token.read_role(ROLE)["data"], expected)
    check("list_roles: it is among them", ROLE in token.list_roles()["data"]["keys"], ROLE)
    auth = token.create(role_name=ROLE)["auth"]
    shown = token.lookup(auth["client_token"])["data"]
    check_fields(
        "create: under the terms of the role",
        shown,
        {"role": ROLE, "path": f"auth/token/create/{ROLE}/suffix", "orphan": True},
    )
    check_refused("create: a policy that the role does not allow", InvalidRequest, lambda: token.create(role_name=ROLE, policies=["other"]))
    token.revoke(auth["client_token"])
    token.delete_role(ROLE)
    check_refused("delete_role: it is gone", InvalidPath, lambda: token.read_role(ROLE))
    check_equal("tidy: it is begun", token.tidy().status_code, 202)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = hvac.Client(url=environment.address, token=environment.root_token)
    root.sys.create_or_update_acl_policy(POLICY, POLICY_TEXT)
    own = check_creation(root)
    check_lookups(root, own)
    check_renewals(root, own)
    check_revocations(root, own)
    check_roles(root)
    root.sys.delete_acl_policy(POLICY)


if __name__ == "__main__":
    main()
