//! Conversions of values between this program and the component inside it.
//!
//! The types of [`gatehouse_auth_method_api`] and those that wasmtime generates have the same names, fields and cases. One type cannot be
//! both in wasmtime 48. What a component takes and returns has to implement `ComponentType`, `Lift` and `Lower`, which are only to be
//! derived: on the type itself, and with the WIT's name of each field and case in an attribute. `wit_bindgen`, which makes the types of that
//! crate for components as well as for native programs, writes such attributes from a line for each of them, and the crate would depend on
//! the engine. The option `with` of `bindgen!` does not help: it replaces imported interfaces and resources, and the types of an exported
//! interface are generated in any case.
//!
//! So the build script lists all types that the WIT defines, for the macros here; the compiler holds the lists to both sides, and a new
//! field or case needs nothing here.

use std::net::IpAddr;

use gatehouse_auth_method_api as api;
use gatehouse_ports::IpAddress;

use super::bindings::exports::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit, types as types_wit,
};
use crate::runtime::addresses::wit as addresses_wit;

/// A type that takes its values from the other side.
pub(super) trait FromAcross<T> {
    /// The same value on this side.
    fn from_across(value: T) -> Self;
}

/// A value that has a twin on the other side: [`FromAcross`] as callers want it.
pub(super) trait Across<T> {
    /// The same value on the other side.
    fn across(self) -> T;
}

impl<T, U: FromAcross<T>> Across<U> for T {
    fn across(self) -> U {
        U::from_across(self)
    }
}

macro_rules! themselves {
    ($($same:ty),+) => {
        $(
            impl FromAcross<$same> for $same {
                fn from_across(value: $same) -> Self {
                    value
                }
            }
        )+
    };
}

themselves!((), bool, u8, u16, u32, u64, i64, String);

impl FromAcross<IpAddress> for addresses_wit::IpAddress {
    fn from_across(value: IpAddress) -> Self {
        IpAddr::from(value).into()
    }
}

impl FromAcross<addresses_wit::IpAddress> for IpAddress {
    fn from_across(value: addresses_wit::IpAddress) -> Self {
        IpAddr::from(value).into()
    }
}

impl<T, U: FromAcross<T>> FromAcross<Option<T>> for Option<U> {
    fn from_across(value: Option<T>) -> Self {
        value.map(Across::across)
    }
}

impl<T, U: FromAcross<T>> FromAcross<Vec<T>> for Vec<U> {
    fn from_across(value: Vec<T>) -> Self {
        value.into_iter().map(Across::across).collect()
    }
}

impl<A, B, C: FromAcross<A>, D: FromAcross<B>> FromAcross<(A, B)> for (C, D) {
    fn from_across((first, second): (A, B)) -> Self {
        (first.across(), second.across())
    }
}

impl<T, E, U: FromAcross<T>, F: FromAcross<E>> FromAcross<Result<T, E>> for Result<U, F> {
    fn from_across(value: Result<T, E>) -> Self {
        value.map(Across::across).map_err(Across::across)
    }
}

/// A record that goes from the module on the left to the one on the right.
macro_rules! record {
    ($from:ident => $to:ident :: $name:ident { $($field:ident),+ $(,)? }) => {
        impl FromAcross<$from::$name> for $to::$name {
            fn from_across(value: $from::$name) -> Self {
                Self { $($field: value.$field.across()),+ }
            }
        }
    };
}

/// Cases that go from the module on the left to the one on the right: those that hold nothing, then those that hold a value.
macro_rules! cases {
    ($from:ident => $to:ident :: $name:ident { $($empty:ident),* $(,)? } $(holds { $($holding:ident),* $(,)? })?) => {
        impl FromAcross<$from::$name> for $to::$name {
            fn from_across(value: $from::$name) -> Self {
                match value {
                    $($from::$name::$empty => Self::$empty,)*
                    $($($from::$name::$holding(value) => Self::$holding(value.across()),)*)?
                }
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/crossing.rs"));
