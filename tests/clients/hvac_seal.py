"""hvac: the first start of a server whose key is in shares, unsealing it, and sealing it again."""

import hvac
from checks import check_equal, check_fields, check_refused
from environment import server_address

SHARES = 4
THRESHOLD = 2


def main() -> None:
    """Runs all checks."""
    anybody = hvac.Client(url=server_address())
    system = anybody.sys
    check_equal("a new server is not initialized", system.is_initialized(), False)
    check_equal("read_health_status: 501", system.read_health_status().status_code, 501)
    made = system.initialize(SHARES, THRESHOLD)
    check_equal("initialize: as many shares as asked for", len(set(made["keys_base64"])), SHARES)
    check_equal("is_initialized", system.is_initialized(), True)
    already = "Vault is already initialized"
    check_refused(
        "initialize: works once", hvac.exceptions.InvalidRequest, lambda: system.initialize(1, 1), text=already
    )
    check_equal("is_sealed", system.is_sealed(), True)
    check_equal("read_health_status: 503", system.read_health_status().status_code, 503)

    root = hvac.Client(url=server_address(), token=made["root_token"])
    check_refused("sealed", hvac.exceptions.VaultDown, root.auth.token.lookup_self, text="Vault is sealed")
    one = system.submit_unseal_key(made["keys"][0])
    check_fields("submit_unseal_key", one, {"sealed": True, "progress": 1, "t": THRESHOLD, "n": SHARES})
    check_fields("submit_unseal_key: reset", system.submit_unseal_key(reset=True), {"progress": 0})
    check_fields("submit_unseal_keys", system.submit_unseal_keys(made["keys_base64"][2:]), {"sealed": False})
    check_equal("read_health_status: 200", system.read_health_status().status_code, 200)
    check_fields("lookup_self", root.auth.token.lookup_self()["data"], {"policies": ["root"]})

    check_refused("seal: not for everybody", hvac.exceptions.Forbidden, anybody.sys.seal)
    root.sys.seal()
    check_fields("read_seal_status", system.read_seal_status(), {"type": "shamir", "sealed": True, "progress": 0})
    check_fields("submit_unseal_keys: again", system.submit_unseal_keys(made["keys"][:2]), {"sealed": False})
    check_equal("is_authenticated", root.is_authenticated(), True)


if __name__ == "__main__":
    main()
