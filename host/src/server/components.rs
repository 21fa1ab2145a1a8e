//! The stores and caches of the composed components, the services of the host, and the grants of an instance.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use gatehouse_engine::{EngineSettings, engine};
use gatehouse_store::{Backend, Namespace, PrivateStore, SharedClock};
use wasmtime::component::InstancePre;

use crate::application_credentials;
use crate::clock::SteadyClock;
use crate::console;
use crate::metrics::ServerMetrics;
use crate::outbound::{Outbound, OutboundHooks};
use crate::runtime::background::{Background, BackgroundSettings};
use crate::runtime::cache::{self, SharedCache};
use crate::runtime::linker::{ensure_imports_are_met, linker};
use crate::runtime::served;
use crate::runtime::services::{self, Services};
use crate::runtime::state::{Grants, InstanceState};
use crate::runtime::storage;
use crate::settings::Settings;

/// The stores of the composition: the name of the import, and the part of the backend behind it.
const STORES: [(&str, Namespace); 3] = [
    ("auth-method-storage", Namespace::AuthMethod),
    ("access-storage", Namespace::Access),
    ("orgs-storage", Namespace::Orgs),
];

/// The caches of the composition: the names of the imports, each with a map of its own behind it.
const CACHES: [&str; 1] = ["auth-method-cache"];

/// The variable by which the components get the text of the server's own credentials at Google.
const CREDENTIALS_VARIABLE: &str = "GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS";

/// The grants of an instance that serves requests.
pub(super) fn grants(
    settings: &Settings,
    local_address: SocketAddr,
    metrics: &Arc<ServerMetrics>,
    clock: &Arc<SteadyClock>,
) -> Result<Grants> {
    let outbound = Outbound::new(&settings.google, &settings.limits)?;
    let outbound = Arc::new(
        outbound
            .counted_in(Arc::clone(metrics))
            .witnessing_to(Arc::clone(clock)),
    );
    let mut environment = settings.environment_for_components(local_address);
    if settings.console.enabled {
        let key_file = settings.seal.key_file.as_deref();
        environment.extend(console::environment(&settings.console, key_file)?);
    }
    if let Some(file) = &settings.google.application_credentials {
        let credentials = application_credentials::read(file)?;
        tracing::info!("credentials at Google come from {}", file.display());
        environment.push((CREDENTIALS_VARIABLE.to_owned(), credentials.to_string()));
    }
    Ok(Grants {
        environment,
        outbound: Arc::new(move || Box::new(OutboundHooks::new(Arc::clone(&outbound)))),
        clock: Arc::clone(clock) as SharedClock,
        memory_limit: settings.limits.instance_memory,
        cpu_time: settings.limits.instance_cpu_time,
    })
}

/// The components' background work, unless it is switched off or they have none.
pub(super) fn background(
    settings: &Settings,
    template: &InstancePre<InstanceState>,
    grants: &Grants,
) -> Option<Background> {
    let limits = &settings.limits;
    let grants = Grants {
        cpu_time: limits.background_cpu_time,
        ..grants.clone()
    };
    let settings = BackgroundSettings {
        interval: limits.background_interval?,
        wall_time: limits.background_wall_time,
    };
    Background::find(template, grants, settings)
}

/// The composed components, joined to what they import.
pub(super) fn template(
    settings: &Settings,
    backend: &Arc<dyn Backend>,
    clock: &SharedClock,
    services: &Services,
) -> Result<InstancePre<InstanceState>> {
    // One more than there are requests at one time: background work never takes the place of one.
    let instances = u32::try_from(settings.limits.instances)
        .ok()
        .and_then(|instances| instances.checked_add(1));
    let engine = engine(EngineSettings {
        instances: instances.context("limits.instances is too large")?,
        memory_limit: settings.limits.instance_memory,
    })
    .context("lower limits.instances or limits.instance_memory")?;
    let component = served::load(&engine, settings.components.cache_directory.as_deref())?;
    let mut linker = linker(&engine)?;
    for (name, namespace) in STORES {
        let store = PrivateStore::new(Arc::clone(backend), namespace);
        storage::bind(&mut linker, name, store)?;
    }
    for name in CACHES {
        cache::bind(&mut linker, name, SharedCache::new(Arc::clone(clock)))?;
    }
    services::bind(&mut linker, services)?;
    ensure_imports_are_met(&linker, &component)?;
    Ok(linker.instantiate_pre(&component)?)
}
