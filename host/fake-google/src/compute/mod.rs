//! The compute API: instances, instance groups and their members (contract 4.6, 8.3).

mod field_mask;
mod filter;
mod groups;
mod instances;
mod members;
mod pages;

use std::borrow::Cow;

use http::{Method, StatusCode};

pub use self::groups::{InstanceGroup, Location};
pub(crate) use self::pages::{LARGEST_PAGE, PageSizes};
use crate::answer::{self, Answer, Outcome};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::route::decode;
use crate::state::State;

/// Where every link to a compute resource starts.
pub(crate) const LINK_BASE: &str = "https://www.googleapis.com/compute/v1/";
/// The scopes, besides the one for all, of which one opens the compute API for reading.
const COMPUTE_SCOPES: [&str; 2] = [
    "https://www.googleapis.com/auth/compute",
    "https://www.googleapis.com/auth/compute.readonly",
];

/// A request within one project.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ComputeRequest<'a> {
    project: Cow<'a, str>,
    subject: Subject<'a>,
}

/// The resource that is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Subject<'a> {
    Instance {
        zone: Cow<'a, str>,
        name: Cow<'a, str>,
    },
    Groups,
    Members {
        location: Location,
        group: Cow<'a, str>,
    },
}

impl<'a> ComputeRequest<'a> {
    /// The request that the path segments behind the project make.
    pub(crate) fn parse(method: &Method, project: &'a str, segments: &[&'a str]) -> Option<Self> {
        let read = method == Method::GET;
        let subject = match *segments {
            ["zones", zone, "instances", name] if read => Subject::Instance {
                zone: decode(zone),
                name: decode(name),
            },
            ["aggregated", "instanceGroups"] if read => Subject::Groups,
            [kind, location, "instanceGroups", group, "listInstances"]
                if method == Method::POST =>
            {
                Subject::Members {
                    location: match kind {
                        "zones" => Location::Zone(decode(location).into_owned()),
                        "regions" => Location::Region(decode(location).into_owned()),
                        _ => return None,
                    },
                    group: decode(group),
                }
            }
            _ => return None,
        };
        Some(Self {
            project: decode(project),
            subject,
        })
    }

    /// The kind of request.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self.subject {
            Subject::Instance { .. } => Endpoint::Instance,
            Subject::Groups => Endpoint::InstanceGroups,
            Subject::Members {
                location: Location::Zone(_),
                ..
            } => Endpoint::ZonalGroupMembers,
            Subject::Members {
                location: Location::Region(_),
                ..
            } => Endpoint::RegionalGroupMembers,
        }
    }
}

impl State {
    /// Answers a request to the compute API.
    pub(crate) fn answer_compute(&self, request: &ComputeRequest<'_>, call: &Call<'_>) -> Outcome {
        let project = request.project.as_ref();
        let mut body = match &request.subject {
            Subject::Instance { zone, name } => self.instance(project, zone, name, call)?,
            Subject::Groups => self.aggregated_groups(project, call)?,
            Subject::Members { location, group } => {
                self.group_members(project, location, group, call)?
            }
        };
        if let Some(mask) = call.parameter("fields") {
            field_mask::apply(&mask, &mut body)?;
        }
        Ok(body)
    }

    /// Lets a caller pass who holds a permission on a resource, named by its path.
    fn authorize_compute(
        &self,
        project: &str,
        permission: &str,
        resource: &str,
        call: &Call<'_>,
    ) -> Result<(), Box<Answer>> {
        let caller = self.authenticate(call, &COMPUTE_SCOPES)?;
        if self.holds(caller, permission, project) {
            Ok(())
        } else {
            let message = format!("Required '{permission}' permission for '{resource}'");
            Err(answer::refusal(StatusCode::FORBIDDEN, &message))
        }
    }
}

/// The region of a zone: its name without the last part.
pub(crate) fn region_of(zone: &str) -> &str {
    zone.rsplit_once('-').map_or(zone, |(region, _)| region)
}

fn not_found(resource: &str) -> Box<Answer> {
    let message = format!("The resource '{resource}' was not found");
    answer::refusal(StatusCode::NOT_FOUND, &message)
}

fn invalid_field(field: &str, value: &str) -> Box<Answer> {
    let message = format!("Invalid value for field '{field}': '{value}'.");
    answer::refusal(StatusCode::BAD_REQUEST, &message)
}
