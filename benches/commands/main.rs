//! `cargo bench --bench commands`: what `warmgate check` takes for a tree of 2,000 files, held against the bare events of the
//! fastest parser and against other programs; and what one file takes.
//!
//! Whole processes are measured, in rounds in which each has its turn. This process starts them and holds nothing: whatever takes
//! memory, as drawing the tree does, runs in a process of its own (see `measure::Run`).

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark starts programs, looks at the clock and prints what it saw"
)]

mod beside;
#[path = "../common/mod.rs"]
mod common;
mod engines;
mod figures;
mod manifests;
mod measure;
mod peers;
#[path = "../../tests/conformance/random.rs"]
mod random;
mod tree;
mod walk;

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use common::Options;
use figures::{Figures, Row};
use measure::{Medians, Run};
use peers::PEERS;
use walk::PARSERS;

/// What something comes to that can fail in many ways.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Measures other programs too, which are built with Go.
const PEERS_FLAG: &str = "--peers";

/// The part of the page that has these figures.
const PART: &str = "the command line";

/// So many rounds are run, of the tree, of one file, and of the other programs.
struct Rounds {
    tree: usize,
    file: usize,
    peers: usize,
}

const FULL: Rounds = Rounds {
    tree: 15,
    file: 200,
    peers: 3,
};

const QUICK: Rounds = Rounds {
    tree: 3,
    file: 20,
    peers: 1,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["child", "tree", folder] => tree::write(Path::new(folder)).map_err(Into::into),
        ["child", "walk", parser, folder] => walk::walk(parser, Path::new(folder)).map(drop),
        _ => bench(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(mut arguments: Vec<String>) -> Outcome<()> {
    let with_peers = arguments.iter().any(|argument| argument == PEERS_FLAG);
    arguments.retain(|argument| argument != PEERS_FLAG);
    let options = Options::parse(arguments.into_iter())
        .map_err(|error| format!("{error}; and {PEERS_FLAG}"))?;
    if options.write {
        common::idle::must_be_idle()?;
    }
    let rounds = if options.quick { QUICK } else { FULL };
    let tree = folder().join("tree");
    measure::run(&mut child(&["tree"], &tree), &[0])?;
    let mut figures = Figures::of(&tree, said(&tree)?)?;
    figures.rows = measured(contestants(&tree), rounds.tree)?;
    figures.file = one_file(&tree, rounds.file)?;
    if with_peers {
        let (peers, missing) = built(&tree)?;
        figures.peers = measured(peers, rounds.peers)?;
        figures.missing = missing;
    } else {
        let names = PEERS.map(|peer| peer.name).join(", ");
        figures.missing = vec![format!("{names}: {PEERS_FLAG} measures them")];
    }
    let text = figures.to_string();
    print!("{text}");
    if options.write {
        common::page::write(PART, &text)?;
    }
    Ok(())
}

/// A program that is measured: what it is called, the line that starts it, and the exit codes with which it has done its work.
struct Contestant {
    name: String,
    command: Command,
    codes: &'static [i32],
}

/// Where the tree and the programs lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands")
}

/// This program, told to do one of the things that must not happen in this process.
fn child(words: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap_or_default());
    command.arg("child").args(words).arg(folder);
    command
}

/// `warmgate check`. It ends with 1 where it has found what would be killed.
fn check(path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmgate"));
    command.arg("check").arg(path);
    command
}

fn contestants(tree: &Path) -> Vec<Contestant> {
    let ours = Contestant {
        name: "`warmgate check`".to_owned(),
        command: check(tree),
        codes: &[0, 1],
    };
    let parsers = PARSERS.iter().map(|parser| Contestant {
        name: format!("the events of {}", parser.name),
        command: child(&["walk", parser.name], tree),
        codes: &[0],
    });
    std::iter::once(ours).chain(parsers).collect()
}

/// The other programs, built, and why the rest of them is missing.
fn built(tree: &Path) -> Outcome<(Vec<Contestant>, Vec<String>)> {
    let programs = folder().join("peers");
    let (mut ready, mut missing) = (Vec::new(), Vec::new());
    for peer in &PEERS {
        let name = format!("{} {}: {}", peer.name, peer.version()?, peer.judges);
        eprintln!("building {name}");
        match peer.build(&programs) {
            Ok(program) => ready.push(Contestant {
                name,
                command: peer.command(&program, tree)?,
                codes: &[0, 1],
            }),
            Err(error) => missing.push(format!("{name} could not be built: {error}")),
        }
    }
    Ok((ready, missing))
}

/// Measures programs in rounds, after one that is not counted: all files are in memory then.
fn measured(mut contestants: Vec<Contestant>, rounds: usize) -> Outcome<Vec<Row>> {
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); contestants.len()];
    for round in 0..=rounds {
        for (one, runs) in contestants.iter_mut().zip(&mut runs) {
            eprintln!("round {round} of {rounds}: {}", one.name);
            let run = measure::run(&mut one.command, one.codes)?;
            if round > 0 {
                runs.push(run);
            }
        }
    }
    let rows = contestants.into_iter().zip(runs);
    Ok(rows
        .map(|(one, runs)| Row {
            name: one.name,
            medians: Medians::of(&runs),
        })
        .collect())
}

/// One file of the tree, and a program that does nothing, from start to end.
fn one_file(tree: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let files = walk::files(tree)?;
    let file = files.first().ok_or("the tree has no files")?;
    let (mut ours, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(measure::run(&mut check(file), &[0, 1])?);
        nothing.push(measure::run(&mut Command::new("true"), &[0])?);
    }
    let row = |name: &str, runs: &[Run]| Row {
        name: name.to_owned(),
        medians: Medians::of(runs),
    };
    Ok(vec![
        row("`warmgate check FILE`", &ours),
        row("`true`, which does nothing", &nothing),
    ])
}

/// The last line of what `check` says of the tree: how many objects and findings there are.
fn said(tree: &Path) -> Outcome<String> {
    let mut child = check(tree)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut last = String::new();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            last = line?;
        }
    }
    child.wait()?;
    Ok(last)
}
