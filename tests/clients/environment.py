"""The facts that a script is given about the server that it drives."""

import os
import sys
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """The settings of all scripts: field `x` comes from the variable `GATEHOUSE_X`."""

    address: str
    root_token: str
    edition: str
    credentials_file: str
    google_address: str
    service_account: str
    project: str
    role: str
    jwt: str
    instance: str
    instance_role: str
    instance_jwt: str
    inferred_jwt: str

    @classmethod
    def load(cls) -> "Environment":
        """Reads the variables, or ends the program naming all that are missing."""
        variables = {field.name: f"GATEHOUSE_{field.name.upper()}" for field in fields(cls)}
        missing = [variable for variable in variables.values() if not os.environ.get(variable)]
        if missing:
            sys.exit(f"not set: {', '.join(missing)} (see tests/clients/README.md)")
        return cls(**{name: os.environ[variable] for name, variable in variables.items()})

    @property
    def credentials(self) -> str:
        """The text of the key file."""
        return Path(self.credentials_file).read_text(encoding="utf-8")

    @property
    def custom_endpoint(self) -> dict[str, str]:
        """The base URLs that lead the method to the fake Google."""
        return {api: self.google_address for api in ("api", "iam", "compute", "crm")}

    @property
    def hosted(self) -> bool:
        """True if the server runs as the hosted edition."""
        return self.edition == "hosted"


def server_address() -> str:
    """Base URL of the server, for scripts that need to know nothing else."""
    return os.environ.get("GATEHOUSE_ADDRESS") or sys.exit("not set: GATEHOUSE_ADDRESS (see tests/clients/README.md)")
