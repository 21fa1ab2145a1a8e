//! API tokens (contract 4.6, 4.7, 4.10), and how long they may live (contract 4.8).

#![allow(dead_code, reason = "the routes follow")]

mod document;
