//! How the values of this capability cross the border of a component.
//!
//! The types that are generated from the WIT are others on each side of an import, and have the same names and fields as the types of this
//! crate. What becomes of what is therefore written down once, in [`crossings!`](crate::crossings), for the component that exports the
//! capability and for those that import it.

mod forms;
mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A type that takes its values from the other side.
pub trait FromAcross<T> {
    /// The same value on this side.
    fn from_across(value: T) -> Self;
}

/// A value that has a twin on the other side: [`FromAcross`] as callers want it.
pub trait Across<T> {
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

impl FromAcross<Cow<'static, str>> for String {
    fn from_across(value: Cow<'static, str>) -> Self {
        value.into_owned()
    }
}

impl FromAcross<String> for Cow<'static, str> {
    fn from_across(value: String) -> Self {
        Self::Owned(value)
    }
}

impl FromAcross<usize> for u32 {
    fn from_across(value: usize) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }
}

impl FromAcross<u32> for usize {
    fn from_across(value: u32) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }
}

impl<T, U: FromAcross<T>> FromAcross<T> for Box<U> {
    fn from_across(value: T) -> Self {
        Self::new(value.across())
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

impl FromAcross<BTreeMap<String, String>> for Vec<(String, String)> {
    fn from_across(value: BTreeMap<String, String>) -> Self {
        value.into_iter().collect()
    }
}

impl FromAcross<Vec<(String, String)>> for BTreeMap<String, String> {
    fn from_across(value: Vec<(String, String)>) -> Self {
        value.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_as_it_went() {
        let labels = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let crossed: Vec<(String, String)> = labels.clone().across();
        assert_eq!(Across::<BTreeMap<_, _>>::across(crossed), labels);
        let names: Vec<Cow<'static, str>> = vec![Cow::Borrowed("a")];
        let crossed: Vec<String> = names.clone().across();
        assert_eq!(Across::<Vec<Cow<'static, str>>>::across(crossed), names);
    }

    #[test]
    fn a_place_beyond_the_wire_is_cut_and_not_wrapped() {
        assert_eq!(Across::<u32>::across(usize::MAX), u32::MAX);
    }
}
