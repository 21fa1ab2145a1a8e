//! Gce roles: the instance that a token was made on, as Google knows it now (contract 4.6; SEC-G2, G9, G13).

use gatehouse_ports::{Clock, Http, Random};

use super::account::{account_inputs, account_of, confirmed, is_bound, lets_in};
use super::claimant::{Caller, Claimant};
use crate::google::{
    ApiError, Google, Instance, InstanceName, Membership, ServiceAccount, region_of,
};
use crate::jwt::InstanceClaims;
use crate::roles::ANY_ACCOUNT;
use crate::trace::{Condition as _, Trace, input, list};
use crate::{
    Check, CreatedLater, GceRules, GroupNotFound, InstanceAccountNotBound, InstanceError,
    InstanceProjectNotBound, InstanceTooOld, LabelMissing, LoginError, ProjectRefusal, Role,
};

/// States in which an instance runs or is about to.
const LIVE_STATES: [&str; 3] = ["PROVISIONING", "STAGING", "RUNNING"];
/// Seconds by which the creation time of a token may lie before that of the instance: one of them is in milliseconds.
const CREATION_TOLERANCE: u64 = 1;

/// G1 to G13.
pub(super) fn authorize<H: Http, C: Clock, R: Random>(
    role: &Role,
    rules: &GceRules,
    claimant: &Claimant<'_>,
    google: &Google<'_, H, C, R>,
    confirm: impl FnOnce(&ServiceAccount) -> Result<(), LoginError>,
    trace: &mut impl Trace,
) -> Result<Caller, LoginError> {
    let claims = claimant.instance.ok_or(LoginError::InstanceClaimsMissing);
    let claims = trace.require(Check::InstanceClaims, Vec::new, claims)?;
    let projects = &role.bound_projects;
    trace.judge(
        Check::Project,
        || {
            let bound = list("bound_projects", projects);
            vec![input("project", &claims.project_id), bound]
        },
        is_bound(projects, &claims.project_id).otherwise_with(|| {
            LoginError::InstanceProjectNotBound(InstanceProjectNotBound {
                instance_id: claims.instance_id.clone(),
                project: claims.project_id.clone(),
                bound_projects: projects.clone(),
            })
        }),
    )?;
    let instance = if role.options.trust_claims {
        None
    } else {
        let found = live_instance(claims, google);
        let inputs = || {
            let place = format!("{}/{}", claims.project_id, claims.zone);
            let name = input("instance_name", &claims.instance_name);
            vec![
                input("place", place),
                name,
                input("instance_id", &claims.instance_id),
            ]
        };
        Some(trace.require(Check::Instance, inputs, found)?)
    };
    check_age(rules, claims, instance.as_ref(), google.now(), trace)?;
    if let Some(instance) = &instance {
        check_labels(rules, instance, trace)?;
    }
    let zone = instance.as_ref().map_or(&claims.zone, |live| &live.zone);
    check_location(rules, zone, trace)?;
    if let Some(instance) = &instance {
        check_groups(rules, claims, instance, google, trace)?;
    }
    let accounts = role.bound_service_accounts.as_slice();
    let any_account = accounts.is_empty() || accounts == [ANY_ACCOUNT];
    let not_found = if any_account {
        LoginError::InstanceAccountNotFound
    } else {
        LoginError::BoundAccountNotFound
    };
    let account = account_of(role, claimant, google, not_found);
    let attached = |account: &ServiceAccount| {
        confirm(account)?;
        let attached = instance
            .as_ref()
            .is_none_or(|instance| instance.service_accounts.contains(&account.email));
        attached.otherwise_with(|| LoginError::AccountNotAttached(account.email.clone()))
    };
    let account = confirmed(account, claimant, attached, trace)?;
    trace.judge(
        Check::BoundAccount,
        || account_inputs(role, &account),
        (any_account || lets_in(role, &account)).otherwise_with(|| {
            LoginError::InstanceAccountNotBound(InstanceAccountNotBound {
                unique_id: account.unique_id.clone(),
                email: account.email.clone(),
                bound: role.bound_service_accounts.clone(),
            })
        }),
    )?;
    Ok(Caller {
        account,
        instance: Some(claims.clone()),
        group_aliases: None,
    })
}

