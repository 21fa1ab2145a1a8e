"""Asks the component `auth-method` who holds a token: `judge_login.py AUTH_METHOD_WASM KEY_FILE JWT [GOOGLE]`.

KEY_FILE is the service-account key as which Google is asked, JWT a login token for role `dev`, and GOOGLE the base URL of a stand-in
for Google. The stores are dicts, requests go out through `http.client`, and nothing else of this machine can be reached.
"""

import json
import sys
from urllib.parse import urlsplit

import outgoing
import wasi
from component import Component
from storage import Cache, KeyValue

AUTH_METHOD = "gatehouse:auth-method"
MOUNT = {"id": "m1", "accessor": "auth_gcp_1", "path": "gcp/", "default-lease": 3600, "maximum-lease": 86400}


def origin(url):
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def main(path, key_file, jwt, google="https://www.googleapis.com"):
    with open(key_file, encoding="utf-8") as file:
        key = file.read()
    token_url = json.loads(key)["token_uri"]
    is_stand_in = google.startswith("http:")
    environment = {"GATEHOUSE_GOOGLE_TOKEN_URL": token_url, "GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK": str(is_stand_in).lower()}
    origins = {"https://www.googleapis.com", "https://iam.googleapis.com", origin(google), origin(token_url)}

    imports = wasi.functions(environment) | outgoing.functions(origins.__contains__)
    imports |= KeyValue().functions() | Cache().functions()
    auth_method = Component(path).instance(imports)

    def call(interface, function, *arguments):
        result = auth_method.call(f"{AUTH_METHOD}/{interface}@0.1.0", function, MOUNT, *arguments)
        print(f"{interface}.{function}:", result)
        return result

    endpoints = [["api", google], ["iam", google]] if is_stand_in else []
    call("config", "write", {"credentials": key, "custom-endpoint": endpoints})
    account = json.loads(key)["client_email"]
    role = {"role-type": "iam", "bound-service-accounts": [account], "token-policies": ["dev"]}
    call("roles", "write", "dev", role, "any")

    # Where the caller is; without it, it counts as not known.
    address = {"tag": "ipv4", "val": [127, 0, 0, 1]}
    good = call("login", "login", {"role": "dev", "jwt": jwt, "source-address": address})
    signed, signature = jwt.rsplit(".", 1)
    forged = ("B" if signature[0] == "A" else "A") + signature[1:]
    bad = call("login", "login", {"role": "dev", "jwt": f"{signed}.{forged}"})
    sys.exit(0 if "ok" in good and "err" in bad else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
