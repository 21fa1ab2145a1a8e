# The resources that a token may manage with the rights of docs/terraform.md and no others.

terraform {
  required_providers {
    vault = {
      source = "hashicorp/vault"
    }
  }
}

variable "address" {}
variable "token" {}
variable "credentials" {}

variable "changed" {
  type    = bool
  default = false
}

provider "vault" {
  address = var.address
  token   = var.token
}

resource "vault_policy" "dev" {
  name   = "dev"
  policy = var.changed ? "path \"x\" { capabilities = [\"list\"] }" : "path \"x\" { capabilities = [\"read\"] }"
}

resource "vault_gcp_auth_backend" "gcp" {
  path        = "cloud/gcp"
  credentials = var.credentials
  description = var.changed ? "second" : "first"

  tune {
    default_lease_ttl = var.changed ? "2h" : "1h"
  }
}

resource "vault_gcp_auth_backend_role" "dev" {
  backend                = vault_gcp_auth_backend.gcp.path
  role                   = "dev"
  type                   = "iam"
  bound_service_accounts = ["deploy@my-project.iam.gserviceaccount.com"]
  token_policies         = [vault_policy.dev.name]
  token_ttl              = var.changed ? 600 : 300
}

output "imports" {
  value = {
    "vault_policy.dev"                = vault_policy.dev.name
    "vault_gcp_auth_backend.gcp"      = vault_gcp_auth_backend.gcp.path
    "vault_gcp_auth_backend_role.dev" = "auth/${vault_gcp_auth_backend.gcp.path}/role/dev"
  }
}
