"""pytfe: every method of its organization resource and of what belongs to it, as a site administrator (organizations contract 6.7)."""

from datetime import datetime, timedelta

from pytfe import TFEClient, TFEConfig
from pytfe.errors import NotFound
from pytfe.models import (
    DataRetentionPolicyDeleteOlderSetOptions,
    DataRetentionPolicyDontDeleteSetOptions,
    DataRetentionPolicySetOptions,
    OrganizationCreateOptions,
    OrganizationTokenCreateOptions,
    OrganizationUpdateOptions,
    ReadRunQueueOptions,
)
from pytfe.models.agent import AgentPoolCreateOptions
from pytfe.models.org_token_ttl_policy import OrgTokenTTLPolicyUpdateOptions
from pytfe.models.organization import (
    OrganizationDefaultSettingsUpdateOptions,
    OrganizationIncludeOpt,
    OrganizationReadOptions,
)
from pytfe.models.organization_token import (
    OrganizationTokenDeleteOptions,
    OrganizationTokenReadOptions,
    TokenType,
)

from checks import check, check_equal, check_refused
from environment import Environment
from people import new_user_token

NAME = "pytfe-belongings"
HOUR = 3_600_000


def connect(environment: Environment, token: str) -> TFEClient:
    """A client with this token that shows failures at once instead of trying again."""
    return TFEClient(TFEConfig(address=environment.address, token=token, max_retries=0))


def check_reads(client: TFEClient) -> None:
    """The parts of an organization that can be read."""
    organizations = client.organizations
    check_equal("nothing is running", organizations.read_capacity(NAME).running, 0)
    queue = organizations.read_run_queue(NAME, ReadRunQueueOptions(page_size=20))
    check_equal("nothing is waiting", (queue.items, queue.pagination.total_count), ([], 0))
    entitlements = organizations.read_entitlements(NAME)
    check_equal("state can be stored", entitlements.state_storage, True)
    with_plan = OrganizationReadOptions(include=[OrganizationIncludeOpt.ORGANIZATION_SUBSCRIPTION])
    check_equal("the plan can be included", organizations.read(NAME, with_plan).name, NAME)


def check_default_settings(client: TFEClient) -> None:
    """The default execution mode and its pool."""
    organizations = client.organizations
    check_equal("runs are remote at first", organizations.read_default_settings(NAME).default_execution_mode, "remote")
    pool = client.agent_pools.create(NAME, AgentPoolCreateOptions(name="runners"))
    wanted = OrganizationDefaultSettingsUpdateOptions(default_execution_mode="agent", default_agent_pool_id=pool.id)
    updated = organizations.update_default_settings(NAME, wanted)
    check_equal(
        "then on agents", (updated.default_execution_mode, updated.default_agent_pool_id), ("agent", pool.id)
    )
    reset = organizations.reset_default_settings(NAME)
    check_equal(
        "and remote again", (reset.default_execution_mode, reset.default_agent_pool_id), ("remote", None)
    )
    check_equal("the pool stays", [found.id for found in client.agent_pools.list(NAME)], [pool.id])
    client.agent_pools.delete(pool.id)


def check_retention(client: TFEClient) -> None:
    """Self-hosted: the data retention policy in all its forms."""
    organizations = client.organizations
    older = organizations.set_data_retention_policy_delete_older(
        NAME, DataRetentionPolicyDeleteOlderSetOptions(delete_older_than_n_days=33)
    )
    check_equal("data are deleted after a while", older.delete_older_than_n_days, 33)
    never = organizations.set_data_retention_policy_dont_delete(NAME, DataRetentionPolicyDontDeleteSetOptions())
    check("another kind of policy is another policy", never.id not in ("", older.id), never.id)
    legacy = organizations.set_data_retention_policy(NAME, DataRetentionPolicySetOptions(delete_older_than_n_days=7))
    check_equal("the old form is understood", legacy.delete_older_than_n_days, 7)
    organizations.delete_data_retention_policy(NAME)
    # The client says nothing of why, so this sees no more than that it ends.
    check_equal("and none is left", organizations.read_data_retention_policy_choice(NAME), None)


def check_tokens(environment: Environment, client: TFEClient) -> None:
    """The organization's tokens."""
    tokens = client.organization_tokens
    check_refused("there is none at first", NotFound, lambda: tokens.read(NAME))
    made = tokens.create(NAME)
    check("its text is told once", made.token is not None and tokens.read(NAME).token is None, made.id)
    check_equal("and it opens the organization", [found.name for found in connect(environment, made.token).organizations.list()], [NAME])
    end = (datetime.now() + timedelta(days=30)).replace(microsecond=0)
    ending = tokens.create_with_options(NAME, OrganizationTokenCreateOptions(expired_at=end))
    check_equal("a time without a zone is in UTC", ending.expired_at.replace(tzinfo=None), end)
    of_audit = TokenType.AUDIT_TRAILS
    check_refused(
        "the free plan has no audit trail" if environment.hosted else "self-hosted there is no token for the audit trail",
        NotFound,
        lambda: tokens.read_with_options(NAME, OrganizationTokenReadOptions(token=of_audit)),
    )
    if not environment.hosted:
        check_refused(
            "and removing it removes nothing",
            NotFound,
            lambda: tokens.delete_with_options(NAME, OrganizationTokenDeleteOptions(token=of_audit)),
        )
        check_equal("the organization keeps its own", tokens.read(NAME).id, ending.id)
    tokens.delete(NAME)
    check_refused("a removed token is gone", NotFound, lambda: tokens.delete(NAME))


def check_lifetimes(client: TFEClient) -> None:
    """How long tokens may live."""
    policies = client.organization_token_ttl_policies
    kinds = {policy.token_type.value for policy in policies.list(NAME)}
    check_equal("four kinds of tokens have a limit", kinds, {"organization", "team", "user", "audit_trails"})
    updated = policies.update(NAME, OrgTokenTTLPolicyUpdateOptions(user=HOUR, team="30d"))
    limits = {policy.token_type.value: policy.max_ttl_ms for policy in updated}
    check_equal("some can be changed", (limits["user"], limits["team"]), (HOUR, 720 * HOUR))
    check_equal("and set back", len(policies.reset_to_defaults(NAME)), 4)


def check_plans(client: TFEClient) -> None:
    """Hosted: what has been booked."""
    subscription = client.subscriptions.read_for_organization(NAME)
    check_equal("a subscription is found by its id", client.subscriptions.read(subscription.id).id, subscription.id)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    client = connect(environment, new_user_token(environment, f"pytfe-{environment.edition}", site_admin=True))
    organizations = client.organizations
    organizations.create(OrganizationCreateOptions(name=NAME, email="it@example.com"))
    updated = organizations.update(NAME, OrganizationUpdateOptions(email="new@example.com", session_remember=30))
    check_equal("updated", updated.email, "new@example.com")
    check_reads(client)
    check_default_settings(client)
    check_tokens(environment, client)
    check_lifetimes(client)
    if environment.hosted:
        check_plans(client)
    else:
        check_retention(client)
    organizations.delete(NAME)
    check_refused("gone after its end", NotFound, lambda: organizations.read(NAME))


if __name__ == "__main__":
    main()
