//! A server that loads for as long as it is told and misbehaves as it is told: what probes see of a model server, without a
//! model. Every connection, request, answer and signal is a JSON line on standard output, with its time in microseconds. Told so it
//! is also the webhook of a mesh, as pods meet one beside ours, or the command that asks such a server.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a server of tests reads clocks, writes what it sees and ends itself"
)]

mod ask;
mod endpoint;
mod flags;
mod grpc;
mod http;
mod inject;
mod life;
mod log;
mod server;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let flags = flags::Flags::parse();
    let ended = match flags.ask {
        Some(port) => ask::ask(port).map(|()| 0),
        None => life::run(server::Server::new(flags, log::Log::to_stdout())),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
