//! Uses of tokens that have a limited number of them, over a store that fails (SEC-T4).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::interposed::{Fate, interposed};
use crate::server::{Server, lookup_self};
use gatehouse_access::{AdmissionError, Requests as _, ServiceError, TokenParameters};

#[test]
fn t4_a_use_of_which_nobody_knows_whether_it_was_taken_counts_as_used() {
    for uses in 1..=20 {
        let server = Server::ready();
        let token = server.log_in(TokenParameters {
            num_uses: uses,
            ..TokenParameters::default()
        });
        let unknown = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&unknown);
        let access = interposed(&server, move |number, _| match number % 3 {
            0 => Fate::Asked,
            1 => Fate::Lost,
            _ => {
                counter.fetch_add(1, Ordering::SeqCst);
                Fate::Unknown
            }
        });
        let request = lookup_self(token.client_token.as_str());
        let mut admitted = 0;
        loop {
            match access.admit(&request) {
                Ok(_) => admitted += 1,
                Err(AdmissionError::Failure(ServiceError::Unavailable(_))) => {}
                Err(refusal) => {
                    assert_eq!(refusal, AdmissionError::InvalidToken);
                    break;
                }
            }
        }
        assert_eq!(admitted + unknown.load(Ordering::SeqCst), uses);
        assert!(!server.is_valid(token.client_token.as_str()));
    }
}
