"""hvac and terrasnek, at what a person has made in the console: a mount with its role, and an organization."""

import os

import hvac
from terrasnek.api import TFC

from checks import check_equal

address = os.environ["GATEHOUSE_ADDRESS"]
name = os.environ["GATEHOUSE_NAME"]

workload = hvac.Client(url=address)
login = workload.auth.gcp.login(role=name, jwt=os.environ["GATEHOUSE_JWT"], mount_point=name)
check_equal("hvac logs in under the role", workload.is_authenticated(), True)
check_equal("for as long as the form said", login["auth"]["lease_duration"], 600)

administrator = TFC(os.environ["GATEHOUSE_ROOT_TOKEN"], url=address, skip_version_check=True)
administrator.set_org(name)
shown = administrator.orgs.show(name)["data"]
check_equal("terrasnek sees the organization", shown["attributes"]["email"], "ops@example.com")
members = [member["attributes"]["email"] for member in administrator.org_memberships.list_for_org()["data"]]
check_equal("and who has accepted", "brenda@example.com" in members, True)
