//! One test for each row of a table of refusals.

/// Defines tests named after their rows. Each calls `$check` with the result of the method, and with the expected status and text.
macro_rules! rows {
    ($check:ident: $($row:ident: $error:expr => $status:literal $text:expr;)+) => {
        $(
            #[test]
            fn $row() {
                $check($error, $status, $text);
            }
        )+
    };
}

pub(crate) use rows;

use gatehouse_auth_method::{AccountRefusal, ApiRefusal};

/// Google's answer for a resource that does not exist.
pub fn absent() -> ApiRefusal {
    ApiRefusal {
        status: 404,
        message: "Not found".to_owned(),
        reason: "notFound".to_owned(),
    }
}

/// Google's answer when the root credentials may not see a resource.
pub fn hidden() -> ApiRefusal {
    ApiRefusal {
        status: 403,
        message: "Permission denied".to_owned(),
        reason: "forbidden".to_owned(),
    }
}

/// The same for the account `x@p`.
pub fn account(refusal: ApiRefusal) -> AccountRefusal {
    AccountRefusal {
        account: "x@p".to_owned(),
        refusal,
    }
}

pub fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
