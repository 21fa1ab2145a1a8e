"""hvac: the methods of its `secrets.identity` class that concern entities, groups and their aliases."""

import hvac
from hvac.exceptions import InvalidPath

from checks import check, check_equal, check_fields, check_refused
from environment import Environment

METHOD = "gcp"
MOUNT = "hvac-identity"


def check_entities(root: hvac.Client) -> str:
    """Entities by identifier and by name."""
    identity = root.secrets.identity
    made = identity.create_or_update_entity("hvac-one", metadata={"k": "v"}, policies=["a"])["data"]
    entity = str(made["id"])
    expected = {"name": "hvac-one", "metadata": {"k": "v"}, "policies": ["a"], "disabled": False, "id": entity}
    check_fields("read_entity", identity.read_entity(entity)["data"], expected)
    check_fields("read_entity_by_name", identity.read_entity_by_name("hvac-one")["data"], expected)
    identity.update_entity(entity, policies=["a", "b"], disabled=True)
    check_fields("update_entity", identity.read_entity(entity)["data"], {"policies": ["a", "b"], "disabled": True})
    identity.create_or_update_entity_by_name("hvac-one", disabled=False)
    check_fields("create_or_update_entity_by_name", identity.read_entity(entity)["data"], {"disabled": False})
    for method in ("LIST", "GET"):
        listed = identity.list_entities(method=method)["data"]
        check(f"list_entities: {method}", entity in listed["keys"] and entity in listed["key_info"], listed)
        check(f"list_entities_by_name: {method}", "hvac-one" in identity.list_entities_by_name(method=method)["data"]["keys"], None)
    check_fields("lookup_entity: by name", identity.lookup_entity(name="hvac-one")["data"], {"id": entity})
    check_fields("lookup_entity: by identifier", identity.lookup_entity(entity_id=entity)["data"], {"id": entity})
    check_equal("lookup_entity: nobody", identity.lookup_entity(name="hvac-nobody").status_code, 204)
    identity.create_or_update_entity_by_name("hvac-two")
    identity.delete_entity_by_name("hvac-two")
    check_refused("delete_entity_by_name", InvalidPath, lambda: identity.read_entity_by_name("hvac-two"))
    return entity


def check_entity_aliases(root: hvac.Client, entity: str, accessor: str) -> None:
    """Entity aliases."""
    identity = root.secrets.identity
    made = identity.create_or_update_entity_alias("hvac-alias", entity, accessor)["data"]
    alias = made["id"]
    check_equal("create_or_update_entity_alias: what it leads to", made["canonical_id"], entity)
    expected = {"name": "hvac-alias", "canonical_id": entity, "mount_accessor": accessor, "mount_path": f"auth/{MOUNT}/"}
    check_fields("read_entity_alias", identity.read_entity_alias(alias)["data"], expected)
    identity.update_entity_alias(alias, "hvac-renamed", entity, accessor)
    check_fields("update_entity_alias", identity.read_entity_alias(alias)["data"], {"name": "hvac-renamed"})
    for method in ("LIST", "GET"):
        check(f"list_entity_aliases: {method}", alias in identity.list_entity_aliases(method=method)["data"]["keys"], None)
    found = identity.lookup_entity(alias_name="hvac-renamed", alias_mount_accessor=accessor)["data"]
    check_fields("lookup_entity: by alias", found, {"id": entity})
    check_fields("lookup_entity: by the alias's identifier", identity.lookup_entity(alias_id=alias)["data"], {"id": entity})
    identity.delete_entity_alias(alias)
    check_refused("delete_entity_alias", InvalidPath, lambda: identity.read_entity_alias(alias))


def check_groups(root: hvac.Client, entity: str) -> None:
    """Internal groups."""
    identity = root.secrets.identity
    group = identity.create_or_update_group("hvac-group", policies=["g"], member_entity_ids=[entity], metadata={"k": "v"})["data"]["id"]
    expected = {"name": "hvac-group", "type": "internal", "policies": ["g"], "member_entity_ids": [entity]}
    check_fields("read_group", identity.read_group(group)["data"], expected)
    check_fields("read_group_by_name", identity.read_group_by_name("hvac-group")["data"], expected)
    check_fields("the entity knows its group", identity.read_entity(entity)["data"], {"direct_group_ids": [group]})
    identity.update_group(group, "hvac-group-renamed", policies=["h"])
    check_fields("update_group", identity.read_group(group)["data"], {"name": "hvac-group-renamed", "policies": ["h"]})
    identity.create_or_update_group_by_name("hvac-upper", member_group_ids=[group])
    upper = identity.read_group_by_name("hvac-upper")["data"]
    check_fields("create_or_update_group_by_name", upper, {"member_group_ids": [group]})
    for method in ("LIST", "GET"):
        check(f"list_groups: {method}", group in identity.list_groups(method=method)["data"]["keys"], None)
        names = identity.list_groups_by_name(method=method)["data"]["keys"]
        check(f"list_groups_by_name: {method}", {"hvac-upper", "hvac-group-renamed"} <= set(names), names)
    check_fields("lookup_group: by name", identity.lookup_group(name="hvac-upper")["data"], {"id": upper["id"]})
    check_fields("lookup_group: by identifier", identity.lookup_group(group_id=group)["data"], {"id": group})
    identity.delete_group_by_name("hvac-upper")
    identity.delete_group(group)
    check_refused("delete_group", InvalidPath, lambda: identity.read_group(group))
    check_refused("delete_group_by_name", InvalidPath, lambda: identity.read_group_by_name("hvac-upper"))


def check_group_aliases(root: hvac.Client, accessor: str) -> None:
    """External groups and their aliases."""
    identity = root.secrets.identity
    group = identity.create_or_update_group("hvac-external", group_type="external")["data"]["id"]
    alias = identity.create_or_update_group_alias("hvac-ga", mount_accessor=accessor, canonical_id=group)["data"]["id"]
    expected = {"name": "hvac-ga", "canonical_id": group, "mount_accessor": accessor}
    check_fields("read_group_alias", identity.read_group_alias(alias)["data"], expected)
    identity.update_group_alias(alias, "hvac-gb", mount_accessor=accessor, canonical_id=group)
    check_fields("update_group_alias", identity.read_group_alias(alias)["data"], {"name": "hvac-gb"})
    for method in ("LIST", "GET"):
        check(f"list_group_aliases: {method}", alias in identity.list_group_aliases(method=method)["data"]["keys"], None)
    found = identity.lookup_group(alias_name="hvac-gb", alias_mount_accessor=accessor)["data"]
    check_fields("lookup_group: by alias", found, {"id": group})
    check_fields("lookup_group: by the alias's identifier", identity.lookup_group(alias_id=alias)["data"], {"id": group})
    identity.delete_group_alias(alias)
    check_refused("delete_group_alias", InvalidPath, lambda: identity.read_group_alias(alias))
    identity.delete_group(group)


def main() -> None:
    """Runs all checks against the server that the environment names."""
    environment = Environment.load()
    root = hvac.Client(url=environment.address, token=environment.root_token)
    root.sys.enable_auth_method(METHOD, path=MOUNT)
    accessor = root.sys.list_auth_methods()["data"][f"{MOUNT}/"]["accessor"]
    entity = check_entities(root)
    check_entity_aliases(root, entity, accessor)
    check_groups(root, entity)
    check_group_aliases(root, accessor)
    root.secrets.identity.delete_entity(entity)
    check_refused("delete_entity", InvalidPath, lambda: root.secrets.identity.read_entity(entity))
    root.sys.disable_auth_method(MOUNT)


if __name__ == "__main__":
    main()
