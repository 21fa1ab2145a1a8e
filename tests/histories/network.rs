//! Two of three servers have a network to their database that becomes slow and is cut while clients are at work: what was answered counts,
//! and what was not may have happened or not, once (SEC-S7, S9, T4, T5).

use std::thread::sleep;
use std::time::Duration;

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive};
use gatehouse_tests::{DatabaseLink, Installation, Storage};

use crate::HOST;
use crate::connection::{Connection, rounds};
use crate::disturbance::{CLIENTS, Servers};
use crate::recovery::await_all_serving;

/// How long a piece of what passes is held back at most: several statements of one request stay within what a server waits for.
const DELAY: Duration = Duration::from_millis(60);
/// How long the network is slow, until it is cut, and between two cuts.
const SLOW: Duration = Duration::from_millis(400);
/// Calls of each client, before the trouble and after it.
const CALLS: usize = 24;
const ROUNDS: usize = 2;

/// Three servers, of which the two further ones reach their database over links.
struct Linked {
    servers: Servers,
    links: [DatabaseLink; 2],
}

impl Linked {
    fn start() -> Self {
        let installation =
            Installation::start_program(HOST.program(), Storage::Postgres, "").unwrap();
        let port = installation.database().port();
        let links = [(); 2].map(|()| DatabaseLink::start(port).unwrap());
        let further = links.each_ref();
        let further = further.map(|link| installation.another_server_over(link).unwrap());
        let servers = Servers {
            installation,
            further: further.into(),
        };
        Self { servers, links }
    }

    /// Slows and cuts the links once `object` has had the number of calls in `after`; new clients continue when every server serves again.
    fn trouble(
        &mut self,
        object: &dyn Object,
        after: (&dyn Fn() -> usize, usize),
        seed: u64,
    ) -> Connection {
        let links = &self.links;
        let counts = || links.each_ref().map(DatabaseLink::counts);
        let before = counts();
        let server = self.servers.disturb(object, CALLS, seed, after, |_| {
            for link in links {
                link.delay(DELAY);
            }
            for link in links {
                sleep(SLOW);
                link.cut();
            }
            sleep(SLOW);
            for link in links {
                link.delay(Duration::ZERO);
                link.cut();
            }
        });
        await_all_serving(&self.servers);
        for ((delayed, cut), (delayed_before, cut_before)) in counts().into_iter().zip(before) {
            assert!(delayed > delayed_before, "nothing was held back");
            assert!(cut > cut_before, "nothing was cut");
        }
        drive(object, &server, CLIENTS, 4, seed);
        server
    }
}

fn over_troubled_networks(round: impl Fn(&mut Linked, u64)) {
    let mut linked = Linked::start();
    rounds(ROUNDS).for_each(|number| round(&mut linked, number));
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_troubled_network() {
    over_troubled_networks(|linked, round| {
        let token = CountedToken::create(&linked.servers.connect(), 120, 0);
        let count = || token.recorder().count();
        let server = linked.trouble(&token, (&count, 40), round);
        token.settle(&server).unwrap();
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_troubled_network() {
    over_troubled_networks(|linked, round| {
        let family = TokenFamily::create(&linked.servers.connect());
        let count = || family.recorder().count();
        let server = linked.trouble(&family, (&count, 40), round);
        family.settle(&server).unwrap();
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_troubled_network() {
    over_troubled_networks(|linked, round| {
        let response = WrappedResponse::create(&linked.servers.connect());
        let count = || response.recorder().count();
        let server = linked.trouble(&response, (&count, 10), round);
        response.settle(&server).unwrap();
    });
}
