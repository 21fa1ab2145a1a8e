# The resources of hashicorp/tfe that the docs name. `changed` changes each resource that can be changed in place.

terraform {
  required_providers {
    tfe = {
      source = "hashicorp/tfe"
    }
  }
}

variable "token" {}
variable "name" {}

# Users who exist: the owner of the token, who is a member at once, and two who are invited.
variable "owner" {}
variable "member" {}
variable "colleague" {}

variable "changed" {
  type    = bool
  default = false
}

# Leads to the server by a `host` block of the CLI's configuration, which the test writes.
provider "tfe" {
  hostname = "gatehouse.test"
  token    = var.token
}

resource "tfe_organization" "all" {
  name                          = var.name
  email                         = var.changed ? "second@example.com" : "first@example.com"
  session_timeout_minutes       = var.changed ? 60 : 20160
  collaborator_auth_policy      = "password"
  owners_team_saml_role_id      = var.changed ? "owners" : ""
  assessments_enforced          = false
  allow_force_delete_workspaces = var.changed
  user_tokens_enabled           = true
}

resource "tfe_team" "named" {
  name         = var.changed ? "platform-two" : "platform"
  organization = tfe_organization.all.name
  visibility   = var.changed ? "organization" : "secret"

  organization_access {
    manage_membership = var.changed
    manage_teams      = var.changed
    read_projects     = true
  }
}

resource "tfe_team" "other" {
  name         = "other"
  organization = tfe_organization.all.name
}

resource "tfe_organization_membership" "colleague" {
  organization = tfe_organization.all.name
  email        = "${var.colleague}@example.com"
}

resource "tfe_organization_membership" "member" {
  organization = tfe_organization.all.name
  email        = "${var.member}@example.com"
}

resource "tfe_organization_membership" "invited" {
  organization = tfe_organization.all.name
  email        = var.changed ? "second-${var.name}@example.com" : "first-${var.name}@example.com"
}

resource "tfe_team_organization_member" "colleague" {
  team_id                    = tfe_team.named.id
  organization_membership_id = tfe_organization_membership.colleague.id
}

resource "tfe_team_member" "owner" {
  team_id  = tfe_team.named.id
  username = var.owner
}

resource "tfe_team_organization_members" "other" {
  team_id = tfe_team.other.id
  organization_membership_ids = var.changed ? [tfe_organization_membership.member.id] : [
    tfe_organization_membership.member.id,
    tfe_organization_membership.colleague.id,
  ]
}

resource "tfe_organization_token" "all" {
  organization = tfe_organization.all.name
  expired_at   = var.changed ? "2099-02-01T00:00:00Z" : null
}

resource "tfe_team_token" "legacy" {
  team_id = tfe_team.named.id
}

resource "tfe_team_token" "described" {
  team_id     = tfe_team.other.id
  description = var.changed ? "second" : "first"
  expired_at  = "2099-01-01T00:00:00Z"
}

resource "tfe_agent_pool" "pool" {
  name                = var.changed ? "pool-two" : "pool"
  organization        = tfe_organization.all.name
  organization_scoped = true
}

resource "tfe_agent_token" "agent" {
  agent_pool_id = tfe_agent_pool.pool.id
  description   = var.changed ? "second" : "first"
}

resource "tfe_organization" "limited" {
  name            = "${var.name}-limited"
  email           = "first@example.com"
  max_ttl_enabled = true
}

resource "tfe_org_max_token_ttl_policy" "limited" {
  organization              = tfe_organization.limited.name
  org_token_max_ttl         = var.changed ? "12h" : "1mo"
  user_token_max_ttl        = "2y"
  team_token_max_ttl        = "3w"
  audit_trail_token_max_ttl = "6mo"
}

# The id under which each resource is imported.
output "imports" {
  value = {
    "tfe_organization.all"                   = tfe_organization.all.name
    "tfe_team.named"                         = "${tfe_organization.all.name}/${tfe_team.named.id}"
    "tfe_team.other"                         = "${tfe_organization.all.name}/${tfe_team.other.name}"
    "tfe_organization_membership.colleague"  = tfe_organization_membership.colleague.id
    "tfe_organization_membership.member"     = "${tfe_organization.all.name}/${tfe_organization_membership.member.email}"
    "tfe_organization_membership.invited"    = tfe_organization_membership.invited.id
    "tfe_team_organization_member.colleague" = "${tfe_team.named.id}/${tfe_organization_membership.colleague.id}"
    "tfe_team_member.owner"                  = "${tfe_team.named.id}/${var.owner}"
    "tfe_team_organization_members.other"    = tfe_team.other.id
    "tfe_organization_token.all"             = tfe_organization.all.name
    "tfe_team_token.legacy"                  = tfe_team.named.id
    "tfe_team_token.described"               = tfe_team_token.described.id
    "tfe_organization.limited"               = tfe_organization.limited.name
    "tfe_org_max_token_ttl_policy.limited"   = tfe_organization.limited.name
    "tfe_agent_pool.pool"                    = tfe_agent_pool.pool.id
  }
}
