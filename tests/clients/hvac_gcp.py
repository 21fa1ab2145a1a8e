"""hvac: every method of its `auth.gcp` class, for both types of roles."""

import json

import hvac
from hvac.exceptions import InvalidPath, InvalidRequest

from checks import check, check_equal, check_fields, check_refused
from environment import Environment

MOUNT = "hvac-gcp-whole"
#: The settings of a mount before it is configured.
DEFAULTS = {
    "iam_alias": "role_id",
    "gce_alias": "role_id",
    "iam_metadata": ["project_id", "role", "service_account_id", "service_account_email"],
    "identity_token_audience": "",
    "identity_token_ttl": 3600,
    "rotation_period": 0,
    "rotation_schedule": "",
    "rotation_window": 0,
    "disable_automated_rotation": False,
}


def check_config(root: hvac.Client, environment: Environment) -> None:
    """configure, read_config and delete_config."""
    gcp = root.auth.gcp
    check_fields("a mount that nobody configured has the defaults", gcp.read_config(mount_point=MOUNT), DEFAULTS)
    key_file = json.loads(environment.credentials)
    gcp.configure(credentials=environment.credentials, mount_point=MOUNT)
    shown = gcp.read_config(mount_point=MOUNT)
    identity = {name: key_file[name] for name in ("client_email", "client_id", "private_key_id", "project_id")}
    check_fields("config shows whose key it is", shown, identity)
    check("and not the key", "PRIVATE KEY" not in json.dumps(shown), shown)
    gcp.delete_config(mount_point=MOUNT)
    shown = gcp.read_config(mount_point=MOUNT)
    check_fields("delete_config leaves the defaults", shown, DEFAULTS)
    check("and no credentials", not set(identity) & set(shown), shown)

    gcp.configure(credentials=environment.credentials, mount_point=MOUNT)
    root.write_data(
        f"auth/{MOUNT}/config",
        data={"custom_endpoint": environment.custom_endpoint, "iam_alias": "unique_id", "gce_alias": "instance_id"},
    )


def check_iam_role(root: hvac.Client, environment: Environment) -> None:
    """create_role, edit_service_accounts_on_iam_role, read_role and list_roles for an iam role."""
    gcp = root.auth.gcp
    gcp.create_role(
        environment.role.upper(),
        "iam",
        environment.project,
        bound_service_accounts=["one@example.com", environment.service_account],
        max_jwt_exp="20m",
        allow_gce_inference=False,
        mount_point=MOUNT,
    )
    role = gcp.read_role(environment.role, mount_point=MOUNT)
    check_fields(
        "an iam role is read back, whatever the case of its name",
        role,
        {
            "type": "iam",
            "bound_service_accounts": sorted(["one@example.com", environment.service_account]),
            "bound_projects": [environment.project],
            "max_jwt_exp": 1200,
            "allow_gce_inference": False,
            "add_group_aliases": False,
            "token_type": "default",
        },
    )
    gcp.edit_service_accounts_on_iam_role(
        environment.role, add=["two@example.com"], remove=["one@example.com"], mount_point=MOUNT
    )
    edited = gcp.read_role(environment.role, mount_point=MOUNT)["bound_service_accounts"]
    check_equal("accounts are added and removed", edited, sorted(["two@example.com", environment.service_account]))
    check_refused(
        "an iam role has no labels",
        InvalidRequest,
        lambda: gcp.edit_labels_on_gce_role(environment.role, add=["a:b"], mount_point=MOUNT),
        "role is type 'iam', cannot edit attribute 'labels' (expected role type: 'gce')",
    )
    check_refused(
        "there must be something to edit",
        InvalidRequest,
        lambda: gcp.edit_service_accounts_on_iam_role(environment.role, mount_point=MOUNT),
        "must provide at least one value to add or remove",
    )
    check_refused(
        "a role that is not there is not edited",
        InvalidRequest,
        lambda: gcp.edit_service_accounts_on_iam_role("nobody", add=["a@example.com"], mount_point=MOUNT),
        'role "nobody" not found',
    )


