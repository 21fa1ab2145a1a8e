//! The import `gatehouse:host/seal`: its functions about keys and ceremonies.

use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Lift, Linker, Lower};
use zeroize::Zeroizing;

use super::keys::RotationPolicy;
use super::seal::INTERFACE;
use super::{Answer, Ceremonies, CeremonyError, Keys, Seal, SealError};
use crate::runtime::state::InstanceState;

/// The answers of a host that has no keys or no shares.
trait Absent {
    fn absent() -> Self;
}

impl Absent for SealError {
    fn absent() -> Self {
        Self::Unavailable("this host keeps no keys".to_owned())
    }
}

impl Absent for CeremonyError {
    fn absent() -> Self {
        Self::Failure(SealError::Automatic)
    }
}

fn keys(seal: &dyn Seal) -> Result<&dyn Keys, SealError> {
    seal.keys().ok_or_else(SealError::absent)
}

fn ceremonies(seal: &dyn Seal) -> Result<&dyn Ceremonies, CeremonyError> {
    seal.ceremonies().ok_or_else(CeremonyError::absent)
}

/// Binds a function of the interface. `retires` is for those that a secret goes through: the instance serves no other request then, so that
/// its memory does not outlive the request.
fn wrap<P, T>(
    linker: &mut Linker<InstanceState>,
    seal: &Arc<dyn Seal>,
    name: &str,
    retires: bool,
    call: fn(&dyn Seal, P) -> Answer<'_, T>,
) -> wasmtime::Result<()>
where
    P: ComponentNamedList + Lift + Send + Sync + 'static,
    T: Lower + Send + Sync + 'static,
    (T,): ComponentNamedList + Lower,
{
    let bound = Arc::clone(seal);
    linker.instance(INTERFACE)?.func_wrap_async(
        name,
        move |mut store: StoreContextMut<'_, InstanceState>, parameters: P| {
            if retires {
                store.data_mut().retire();
            }
            let seal = Arc::clone(&bound);
            Box::new(async move { Ok((call(&*seal, parameters).await,)) })
        },
    )
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    seal: &Arc<dyn Seal>,
) -> wasmtime::Result<()> {
    bind_keys(linker, seal)?;
    bind_root_generation(linker, seal)?;
    bind_rekey(linker, seal)
}

fn bind_keys(linker: &mut Linker<InstanceState>, seal: &Arc<dyn Seal>) -> wasmtime::Result<()> {
    wrap(linker, seal, "current-key", false, |seal, (): ()| {
        Box::pin(async move { keys(seal)?.current().await })
    })?;
    wrap(linker, seal, "rotate-key", false, |seal, (): ()| {
        Box::pin(async move { keys(seal)?.rotate().await })
    })?;
    wrap(
        linker,
        seal,
        "current-rotation-policy",
        false,
        |seal, (): ()| Box::pin(async move { keys(seal)?.policy().await }),
    )?;
    wrap(
        linker,
        seal,
        "set-rotation-policy",
        false,
        |seal, (policy,): (RotationPolicy,)| {
            Box::pin(async move { keys(seal)?.set_policy(policy).await })
        },
    )
}

fn bind_root_generation(
    linker: &mut Linker<InstanceState>,
    seal: &Arc<dyn Seal>,
) -> wasmtime::Result<()> {
    wrap(linker, seal, "root-generation", false, |seal, (): ()| {
        Box::pin(async move { ceremonies(seal)?.root_generation().await })
    })?;
    wrap(
        linker,
        seal,
        "begin-root-generation",
        true,
        |seal, (password, origin): (Vec<u8>, String)| {
            let password = Zeroizing::new(password);
            Box::pin(async move {
                let ceremonies = ceremonies(seal)?;
                ceremonies.begin_root_generation(password, origin).await
            })
        },
    )?;
    wrap(
        linker,
        seal,
        "cancel-root-generation",
        false,
        |seal, (origin,): (String,)| {
            Box::pin(async move { ceremonies(seal)?.cancel_root_generation(origin).await })
        },
    )?;
    wrap(
        linker,
        seal,
        "give-for-root",
        true,
        |seal, (share, nonce): (Vec<u8>, String)| {
            let share = Zeroizing::new(share);
            Box::pin(async move { ceremonies(seal)?.give_for_root(share, nonce).await })
        },
    )
}

fn bind_rekey(linker: &mut Linker<InstanceState>, seal: &Arc<dyn Seal>) -> wasmtime::Result<()> {
    wrap(linker, seal, "rekey", false, |seal, (): ()| {
        Box::pin(async move { ceremonies(seal)?.rekey().await })
    })?;
    wrap(
        linker,
        seal,
        "begin-rekey",
        false,
        |seal, (shares, threshold, verification, origin): (u32, u32, bool, String)| {
            Box::pin(async move {
                let ceremonies = ceremonies(seal)?;
                ceremonies
                    .begin_rekey(shares, threshold, verification, origin)
                    .await
            })
        },
    )?;
    wrap(
        linker,
        seal,
        "cancel-rekey",
        false,
        |seal, (origin,): (String,)| {
            Box::pin(async move { ceremonies(seal)?.cancel_rekey(origin).await })
        },
    )?;
    wrap(
        linker,
        seal,
        "give-for-rekey",
        true,
        |seal, (share, nonce): (Vec<u8>, String)| {
            let share = Zeroizing::new(share);
            Box::pin(async move { ceremonies(seal)?.give_for_rekey(share, nonce).await })
        },
    )?;
    wrap(linker, seal, "rekey-verification", false, |seal, (): ()| {
        Box::pin(async move { ceremonies(seal)?.rekey_verification().await })
    })?;
    wrap(
        linker,
        seal,
        "verify-rekey",
        true,
        |seal, (share, nonce): (Vec<u8>, String)| {
            let share = Zeroizing::new(share);
            Box::pin(async move { ceremonies(seal)?.verify_rekey(share, nonce).await })
        },
    )?;
    wrap(
        linker,
        seal,
        "restart-rekey-verification",
        false,
        |seal, (origin,): (String,)| {
            Box::pin(async move { ceremonies(seal)?.restart_rekey_verification(origin).await })
        },
    )
}
