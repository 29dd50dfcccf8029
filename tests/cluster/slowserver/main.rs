//! A server that loads for as long as it is told and misbehaves as it is told: what probes see of a model server, without a
//! model. Every connection, request, answer and signal is a JSON line on standard output, with its time in microseconds. Told so it
//! is also the webhook of a mesh, as pods meet one beside ours.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a server of tests reads clocks, writes what it sees and ends itself"
)]

mod flags;
mod grpc;
mod http;
mod inject;
mod log;
mod server;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let server = server::Server::new(flags::Flags::parse(), log::Log::to_stdout());
    match server::run(server) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
