//! The import `gatehouse:host/seal`: the seal.

use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::Linker;
use zeroize::Zeroizing;

use super::bindings::gatehouse::host::seal as wit;
use super::{Answer, Ceremonies, Keys};
use crate::runtime::state::InstanceState;

pub(super) const INTERFACE: &str = "gatehouse:host/seal@0.1.0";

pub use wit::{InitializeError, Progress, SealError, UnsealError};

/// The seal of the stores. The WIT interface is the specification.
pub trait Seal: Send + Sync {
    /// How far the seal of shares is; `None` where the seal is automatic.
    fn status(&self) -> Answer<'_, Result<Option<Progress>, SealError>>;

    /// Makes the key and its shares and opens the stores.
    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Answer<'_, Result<Vec<Zeroizing<Vec<u8>>>, InitializeError>>;

    /// Ends what [`Self::begin_initialization`] began.
    fn finish_initialization(&self) -> Answer<'_, Result<(), SealError>>;

    /// Gives up what [`Self::begin_initialization`] began.
    fn abandon_initialization(&self) -> Answer<'_, Result<(), SealError>>;

    /// Gives one share.
    fn unseal(&self, share: Zeroizing<Vec<u8>>) -> Answer<'_, Result<Progress, UnsealError>>;

    /// Forgets the shares that were given so far.
    fn reset_unseal(&self) -> Answer<'_, Result<Progress, SealError>>;

    /// Forgets the key.
    fn seal(&self) -> Answer<'_, Result<(), SealError>>;

    /// Makes all servers that share the stores forget the key, this one at once.
    fn seal_all(&self) -> Answer<'_, Result<(), SealError>>;

    /// The keys that seal what is stored, where there are any.
    fn keys(&self) -> Option<&dyn Keys> {
        None
    }

    /// The ceremonies of holders of shares, where there are shares.
    fn ceremonies(&self) -> Option<&dyn Ceremonies> {
        None
    }
}

/// An automatic seal, for which an operator needs to do nothing and can do nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutomaticSeal;

impl Seal for AutomaticSeal {
    fn status(&self) -> Answer<'_, Result<Option<Progress>, SealError>> {
        Box::pin(async { Ok(None) })
    }

    fn begin_initialization(
        &self,
        shares: u32,
        _: u32,
    ) -> Answer<'_, Result<Vec<Zeroizing<Vec<u8>>>, InitializeError>> {
        Box::pin(async move {
            if shares > 1 {
                return Err(InitializeError::Failure(SealError::Automatic));
            }
            Ok(Vec::new())
        })
    }

    fn finish_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async { Ok(()) })
    }

    fn abandon_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async { Ok(()) })
    }

    fn unseal(&self, _: Zeroizing<Vec<u8>>) -> Answer<'_, Result<Progress, UnsealError>> {
        Box::pin(async { Err(UnsealError::Failure(SealError::Automatic)) })
    }

    fn reset_unseal(&self) -> Answer<'_, Result<Progress, SealError>> {
        Box::pin(async { Err(SealError::Automatic) })
    }

    fn seal(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async { Err(SealError::Automatic) })
    }

    fn seal_all(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async { Err(SealError::Automatic) })
    }
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    seal: &Arc<dyn Seal>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("status", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.status().await,)) })
    })?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async(
        "begin-initialization",
        move |mut store: StoreContextMut<'_, InstanceState>, (shares, threshold): (u32, u32)| {
            store.data_mut().retire();
            let seal = Arc::clone(&bound);
            Box::new(async move {
                let made = seal.begin_initialization(shares, threshold).await;
                let plain = |shares: Vec<Zeroizing<Vec<u8>>>| -> Vec<Vec<u8>> {
                    shares.iter().map(|share| share.to_vec()).collect()
                };
                Ok((made.map(plain),))
            })
        },
    )?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("finish-initialization", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.finish_initialization().await,)) })
    })?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("abandon-initialization", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.abandon_initialization().await,)) })
    })?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async(
        "unseal",
        move |mut store: StoreContextMut<'_, InstanceState>, (share,): (Vec<u8>,)| {
            store.data_mut().retire();
            let seal = Arc::clone(&bound);
            let share = Zeroizing::new(share);
            Box::new(async move { Ok((seal.unseal(share).await,)) })
        },
    )?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("reset-unseal", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.reset_unseal().await,)) })
    })?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("seal", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.seal().await,)) })
    })?;
    let bound = Arc::clone(seal);
    instance.func_wrap_async("seal-all", move |_, ()| {
        let seal = Arc::clone(&bound);
        Box::new(async move { Ok((seal.seal_all().await,)) })
    })
}
