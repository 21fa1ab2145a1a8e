"""Users of the organizations API, made by the root token."""

from typing import Any

import requests

from environment import Environment

MEDIA_TYPE = "application/vnd.api+json"


def new_user_token(environment: Environment, username: str, *, site_admin: bool) -> str:
    """The token of a user who has just been made."""
    attributes: dict[str, Any] = {
        "username": username,
        "email": f"{username}@example.com",
        "is-site-admin": site_admin,
    }
    answer = requests.post(
        f"{environment.address}/api/v2/admin/users",
        headers={"Authorization": f"Bearer {environment.root_token}", "Content-Type": MEDIA_TYPE},
        json={"data": {"type": "users", "attributes": attributes}},
        timeout=30,
    )
    answer.raise_for_status()
    token: str = answer.json()["meta"]["token"]
    return token


def accept_invitation(environment: Environment, token: str, membership: str) -> dict[str, Any]:
    """The membership that a user has by accepting an invitation. No client has a method for that."""
    answer = requests.post(
        f"{environment.address}/api/v2/organization-memberships/{membership}/actions/accept",
        headers={"Authorization": f"Bearer {token}", "Content-Type": MEDIA_TYPE},
        timeout=30,
    )
    answer.raise_for_status()
    accepted: dict[str, Any] = answer.json()["data"]
    return accepted
