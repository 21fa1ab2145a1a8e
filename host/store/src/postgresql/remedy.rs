//! The remedies for a database that lets no server in, or refuses: chosen by the cause, where the words of the error do not name one.

use std::error::Error;
use std::io;

use rustls::CertificateError;
use tokio_postgres::error::SqlState;

/// For a database that keeps a caller waiting.
pub const NO_ANSWER: &str = "see that the database server runs, that storage.url leads to it, and that no firewall keeps this machine from it";

const LET_IN: &str = "correct the user in storage.url, the password in storage.password_file, or pg_hba.conf of the database server";
const NAME_PRIMARY: &str =
    "name the primary in storage.url, and set default_transaction_read_only = off there";
const NOT_LISTENING: &str = "start the database server, or correct host and port in storage.url; listen_addresses of the database server says where \
                             it listens";
const NO_SOCKET: &str = "start the database server, or name the folder of its socket in storage.url, as its unix_socket_directories has it";
const NO_SUCH_HOST: &str = "correct the host in storage.url, or the name service of this machine";
const NO_TLS: &str =
    "set ssl = on at the database server, with a certificate for the host in storage.url";
const NOT_TRUSTED: &str =
    "name the file with the certificate of the authority that signed it in storage.ca_file";
const OTHER_NAME: &str = "name the database server in storage.url as its certificate does, or give it a certificate for the name there";
const OUT_OF_DATE: &str =
    "renew the certificate of the database server, or correct the clock of this machine";
const NO_AUTHORITY: &str = "give the database server a certificate that is not an authority's own (basicConstraints CA:FALSE), and name the one \
                            that signed it in storage.ca_file";
const NOT_RUNNING: &str = "start the database server if it was stopped, or wait until it accepts connections: servers go on by themselves then";

const BY_SESSION: &str = "have the pooler between this server and the database lend out connections by session, not by transaction or statement";

/// The remedy for this error, where one is known.
pub fn remedy(error: &tokio_postgres::Error) -> Option<&'static str> {
    match error.code() {
        Some(code) => of_refusal(code),
        None => causes(error).find_map(of_cause),
    }
}

/// The value of one host's error to an operator who asks why none of several hosts can be used, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// It takes no writes, as all hosts but one are meant to.
    Standby,
    /// No database server answers there.
    Absent,
    /// A database server answers that it lets no caller in for now.
    NotReady,
    /// A database server answers and refuses: it has to let this server in, or this server has to ask otherwise.
    Refusal,
}

/// The meaning of the error with which a host was left.
pub fn meaning(error: &tokio_postgres::Error) -> Meaning {
    meaning_of(error.code().is_some(), remedy(error))
}

fn meaning_of(is_answer: bool, remedy: Option<&'static str>) -> Meaning {
    match remedy {
        Some(NAME_PRIMARY) => Meaning::Standby,
        Some(NOT_RUNNING) => Meaning::NotReady,
        Some(NOT_LISTENING | NO_SOCKET | NO_SUCH_HOST | NO_ANSWER) => Meaning::Absent,
        None if !is_answer => Meaning::Absent,
        _ => Meaning::Refusal,
    }
}

/// The causes of an error, the nearest first.
pub fn causes(error: &tokio_postgres::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| {
        let cause: &(dyn Error + 'static) = *cause;
        cause.source()
    })
}

fn of_refusal(code: &SqlState) -> Option<&'static str> {
    Some(match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => LET_IN,
        SqlState::INVALID_CATALOG_NAME => "make the database, or correct its name in storage.url",
        SqlState::TOO_MANY_CONNECTIONS => {
            "raise max_connections of the database server, or the limit of its user or database where that is what is said, or lower \
             storage.connections of those that use it"
        }
        SqlState::CANNOT_CONNECT_NOW | SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => {
            NOT_RUNNING
        }
        SqlState::DISK_FULL => "make room on the disk of the database server",
        SqlState::READ_ONLY_SQL_TRANSACTION => NAME_PRIMARY,
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT => BY_SESSION,
        _ => return None,
    })
}

fn of_cause(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    let io = cause.downcast_ref::<io::Error>();
    // An error of TLS is inside of one of input and output, which does not name it among its causes.
    let inner = io.and_then(io::Error::get_ref);
    if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return of_tls(tls);
    }
    of_words(&cause.to_string()).or_else(|| of_kind(io?.kind()))
}

