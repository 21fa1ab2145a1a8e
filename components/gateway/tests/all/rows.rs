//! One test for each row of a table of refusals.

/// Tests named for their rows, each of which calls `$check` with what the method says, and the status and text that are to come of it.
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

/// Google's answer about something that is not there.
pub fn absent() -> ApiRefusal {
    ApiRefusal {
        status: 404,
        message: "Not found".to_owned(),
        reason: "notFound".to_owned(),
    }
}

/// Google's answer when the root credentials may not see something.
pub fn hidden() -> ApiRefusal {
    ApiRefusal {
        status: 403,
        message: "Permission denied".to_owned(),
        reason: "forbidden".to_owned(),
    }
}

/// The same of the account `x@p`.
pub fn account(refusal: ApiRefusal) -> AccountRefusal {
    AccountRefusal {
        account: "x@p".to_owned(),
        refusal,
    }
}

pub fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
