//! Confirmations of what cannot be undone: its name is typed once more.

use maud::Markup;

use crate::api::ApiError;
use crate::form::Fields;
use crate::layout::input;

/// The field of a form that takes the name.
const TYPED: &str = "typed";

/// The field, called `label`. `help` asks to type the name.
pub fn typing(label: &str, help: &str) -> Markup {
    input(TYPED, label, help, "")
}

/// True if the form has the field: a button of a list leads to the page with that form, and sends none.
pub fn is_asked(form: &Fields) -> bool {
    form.is_ticked(TYPED)
}

/// Makes sure that `name` was typed; slashes at its ends do not matter.
///
/// # Errors
///
/// When something else was typed: then `what`, such as `path`, is a different one, and nothing was `done`.
pub fn require_typed(form: &Fields, name: &str, what: &str, done: &str) -> Result<(), ApiError> {
    match form.text(TYPED).trim_matches('/') == name {
        true => Ok(()),
        false => Err(ApiError::new(
            400,
            format!("the typed {what} is a different one; nothing was {done}"),
        )),
    }
}