/// G4 to G7: the instance of this name exists, runs, and is the one that the token is about.
fn live_instance<H: Http, C: Clock, R: Random>(
    claims: &InstanceClaims,
    google: &Google<'_, H, C, R>,
) -> Result<Instance, LoginError> {
    let flawed = |flaw| {
        LoginError::Instance(crate::Instance {
            project: claims.project_id.clone(),
            zone: claims.zone.clone(),
            name: claims.instance_name.clone(),
            flaw,
        })
    };
    let name = InstanceName {
        project: &claims.project_id,
        zone: &claims.zone,
        name: &claims.instance_name,
    };
    let instance = google.instance(name).map_err(|error| match error {
        ApiError::Refused(refusal) => flawed(InstanceError::Refused(refusal)),
        other => other.into(),
    })?;
    if !LIVE_STATES.contains(&instance.status.as_str()) {
        return Err(flawed(InstanceError::Status(instance.status)));
    }
    if instance.id != claims.instance_id {
        return Err(flawed(InstanceError::OtherId));
    }
    let claimed = claims.instance_creation_timestamp;
    if claimed.saturating_add(CREATION_TOLERANCE) < instance.created {
        return Err(flawed(InstanceError::CreatedLater(CreatedLater {
            claimed,
            created: instance.created,
        })));
    }
    Ok(instance)
}

fn check_age(
    rules: &GceRules,
    claims: &InstanceClaims,
    instance: Option<&Instance>,
    now: u64,
    trace: &mut impl Trace,
) -> Result<(), LoginError> {
    let maximum = rules.maximum_instance_age;
    if maximum == 0 {
        return Ok(());
    }
    let created = instance.map_or(claims.instance_creation_timestamp, |live| live.created);
    let age = now.saturating_sub(created);
    trace.judge(
        Check::InstanceAge,
        || vec![input("age", age), input("max_instance_age", maximum)],
        (age <= maximum).otherwise(LoginError::InstanceTooOld(InstanceTooOld { age, maximum })),
    )
}

/// G8: every label of the role, exactly.
fn check_labels(
    rules: &GceRules,
    instance: &Instance,
    trace: &mut impl Trace,
) -> Result<(), LoginError> {
    if rules.bound_labels.is_empty() {
        return Ok(());
    }
    let missing = rules
        .bound_labels
        .iter()
        .find(|(key, value)| instance.labels.get(key) != Some(value));
    let shown = |(key, value): (&String, &String)| format!("{key}:{value}");
    trace.judge(
        Check::Labels,
        || {
            let labels: Vec<String> = instance.labels.iter().map(shown).collect();
            let bound = rules.bound_labels.iter();
            let bound: Vec<String> = bound.map(|(key, value)| shown((key, value))).collect();
            vec![list("labels", &labels), list("bound_labels", &bound)]
        },
        match missing {
            None => Ok(()),
            Some((key, value)) => Err(LoginError::LabelMissing(LabelMissing {
                key: key.clone(),
                value: value.clone(),
            })),
        },
    )
}

/// G9 and G10: zones count, and regions only where there are no zones.
fn check_location(rules: &GceRules, zone: &str, trace: &mut impl Trace) -> Result<(), LoginError> {
    let (zones, regions) = (&rules.bound_zones, &rules.bound_regions);
    if !zones.is_empty() {
        trace.judge(
            Check::Location,
            || vec![input("zone", zone), list("bound_zones", zones)],
            is_bound(zones, zone).otherwise_with(|| LoginError::ZoneNotBound(zones.clone())),
        )?;
    } else if !regions.is_empty() {
        let region = region_of(zone);
        trace.judge(
            Check::Location,
            || vec![input("region", region), list("bound_regions", regions)],
            is_bound(regions, region)
                .otherwise_with(|| LoginError::RegionNotBound(regions.clone())),
        )?;
    }
    Ok(())
}

/// G11.
fn check_groups<H: Http, C: Clock, R: Random>(
    rules: &GceRules,
    claims: &InstanceClaims,
    instance: &Instance,
    google: &Google<'_, H, C, R>,
    trace: &mut impl Trace,
) -> Result<(), LoginError> {
    let groups = &rules.bound_instance_groups;
    if groups.is_empty() {
        return Ok(());
    }
    let project = || claims.project_id.clone();
    let outcome = match google.group_membership(&claims.project_id, instance, rules) {
        Ok(Membership::Member) => Ok(()),
        Ok(Membership::NoSuchGroup(group, locations)) => {
            Err(LoginError::GroupNotFound(GroupNotFound {
                group,
                project: project(),
                locations,
            }))
        }
        Ok(Membership::Outsider) => Err(LoginError::NotInGroups(groups.clone())),
        Err(ApiError::Refused(refusal)) => Err(LoginError::GroupsUnreadable(ProjectRefusal {
            project: project(),
            refusal,
        })),
        Err(other) => Err(other.into()),
    };
    trace.judge(
        Check::InstanceGroups,
        || {
            vec![
                input("instance", &instance.link),
                list("bound_instance_groups", groups),
            ]
        },
        outcome,
    )
}
