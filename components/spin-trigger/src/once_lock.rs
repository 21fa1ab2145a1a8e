//! A fallible initialization that is tried again after a failure.

use std::sync::OnceLock;

/// Returns the value in `place`, made by `make` if there is none. A failure leaves the place empty, so that the next caller tries again:
/// a setting or a host may be missing for a moment only.
///
/// # Errors
///
/// The error of `make`.
pub fn get_or_try_init<T, E>(
    place: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<&T, E> {
    if let Some(made) = place.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(place.get_or_init(|| made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_passes_and_a_success_stays() {
        let place = OnceLock::new();
        assert_eq!(get_or_try_init(&place, || Err("away")), Err("away"));
        assert_eq!(get_or_try_init(&place, || Ok::<_, &str>(1)), Ok(&1));
        assert_eq!(get_or_try_init(&place, || Err("away")), Ok(&1));
    }
}
