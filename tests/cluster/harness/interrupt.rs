//! Ctrl-C and SIGTERM: what runs is taken down before the harness ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::fault::{Context, Fault, Outcome};
use super::state::State;

/// The exit code of a program that a user interrupted.
const INTERRUPTED: i32 = 130;

/// How often what runs is taken down, until nothing is found.
const ROUNDS: u32 = 10;

static RUNNING: Mutex<Vec<State>> = Mutex::new(Vec::new());
static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to listen for the signals.
///
/// # Errors
///
/// They cannot be listened for.
pub(crate) fn listen() -> Outcome<()> {
    let doing = "listening for signals";
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(doing)?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (
            signal(SignalKind::interrupt()).context(doing)?,
            signal(SignalKind::terminate()).context(doing)?,
        )
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        end();
    });
    Ok(())
}

/// Takes down what runs, and ends this program.
fn end() {
    ASKED.store(true, Ordering::SeqCst);
    eprintln!("interrupted: taking everything down");
    let running = locked().clone();
    // One that is just starting may make something anew until it notices; then it gives up.
    for round in 0..ROUNDS {
        let mut left = false;
        for state in &running {
            let down = state.take_down();
            left |= !matches!(down, Ok(false));
            if let (Err(fault), true) = (down, round + 1 == ROUNDS) {
                eprintln!(
                    "{}: not everything could be taken down: {fault}",
                    state.name()
                );
            }
        }
        if !left {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    std::process::exit(INTERRUPTED);
}

/// Whether the user has asked for the end.
pub(crate) fn interrupted() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// If the user has asked for the end, waits for it: what fails because everything is taken down is no end of its own.
pub(crate) fn settle() {
    while interrupted() {
        std::thread::park();
    }
}

/// From now on `state` has a cluster.
///
/// # Errors
///
/// The user has asked for the end.
pub(crate) fn watch(state: &State) -> Outcome<()> {
    let mut running = locked();
    if interrupted() {
        return Err(Fault::new("interrupted"));
    }
    running.push(state.clone());
    Ok(())
}

/// From now on `state` has none, or one that is meant to stay.
pub(crate) fn forget(state: &State) {
    locked().retain(|one| one.path() != state.path());
}

fn locked() -> MutexGuard<'static, Vec<State>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
