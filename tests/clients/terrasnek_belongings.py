"""terrasnek: what belongs to organizations, and their administration, as a site administrator (organizations contract 6.6)."""

from typing import Any

from terrasnek.api import TFC
from terrasnek.exceptions import (
    TFCHTTPNotFound,
    TFCHTTPUnauthorized,
    TFCHTTPUnclassified,
    TFCHTTPUnprocessableEntity,
)

from checks import check, check_equal, check_fields, check_refused
from environment import Environment
from people import accept_invitation, new_user_token

FIRST = "terrasnek-first"
SECOND = "terrasnek-second"


def document(kind: str, relationships: dict[str, Any] | None = None, **attributes: Any) -> dict[str, Any]:
    """A request document; underscores of attributes become dashes."""
    dashed = {name.replace("_", "-"): value for name, value in attributes.items()}
    data: dict[str, Any] = {"type": kind, "attributes": dashed}
    if relationships:
        data["relationships"] = relationships
    return {"data": data}


def ids(listed: dict[str, Any]) -> list[str]:
    """The ids in a list's answer."""
    return [item["id"] for item in listed["data"]]


def connect(environment: Environment, token: str, organization: str = FIRST) -> TFC:
    """A client with this token that keeps to this server and works on this organization."""
    api = TFC(token, url=environment.address, skip_version_check=True)
    api.set_org(organization)
    return api


def check_organization_token(environment: Environment, api: TFC) -> None:
    """An organization has one token, which opens it until it is removed."""
    first = api.org_tokens.create()["data"]
    check("an organization token has an id", first["id"].startswith("at-"), first["id"])
    second = api.org_tokens.create()["data"]["attributes"]["token"]
    replaced = connect(environment, first["attributes"]["token"])
    check_refused("a replaced token opens nothing", TFCHTTPUnauthorized, replaced.orgs.list)
    organization = connect(environment, second)
    check_equal("its token sees the organization alone", ids(organization.orgs.list()), [FIRST])
    check_refused("and cannot remove it", TFCHTTPNotFound, lambda: organization.orgs.destroy(FIRST))
    api.org_tokens.destroy()
    check_refused("a removed token opens nothing", TFCHTTPUnauthorized, organization.orgs.list)
    check_refused("a second removal is refused", TFCHTTPNotFound, api.org_tokens.destroy)


def check_teams(environment: Environment, api: TFC) -> None:
    """Teams, their tokens, and who belongs to them."""
    check_equal("the team of owners is there", [team["attributes"]["name"] for team in api.teams.list()["data"]], ["owners"])
    team = api.teams.create(document("teams", name="builders", visibility="organization"))["data"]
    check_equal("a team is shown as made", api.teams.show(team["id"])["data"]["attributes"]["name"], "builders")
    check_refused(
        "a second team of that name is refused",
        TFCHTTPUnprocessableEntity,
        lambda: api.teams.create(document("teams", name="Builders")),
    )
    check_equal("all teams together", len(api.teams.list_all()["data"]), 2)
    api.teams.update(team["id"], document("teams", name="makers"))
    token = api.team_tokens.create(team["id"])["data"]["attributes"]["token"]
    builders = connect(environment, token)
    check_equal("a team's token sees the organization", ids(builders.orgs.list()), [FIRST])
    # Of what an update is answered the client knows fewer statuses by name.
    check_refused(
        "and cannot change it",
        TFCHTTPUnclassified,
        lambda: builders.orgs.update(FIRST, document("organizations", email="x@example.com")),
        "not found",
    )

    teams = {"teams": {"data": [{"type": "teams", "id": team["id"]}]}}
    invited = document("organization-memberships", teams, email="invited@example.com")
    membership = api.org_memberships.invite(invited)["data"]
    check_fields("an invitation waits for its user", membership["attributes"], {"status": "invited"})
    found = api.org_memberships.list_for_org(
        query="invited@", filters=[{"keys": ["status"], "value": "inactive"}], include=["user"]
    )
    check_equal("and is found", ids(found), [membership["id"]])
    check("with what was to be included", "included" in found, sorted(found))
    check_equal("two belong to it", len(api.org_memberships.list_all_for_org()["data"]), 2)
    check("its maker among their own memberships", len(api.org_memberships.list_for_user()["data"]) >= 1, "none")
    api.org_memberships.remove(membership["id"])
    check_refused(
        "a removed membership is gone", TFCHTTPNotFound, lambda: api.org_memberships.show(membership["id"])
    )

    check_consent(environment, api)

    api.team_tokens.destroy(team["id"])
    check_refused("a removed team token opens nothing", TFCHTTPUnauthorized, builders.orgs.list)
    api.teams.destroy(team["id"])
    check_refused("a removed team is gone", TFCHTTPNotFound, lambda: api.teams.show(team["id"]))


def check_consent(environment: Environment, api: TFC) -> None:
    """An invited user belongs to the organization once they accept, and not before."""
    name = f"guest-{environment.edition}"
    token = new_user_token(environment, name, site_admin=False)
    guest = connect(environment, token)
    invited = document("organization-memberships", email=f"{name}@example.com")
    membership = api.org_memberships.invite(invited)["data"]
    check_fields("an invitation waits for its user too", membership["attributes"], {"status": "invited"})
    check_equal("who finds it", ids(guest.org_memberships.list_for_user()), [membership["id"]])
    check_equal("and sees no organization by it", ids(guest.orgs.list()), [])
    accepted = accept_invitation(environment, token, membership["id"])
    check_fields("accepted, it is a membership", accepted["attributes"], {"status": "active"})
    check_equal("which opens the organization", ids(guest.orgs.list()), [FIRST])
    guest.org_memberships.remove(membership["id"])
    check_equal("everybody can leave", ids(guest.orgs.list()), [])


