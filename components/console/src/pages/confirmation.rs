//! Confirmations of actions that cannot be undone: the visitor types the name once more.

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

/// True if the form has the field. The button of a list does not send it, and leads to the page with the form that does.
pub fn is_asked(form: &Fields) -> bool {
    form.is_ticked(TYPED)
}

/// Makes sure that `name` was typed; slashes at the ends of the typed text do not matter.
///
/// # Errors
///
/// When another text was typed. The message says that the typed `what`, such as `path`, is a different one, and that nothing was `done`.
pub fn require_typed(form: &Fields, name: &str, what: &str, done: &str) -> Result<(), ApiError> {
    match form.text(TYPED).trim_matches('/') == name {
        true => Ok(()),
        false => Err(ApiError::new(
            400,
            format!("the typed {what} is a different one; nothing was {done}"),
        )),
    }
}