def check_gce_role(root: hvac.Client, environment: Environment) -> None:
    """create_role, edit_labels_on_gce_role and read_role for a gce role."""
    gcp = root.auth.gcp
    check_refused(
        "a gce role has no max_jwt_exp",
        InvalidRequest,
        # hvac's own method leaves out what does not belong to the type.
        lambda: root.write_data(
            f"auth/{MOUNT}/role/{environment.instance_role}", data={"type": "gce", "max_jwt_exp": "5m"}
        ),
        "invalid args found for role of type gce: max_jwt_exp",
    )
    gcp.create_role(
        environment.instance_role,
        "gce",
        environment.project,
        bound_regions=["europe-west1"],
        bound_labels=["team:web", "stale:yes"],
        mount_point=MOUNT,
    )
    gcp.edit_labels_on_gce_role(
        environment.instance_role, add=["tier:"], remove=["stale", "team", "absent"], mount_point=MOUNT
    )
    check_fields(
        "a gce role is read back with its labels",
        gcp.read_role(environment.instance_role, mount_point=MOUNT),
        {"type": "gce", "bound_regions": ["europe-west1"], "bound_labels": {"tier": ""}},
    )
    check_refused(
        "labels have a colon",
        InvalidRequest,
        lambda: gcp.edit_labels_on_gce_role(environment.instance_role, add=["bad"], mount_point=MOUNT),
        'given invalid labels to add: ["bad"]',
    )
    names = gcp.list_roles(mount_point=MOUNT)["keys"]
    check_equal("both roles are listed", names, sorted([environment.role, environment.instance_role]))


def check_logins(root: hvac.Client, environment: Environment) -> None:
    """login under both roles."""
    workload = hvac.Client(url=environment.address)
    auth = workload.auth.gcp.login(environment.role, environment.jwt, mount_point=MOUNT)["auth"]
    check_fields("an account logs in", auth["metadata"], {"service_account_email": environment.service_account})
    check_refused(
        "the instance does not have the label",
        InvalidRequest,
        lambda: workload.auth.gcp.login(environment.instance_role, environment.instance_jwt, mount_point=MOUNT),
        'instance missing bound label "tier:"',
    )
    root.auth.gcp.edit_labels_on_gce_role(environment.instance_role, remove=["tier"], mount_point=MOUNT)
    auth = workload.auth.gcp.login(environment.instance_role, environment.instance_jwt, mount_point=MOUNT)["auth"]
    check_fields(
        "an instance logs in",
        auth["metadata"],
        {
            "role": environment.instance_role,
            "project_id": environment.project,
            "instance_name": environment.instance,
            "service_account_email": environment.service_account,
        },
    )
    shown = workload.auth.token.lookup_self()["data"]
    check_equal("its token is named after it", shown["display_name"], f"{MOUNT}-{environment.instance}")
    renewed = workload.auth.token.renew_self()["auth"]
    check("its token is renewed", renewed["lease_duration"] > 0, renewed)
    check_refused(
        "google's own tokens do not log in where the role does not take them",
        InvalidRequest,
        lambda: workload.auth.gcp.login(environment.role, environment.inferred_jwt, mount_point=MOUNT),
        f'Got GCE token but IAM role "{environment.role}" does not allow GCE inference',
    )


def check_removal(root: hvac.Client, environment: Environment) -> None:
    """delete_role, and that renewal notices."""
    workload = hvac.Client(url=environment.address)
    workload.auth.gcp.login(environment.instance_role, environment.instance_jwt, mount_point=MOUNT)
    root.auth.gcp.delete_role(environment.instance_role.upper(), mount_point=MOUNT)
    check_refused(
        "a deleted role is gone, whatever the case of its name",
        InvalidPath,
        lambda: root.auth.gcp.read_role(environment.instance_role, mount_point=MOUNT),
    )
    check_refused(
        "and its tokens are not renewed",
        InvalidRequest,
        workload.auth.token.renew_self,
        f'role "{environment.instance_role}" no longer exists',
    )
    root.sys.disable_auth_method(MOUNT)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = hvac.Client(url=environment.address, token=environment.root_token)
    root.sys.enable_auth_method("gcp", path=MOUNT)
    check_config(root, environment)
    check_iam_role(root, environment)
    check_gce_role(root, environment)
    check_logins(root, environment)
    check_removal(root, environment)


if __name__ == "__main__":
    main()
