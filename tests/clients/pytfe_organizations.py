"""pytfe: organizations, as site administrator and as a workload that logged in (organizations contract 6.7)."""

from pytfe import TFEClient, TFEConfig
from pytfe.errors import AuthError, NotFound, TFEError
from pytfe.models import OrganizationCreateOptions, OrganizationUpdateOptions

from checks import check, check_equal, check_fields, check_refused
from environment import Environment
from workload import workload_token

ADMINISTRATED = "pytfe-administrated"
WORKLOADS = "pytfe-workloads"
WORKLOAD_POLICY = f'path "organizations/{WORKLOADS}" {{ capabilities = ["create", "read", "update", "delete"] }}'


def connect(environment: Environment, token: str) -> TFEClient:
    """A client with this token that shows failures at once instead of trying again."""
    return TFEClient(TFEConfig(address=environment.address, token=token, max_retries=0))


def names(client: TFEClient) -> list[str | None]:
    """The names of all organizations that the client sees."""
    return [organization.name for organization in client.organizations.list()]


def check_life(client: TFEClient, name: str, who: str) -> None:
    """An organization from its creation to its end."""
    organizations = client.organizations
    created = organizations.create(
        OrganizationCreateOptions(name=name, email="first@example.com", session_timeout=60)
    )
    check_equal(
        f"{who}: created", (created.id, created.name, created.email), (name, name, "first@example.com")
    )
    check_equal(f"{who}: with the default mode", created.default_execution_mode, "remote")
    check_equal(f"{who}: shown as created", organizations.read(name), created)
    # The client sends this attribute with an underscore and drops it from what it reads.
    raw = organizations.t.request("GET", f"/api/v2/organizations/{name}").json()["data"]["attributes"]
    check_fields(f"{who}: underscored attributes are taken", raw, {"session-timeout": 60})
    check(f"{who}: listed", name in names(client), name)
    check_equal(f"{who}: entitled to store state", organizations.read_entitlements(name).state_storage, True)
    settings = organizations.read_default_settings(name)
    check_equal(
        f"{who}: default settings", (settings.default_execution_mode, settings.default_agent_pool_id), ("remote", None)
    )

    updated = organizations.update(name, OrganizationUpdateOptions(email="second@example.com"))
    check_equal(f"{who}: updated", (updated.name, updated.email), (name, "second@example.com"))
    check_equal(f"{who}: shows the update", organizations.read(name), updated)

    refusal = check_refused(
        f"{who}: the name is taken",
        TFEError,
        lambda: organizations.create(OrganizationCreateOptions(name=name, email="third@example.com")),
        "Name has already been taken",
    )
    check_equal(f"{who}: and the refusal is 422", refusal.status, 422)

    organizations.delete(name)
    check_refused(f"{who}: gone after its end", NotFound, lambda: organizations.read(name), "not found")
    check_refused(f"{who}: a second end is refused", NotFound, lambda: organizations.delete(name))
    check(f"{who}: no longer listed", name not in names(client), name)


def check_strangers(environment: Environment, administrator: TFEClient, workload: TFEClient) -> None:
    """An organization that a token does not reach is not found."""
    stranger = connect(environment, "hvs.unknown")
    refusal = check_refused("an unknown token is refused", AuthError, lambda: names(stranger), "unauthorized")
    check_equal("with 401", refusal.status, 401)

    options = OrganizationCreateOptions(name=ADMINISTRATED, email="a@example.com")
    administrator.organizations.create(options)
    check_refused(
        "a workload does not see what it was not given",
        NotFound,
        lambda: workload.organizations.read(ADMINISTRATED),
    )
    check("nor in its list", ADMINISTRATED not in names(workload), ADMINISTRATED)
    check_refused("nor can it end it", NotFound, lambda: workload.organizations.delete(ADMINISTRATED))
    check_equal("which is still there", administrator.organizations.read(ADMINISTRATED).id, ADMINISTRATED)
    administrator.organizations.delete(ADMINISTRATED)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    administrator = connect(environment, environment.root_token)
    check_life(administrator, ADMINISTRATED, "administrator")
    with workload_token(environment, "pytfe-gcp", WORKLOAD_POLICY) as token:
        workload = connect(environment, token)
        check_life(workload, WORKLOADS, "workload")
        check_strangers(environment, administrator, workload)


if __name__ == "__main__":
    main()
