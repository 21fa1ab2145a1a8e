"""terrasnek: organizations, as site administrator and as a workload that logged in (organizations contract 6.6)."""

from typing import Any

from terrasnek.api import TFC
from terrasnek.exceptions import TFCHTTPNotFound, TFCHTTPUnauthorized, TFCHTTPUnprocessableEntity

from checks import check, check_equal, check_fields, check_refused
from environment import Environment
from workload import workload_token

ADMINISTRATED = "terrasnek-administrated"
WORKLOADS = "terrasnek-workloads"
WORKLOAD_POLICY = f'path "organizations/{WORKLOADS}" {{ capabilities = ["create", "read", "update", "delete"] }}'


def connect(environment: Environment, token: str) -> TFC:
    """A client with this token that keeps to this server."""
    return TFC(token, url=environment.address, skip_version_check=True)


def document(**attributes: Any) -> dict[str, Any]:
    """A request document for an organization."""
    return {"data": {"type": "organizations", "attributes": attributes}}


def errors_of(refusal: Exception) -> list[dict[str, Any]]:
    """The error objects that the client keeps in its exceptions."""
    return refusal.args[0]["errors"]


def names(listed: dict[str, Any]) -> list[str]:
    """The names in a list's answer."""
    return [organization["attributes"]["name"] for organization in listed["data"]]


def check_taken(api: TFC, name: str, rule: str) -> None:
    """No caller can create a second organization of this name."""
    refusal = check_refused(
        rule,
        TFCHTTPUnprocessableEntity,
        lambda: api.orgs.create(document(name=name, email="third@example.com")),
    )
    expected = {
        "status": "422",
        "title": "invalid attribute",
        "detail": "Name has already been taken",
        "source": {"pointer": "/data/attributes/name"},
    }
    check_equal(f"{rule}, says the refusal", errors_of(refusal), [expected])


def check_life(api: TFC, name: str, who: str) -> None:
    """An organization from its creation to its end."""
    created = api.orgs.create(document(name=name, email="first@example.com"))["data"]
    check_fields(f"{who}: created", created, {"id": name, "type": "organizations"})
    check_fields(
        f"{who}: with the attributes sent and the defaults",
        created["attributes"],
        {"name": name, "email": "first@example.com", "default-execution-mode": "remote", "session-timeout": None},
    )
    shown = api.orgs.show(name)["data"]
    check_equal(f"{who}: shown as created", shown["attributes"], created["attributes"])
    check(f"{who}: listed", name in names(api.orgs.list()), name)
    check_equal(f"{who}: found by a part of its name", names(api.orgs.list(query=name[2:])), [name])
    page = api.orgs.list(page=1, page_size=1)
    check_fields(f"{who}: lists come in pages", page["meta"]["pagination"], {"current-page": 1, "page-size": 1})
    check(f"{who}: all pages together", name in names(api.orgs.list_all()), name)
    entitlements = api.orgs.entitlements(name)["data"]
    external_id = created["attributes"]["external-id"]
    check_equal(f"{who}: entitlements are those of the organization", entitlements["id"], external_id)
    check_fields(f"{who}: entitled to store state", entitlements["attributes"], {"state-storage": True})

    updated = api.orgs.update(name, document(email="second@example.com"))["data"]["attributes"]
    check_fields(f"{who}: updated", updated, {"name": name, "email": "second@example.com"})
    check_equal(f"{who}: keeps its external id", updated["external-id"], external_id)
    check_equal(f"{who}: shows the update", api.orgs.show(name)["data"]["attributes"], updated)

    check_taken(api, name, f"{who}: the name is taken")

    api.orgs.destroy(name)
    gone = check_refused(f"{who}: gone after its end", TFCHTTPNotFound, lambda: api.orgs.show(name))
    check_equal(f"{who}: and nothing else is said", errors_of(gone), [{"status": "404", "title": "not found"}])
    check_refused(f"{who}: a second end is refused", TFCHTTPNotFound, lambda: api.orgs.destroy(name))


def check_case(api: TFC) -> None:
    """Names are one whatever their case, and keep the case that they were given."""
    mixed = ADMINISTRATED.title()
    api.orgs.create(document(name=mixed, email="a@example.com"))
    for spelling in (ADMINISTRATED, ADMINISTRATED.upper()):
        check_equal(f"found as `{spelling}`", api.orgs.show(spelling)["data"]["id"], mixed)
        check_taken(api, spelling, f"the name `{spelling}` is taken")
    api.orgs.destroy(ADMINISTRATED)


def check_edition(api: TFC, environment: Environment) -> None:
    """The behaviour that depends on the edition."""
    attributes = api.orgs.create(document(name=ADMINISTRATED, email="a@example.com"))["data"]["attributes"]
    expected = ({"plan-identifier": "free", "plan-is-enterprise": False}, {"plan-is-enterprise": True})
    check_fields(f"{environment.edition}: its plan", attributes, expected[0 if environment.hosted else 1])
    check_equal(
        f"{environment.edition}: two-factor conformance shows only when hosted",
        "two-factor-conformant" in attributes,
        environment.hosted,
    )
    api.orgs.destroy(ADMINISTRATED)


def check_faults(api: TFC) -> None:
    """All faults of a document are reported together, and nothing is stored."""
    refusal = check_refused(
        "faulty attributes are refused",
        TFCHTTPUnprocessableEntity,
        lambda: api.orgs.create(document(name="terrasnek faulty", email="")),
    )
    details = {error["source"]["pointer"]: error["detail"] for error in errors_of(refusal)}
    check_equal(
        "with one error for each",
        details,
        {
            "/data/attributes/name": "Name can only include letters, numbers, -, and _.",
            "/data/attributes/email": "Email can't be blank",
        },
    )
    check("and nothing is stored", "terrasnek faulty" not in names(api.orgs.list()), "it is listed")


def check_strangers(environment: Environment, administrator: TFC, workload: TFC) -> None:
    """An organization that a token does not reach is not found."""
    stranger = connect(environment, "hvs.unknown")
    refusal = check_refused("an unknown token is refused", TFCHTTPUnauthorized, stranger.orgs.list)
    check_equal("with nothing but that", errors_of(refusal), [{"status": "401", "title": "unauthorized"}])

    administrator.orgs.create(document(name=ADMINISTRATED, email="a@example.com"))
    check_refused(
        "a workload does not see what it was not given", TFCHTTPNotFound, lambda: workload.orgs.show(ADMINISTRATED)
    )
    check("nor in its list", ADMINISTRATED not in names(workload.orgs.list()), ADMINISTRATED)
    check_refused("nor can it end it", TFCHTTPNotFound, lambda: workload.orgs.destroy(ADMINISTRATED))
    check_equal("which is still there", administrator.orgs.show(ADMINISTRATED)["data"]["id"], ADMINISTRATED)
    administrator.orgs.destroy(ADMINISTRATED)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    administrator = connect(environment, environment.root_token)
    check_life(administrator, ADMINISTRATED, "administrator")
    check_case(administrator)
    check_edition(administrator, environment)
    check_faults(administrator)
    with workload_token(environment, "terrasnek-gcp", WORKLOAD_POLICY) as token:
        workload = connect(environment, token)
        check_life(workload, WORKLOADS, "workload")
        check_strangers(environment, administrator, workload)


if __name__ == "__main__":
    main()