/// The remedy for an error that the client of the database or the name service reports only in words.
fn of_words(text: &str) -> Option<&'static str> {
    let remedies = [
        ("password missing", LET_IN),
        ("does not allow writes", NAME_PRIMARY),
        ("does not support TLS", NO_TLS),
        ("failed to lookup address", NO_SUCH_HOST),
        ("could not resolve any addresses", NO_SUCH_HOST),
    ];
    let mut remedies = remedies.into_iter();
    remedies.find_map(|(words, remedy)| text.contains(words).then_some(remedy))
}

const fn of_kind(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ConnectionRefused => Some(NOT_LISTENING),
        io::ErrorKind::NotFound => Some(NO_SOCKET),
        io::ErrorKind::TimedOut
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable => Some(NO_ANSWER),
        _ => None,
    }
}

fn of_tls(error: &rustls::Error) -> Option<&'static str> {
    let rustls::Error::InvalidCertificate(reason) = error else {
        return None;
    };
    Some(match reason {
        // A certificate that replaced another one of the same name has another signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => NOT_TRUSTED,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            OTHER_NAME
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => OUT_OF_DATE,
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            NO_AUTHORITY
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_io(error: io::Error) -> Option<&'static str> {
        of_cause(&error)
    }

    fn of_certificate(reason: CertificateError) -> Option<&'static str> {
        let error = rustls::Error::InvalidCertificate(reason);
        of_io(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn the_kind_of_a_failed_connection_says_what_mends_it() {
        for (kind, remedy) in [
            (io::ErrorKind::ConnectionRefused, Some(NOT_LISTENING)),
            (io::ErrorKind::NotFound, Some(NO_SOCKET)),
            (io::ErrorKind::TimedOut, Some(NO_ANSWER)),
            (io::ErrorKind::HostUnreachable, Some(NO_ANSWER)),
            (io::ErrorKind::NetworkUnreachable, Some(NO_ANSWER)),
            (io::ErrorKind::ConnectionReset, None),
        ] {
            assert_eq!(of_io(kind.into()), remedy, "{kind:?}");
        }
        let words = "failed to lookup address information: Name or service not known";
        assert_eq!(of_io(io::Error::other(words)), Some(NO_SUCH_HOST));
    }

    #[test]
    fn the_reason_for_which_a_certificate_is_not_accepted_says_what_mends_it() {
        for (reason, remedy) in [
            (CertificateError::UnknownIssuer, Some(NOT_TRUSTED)),
            (CertificateError::BadSignature, Some(NOT_TRUSTED)),
            (CertificateError::NotValidForName, Some(OTHER_NAME)),
            (CertificateError::Expired, Some(OUT_OF_DATE)),
            (CertificateError::NotValidYet, Some(OUT_OF_DATE)),
            (CertificateError::Revoked, None),
        ] {
            assert_eq!(of_certificate(reason.clone()), remedy, "{reason:?}");
        }
    }

    #[test]
    fn of_the_errors_of_several_hosts_that_tells_most_which_has_to_be_mended() {
        let told = [
            (false, Some(NAME_PRIMARY)),
            (false, Some(NOT_LISTENING)),
            (true, Some(NOT_RUNNING)),
            (true, Some(LET_IN)),
        ];
        let meanings = told.map(|(is_answer, remedy)| meaning_of(is_answer, remedy));
        assert!(meanings.is_sorted_by(|less, more| less < more));
        // A connection that was reset, and a code without a remedy.
        assert_eq!(meaning_of(false, None), Meaning::Absent);
        assert_eq!(meaning_of(true, None), Meaning::Refusal);
        assert_eq!(meaning_of(false, Some(NOT_TRUSTED)), Meaning::Refusal);
    }

    #[test]
    fn a_refusal_at_the_door_says_what_mends_it_by_its_code() {
        for (code, remedy) in [
            (SqlState::INVALID_PASSWORD, Some(LET_IN)),
            (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, Some(LET_IN)),
            (SqlState::CANNOT_CONNECT_NOW, Some(NOT_RUNNING)),
            (SqlState::ADMIN_SHUTDOWN, Some(NOT_RUNNING)),
            (SqlState::CRASH_SHUTDOWN, Some(NOT_RUNNING)),
            (SqlState::SYNTAX_ERROR, None),
        ] {
            assert_eq!(of_refusal(&code), remedy, "{code:?}");
        }
    }
}
