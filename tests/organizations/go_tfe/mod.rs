//! The tests of the Go client, said again: the same requests, and what its tests assert of the answers. Each is named after its
//! original. Where the client refuses by itself what a test wants to send, there is nothing to ask a server, and no test here.

mod administration;
mod agent_pools;
mod lifetime_policies;
mod memberships;
mod organization_tokens;
mod organizations;
mod retention;
mod team_tokens;
mod teams;
mod updates;
