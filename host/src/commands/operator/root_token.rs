//! `gatehouse operator root-token`: the first root token, chosen before there is a server.

use std::io::Write as _;

use anyhow::{Context, Result};
use gatehouse_access::{RootTokenHash, new_root_token};
use gatehouse_ports::{Clock as _, OsRandom, SystemClock};

use crate::commands::output::tell;

pub(super) fn run() -> Result<()> {
    let token = new_root_token(&OsRandom, SystemClock.now_milliseconds());
    let token = token.context("there is no randomness")?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "Token: {}", token.expose())?;
    writeln!(
        output,
        "Hash: {}",
        RootTokenHash::from_token(token.expose())
    )?;
    output.flush()?;
    tell(
        "Set bootstrap.root_token_hash to the hash (under Spin the variable root_token_hash), and initialize the server with the token as X-Vault-Token. The token is stored nowhere.",
    );
    Ok(())
}
