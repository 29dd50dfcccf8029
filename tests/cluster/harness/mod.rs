//! A real one-node Kubernetes, started from its own source and taken down without a trace.

pub(crate) mod audit;
pub(crate) mod certificates;
pub(crate) mod cgroups;
pub(crate) mod client;
pub(crate) mod cluster;
pub(crate) mod command;
pub(crate) mod fault;
pub(crate) mod folders;
pub(crate) mod holder;
pub(crate) mod interrupt;
pub(crate) mod inventory;
pub(crate) mod leftovers;
pub(crate) mod logs;
pub(crate) mod namespace;
pub(crate) mod own;
pub(crate) mod prerequisites;
pub(crate) mod signals;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod tools;
pub(crate) mod versions;

mod components;
mod foreign;
mod programs;
mod sandbox;
