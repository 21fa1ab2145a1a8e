//! A second server that follows a first one, and can take its place.

use std::time::Duration;

use tokio_postgres::Client;

use crate::{PostgresServer, command, connect, folder};

/// Commits are acknowledged from here on when the standby has them too.
const WAIT_FOR_STANDBY: &str = "alter system set synchronous_standby_names = '*'";
const RELOAD: &str = "select pg_reload_conf()";
const IS_FOLLOWED: &str =
    "select exists (select from pg_stat_replication where sync_state = 'sync')";
const IS_PRIMARY: &str = "select not pg_is_in_recovery()";

impl PostgresServer {
    /// Starts a synchronous standby of this server, which stops for a moment. Returns once commits wait for the standby.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub async fn start_standby(&self) -> Self {
        self.stop();
        let folder = folder();
        let copied = command("cp".as_ref())
            .arg("-a")
            .arg(self.folder.path().join("data"))
            .arg(folder.path())
            .status()
            .expect("cp can be run");
        assert!(copied.success(), "the data cannot be copied");
        self.start_again();
        let signal = folder.path().join("data/standby.signal");
        let made = command("touch".as_ref()).arg(signal).status();
        assert!(made.expect("touch can be run").success());
        let primary = format!(
            "primary_conninfo=host=127.0.0.1 port={} user=owner",
            self.port
        );
        let standby = Self::run(self.programs.clone(), folder, None, &[&primary]);
        standby.await_ready().await;
        let client = self.client().await;
        for statement in [WAIT_FOR_STANDBY, RELOAD] {
            let done = client.batch_execute(statement).await;
            done.expect("the owner may change settings");
        }
        await_true(&client, IS_FOLLOWED).await;
        standby
    }

    /// Makes this standby a primary, and waits until it is one. The server that it followed is not told.
    ///
    /// # Panics
    ///
    /// When it cannot be promoted.
    pub async fn promote(&self) {
        self.control(&["-w", "-t", "300", "promote"]);
        await_true(&self.client().await, IS_PRIMARY).await;
    }

    async fn client(&self) -> Client {
        let client = connect(&self.url("postgres")).await;
        client.expect("the server answers")
    }
}

async fn await_true(client: &Client, question: &str) {
    for _ in 0..6_000 {
        let row = client.query_one(question, &[]).await;
        if row.expect("the server answers").get(0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not in time: {question}");
}