def check_agent_pools(api: TFC) -> None:
    """Agent pools, and the default one."""
    pool = api.agents.create_pool(document("agent-pools", name="runners"))["data"]
    check_equal("a pool is listed", ids(api.agents.list_pools()), [pool["id"]])
    api.agents.update(pool["id"], document("agent-pools", name="walkers"))
    shown = api.agents.show_pool(pool["id"])["data"]["attributes"]
    check_fields("and renamed", shown, {"name": "walkers", "agent-count": 0})
    check_equal("it has no agents", api.agents.list(pool["id"])["data"], [])
    agent = document("organizations", default_execution_mode="agent", default_agent_pool_id=pool["id"])
    updated = api.orgs.update(FIRST, agent)["data"]
    check_equal(
        "it can be the default", updated["relationships"]["default-agent-pool"]["data"]["id"], pool["id"]
    )
    api.agents.destroy_pool(pool["id"])
    shown = api.orgs.show(FIRST)["data"]
    check_equal("and leaves none behind", shown["relationships"]["default-agent-pool"]["data"], None)
    check_fields("nor its mode", shown["attributes"], {"default-execution-mode": "remote"})


def check_administration(api: TFC) -> None:
    """Self-hosted: all organizations as their administrator sees them, and what they share."""
    listed = api.admin_orgs.list(include=["owners"])
    check("all organizations are listed", {FIRST, SECOND} <= set(ids(listed)), ids(listed))
    check("with their owners", len(listed["included"]) >= 1, listed["included"])
    shared = document("organizations", global_module_sharing=True)
    check_fields(
        "sharing with everybody is switched on",
        api.admin_orgs.update(FIRST, shared)["data"]["attributes"],
        {"global-module-sharing": True},
    )
    producers = api.orgs.show_module_producers(SECOND)
    check("the list of producers names itself", "module-producers" in producers["links"]["self"], producers["links"])
    check_equal("and the others hear of it", ids(producers), [FIRST])
    check_equal("the organization is shown", api.admin_orgs.show(FIRST, include=["owners"])["data"]["id"], FIRST)
    check_equal("nobody is named", api.admin_orgs.list_org_module_consumers(FIRST)["data"], [])
    api.admin_orgs.update_org_module_consumers(FIRST, {"data": [{"id": SECOND, "type": "organizations"}]})
    check_equal("until somebody is", ids(api.admin_orgs.list_org_module_consumers(FIRST)), [SECOND])
    check_fields(
        "which ends sharing with everybody",
        api.admin_orgs.show(FIRST)["data"]["attributes"],
        {"global-module-sharing": False},
    )


def check_plans(api: TFC) -> None:
    """Hosted: what an organization has booked."""
    subscription = api.orgs.subscription(FIRST)["data"]
    check_fields("a new organization is on the free plan", subscription["attributes"], {"is-public-free-tier": True})
    check_equal("its subscription", api.subscriptions.show()["data"]["id"], subscription["id"])
    check_equal("is found by its id", api.subscriptions.show_by_id(subscription["id"])["data"]["id"], subscription["id"])
    names = [item["attributes"]["name"] for item in api.feature_sets.list()["data"]]
    check("there are feature sets", {"Free", "Business", "Premium"} <= set(names), names)
    check("also for an organization", len(api.feature_sets.list_for_org()["data"]) >= 1, "none")


def check_purge(api: TFC) -> None:
    """The lists that the client's own tests look at before they begin."""
    for what, list_all in {
        "workspaces": api.workspaces.list_all,
        "policies": api.policies.list_all,
        "policy sets": api.policy_sets.list_all,
        "projects": api.projects.list_all,
        "run tasks": api.run_tasks.list_all,
    }.items():
        listed = list_all()["data"]
        expected = 1 if what == "projects" else 0
        check_equal(f"the list of {what} is there", len(listed), expected)
    for what, listing in {"oauth clients": api.oauth_clients.list, "ssh keys": api.ssh_keys.list}.items():
        check_equal(f"the list of {what} is empty", listing()["data"], [])


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    api = connect(environment, new_user_token(environment, f"terrasnek-{environment.edition}", site_admin=True))
    account = api.account.show()["data"]
    check_fields("the account is the administrator's", account["attributes"], {"is-site-admin": True})
    for name in (FIRST, SECOND):
        api.orgs.create(document("organizations", name=name, email="it@example.com"))
    check_purge(api)
    check_organization_token(environment, api)
    check_teams(environment, api)
    check_agent_pools(api)
    if environment.hosted:
        check_plans(api)
    else:
        check_administration(api)
    api.admin_orgs.destroy(SECOND)
    api.orgs.destroy(FIRST)
    check_refused("both are gone", TFCHTTPNotFound, lambda: api.admin_orgs.show(SECOND))


if __name__ == "__main__":
    main()
