# The resources of hashicorp/vault that the docs name. `changed` changes each resource that can be changed in place.

terraform {
  required_providers {
    vault = {
      source = "hashicorp/vault"
    }
  }
}

variable "address" {}
variable "token" {}
variable "name" {}
variable "credentials" {}

variable "changed" {
  type    = bool
  default = false
}

provider "vault" {
  address = var.address
  token   = var.token
}

resource "vault_policy" "reads" {
  name   = "${var.name}-reads"
  policy = var.changed ? "path \"x\" { capabilities = [\"list\"] }" : "path \"x\" { capabilities = [\"read\"] }"
}

resource "vault_auth_backend" "plain" {
  type        = "gcp"
  path        = "${var.name}/plain"
  description = var.changed ? "second" : "first"

  tune {
    default_lease_ttl  = var.changed ? "2h" : "1h"
    max_lease_ttl      = "4h"
    listing_visibility = "unauth"
    token_type         = "default-service"
  }
}

resource "vault_gcp_auth_backend" "gcp" {
  path        = "${var.name}/gcp"
  credentials = var.credentials

  # The server shows the value in force, which a configuration without the field would undo at each plan.
  identity_token_ttl = 3600

  description = var.changed ? "second" : "first"

  custom_endpoint {
    api     = "www.googleapis.com"
    iam     = var.changed ? "https://iam.googleapis.com" : "iam.googleapis.com"
    crm     = "cloudresourcemanager.googleapis.com"
    compute = "compute.googleapis.com"
  }

  tune {
    default_lease_ttl = "1h"
    max_lease_ttl     = var.changed ? "8h" : "4h"
  }
}

resource "vault_gcp_auth_backend" "federated" {
  path                       = "${var.name}/federated"
  identity_token_audience    = "https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/v"
  identity_token_ttl         = var.changed ? 1200 : 600
  service_account_email      = "gatehouse@example.com"
  disable_automated_rotation = var.changed
}

resource "vault_gcp_auth_backend_role" "accounts" {
  backend                = vault_gcp_auth_backend.gcp.path
  role                   = "accounts"
  type                   = "iam"
  bound_service_accounts = var.changed ? ["a@example.com", "b@example.com"] : ["a@example.com"]
  bound_projects         = ["demo-project"]
  token_policies         = [vault_policy.reads.name]
  token_ttl              = var.changed ? 600 : 300
  max_jwt_exp            = "600"
}

resource "vault_gcp_auth_backend_role" "instances" {
  backend           = vault_gcp_auth_backend.gcp.path
  role              = "instances"
  type              = "gce"
  bound_zones       = ["europe-west1-b"]
  bound_labels      = var.changed ? ["env:prod", "team:platform"] : ["env:demo"]
  bound_projects    = ["demo-project"]
  token_max_ttl     = 3600
  token_num_uses    = 5
  token_bound_cidrs = ["10.0.0.0/8"]
}

resource "vault_identity_entity" "person" {
  name     = "${var.name}-person"
  policies = [vault_policy.reads.name]
  metadata = { stage = var.changed ? "second" : "first" }
}

resource "vault_identity_entity_alias" "person" {
  name           = "${var.name}-alias"
  mount_accessor = vault_gcp_auth_backend.gcp.accessor
  canonical_id   = vault_identity_entity.person.id
}

resource "vault_identity_group" "people" {
  name              = "${var.name}-people"
  type              = "internal"
  policies          = var.changed ? [] : [vault_policy.reads.name]
  member_entity_ids = [vault_identity_entity.person.id]
}

resource "vault_identity_group" "outside" {
  name     = "${var.name}-outside"
  type     = "external"
  policies = [vault_policy.reads.name]
}

resource "vault_identity_group_alias" "outside" {
  name           = "folder-1"
  mount_accessor = vault_gcp_auth_backend.gcp.accessor
  canonical_id   = vault_identity_group.outside.id
}

resource "vault_token_auth_backend_role" "makers" {
  role_name              = "${var.name}-makers"
  allowed_policies       = var.changed ? ["default", vault_policy.reads.name] : [vault_policy.reads.name]
  orphan                 = true
  token_period           = "3600"
  renewable              = true
  token_explicit_max_ttl = "7200"
}

resource "vault_token" "child" {
  policies  = [vault_policy.reads.name]
  renewable = true
  ttl       = "24h"
  metadata  = { stage = var.changed ? "second" : "first" }
}

# The id under which each resource is imported.
output "imports" {
  value = {
    "vault_policy.reads"                    = vault_policy.reads.name
    "vault_auth_backend.plain"              = vault_auth_backend.plain.path
    "vault_gcp_auth_backend.gcp"            = vault_gcp_auth_backend.gcp.path
    "vault_gcp_auth_backend.federated"      = vault_gcp_auth_backend.federated.path
    "vault_gcp_auth_backend_role.accounts"  = "auth/${vault_gcp_auth_backend.gcp.path}/role/accounts"
    "vault_gcp_auth_backend_role.instances" = "auth/${vault_gcp_auth_backend.gcp.path}/role/instances"
    "vault_identity_entity.person"          = vault_identity_entity.person.id
    "vault_identity_entity_alias.person"    = vault_identity_entity_alias.person.id
    "vault_identity_group.people"           = vault_identity_group.people.id
    "vault_identity_group.outside"          = vault_identity_group.outside.id
    "vault_identity_group_alias.outside"    = vault_identity_group_alias.outside.id
    "vault_token_auth_backend_role.makers"  = "auth/token/roles/${vault_token_auth_backend_role.makers.role_name}"
  }
}
