//! warmgate keeps model servers from being killed while they load.
//!
//! ```text
//! bytes -> review -> subject -> intent -> plan -> patch
//!               facts --^         \-> kubelet timeline -> rules -> findings -> Decision -> report -> bytes
//! ```
//!
//! A module imports only from modules above it in this list.

#![forbid(unsafe_code)]

pub mod words;

pub mod review;

pub mod manifest;

pub mod annotations;

pub mod knowledge;

pub mod facts;

pub mod subject;

pub mod intent;

pub mod kubelet;

pub mod plan;

pub mod rules;

pub mod admit;

pub mod report;

#[cfg(feature = "webhook")]
pub mod webhook;

#[cfg(feature = "controller")]
pub mod controller;

pub mod cli;
