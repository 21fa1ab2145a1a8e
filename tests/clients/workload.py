"""A workload's way to a token: a mount, a policy and a role made for it, and its login."""

from collections.abc import Iterator
from contextlib import contextmanager

import hvac

from environment import Environment


@contextmanager
def workload_token(environment: Environment, mount: str, policy: str) -> Iterator[str]:
    """Lends the token of a workload that has this policy (HCL).

    The mount and the policy that it takes, both called `mount`, are removed afterwards.
    """
    root = hvac.Client(url=environment.address, token=environment.root_token)
    root.sys.enable_auth_method("gcp", path=mount)
    root.write_data(
        f"auth/{mount}/config",
        data={"credentials": environment.credentials, "custom_endpoint": environment.custom_endpoint},
    )
    root.sys.create_or_update_acl_policy(mount, policy)
    root.write_data(
        f"auth/{mount}/role/{environment.role}",
        data={
            "type": "iam",
            "bound_service_accounts": [environment.service_account],
            "token_policies": [mount],
        },
    )
    workload = hvac.Client(url=environment.address)
    login = workload.auth.gcp.login(environment.role, environment.jwt, use_token=False, mount_point=mount)
    yield login["auth"]["client_token"]
    root.sys.disable_auth_method(mount)
    root.sys.delete_acl_policy(mount)
