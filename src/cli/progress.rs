//! How far a long run has come: on a terminal alone, and gone when the run is over.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;

/// A run that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// From one look to the next.
const BEAT: Duration = Duration::from_millis(100);

/// Characters between the brackets.
const WIDTH: usize = 24;

/// Does `work` on all inputs, in parallel; the order stays. `what` says what is done, in a word.
pub(super) fn over<I, T>(what: &str, inputs: I, work: impl Fn(I::Item) -> T + Sync + Send) -> Vec<T>
where
    I: IntoParallelIterator<Iter: IndexedParallelIterator>,
    T: Send,
{
    let inputs = inputs.into_par_iter();
    let total = inputs.len();
    let done = AtomicUsize::new(0);
    let count = |input| {
        let made = work(input);
        done.fetch_add(1, Ordering::Relaxed);
        made
    };
    if total < 2 || !is_shown() {
        return inputs.map(count).collect();
    }
    let bar = Bar {
        what,
        total,
        done: &done,
    };
    let (working, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let goes_on = move |pause| ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
        let show = move || bar.show(&mut io::stderr(), goes_on);
        // Where there is no thread to be had, nothing is shown and the work is done all the same.
        drop(thread::Builder::new().spawn_scoped(scope, show));
        // Dropped with the end of the work, also where it panics: the thread waits for it.
        let _working = working;
        inputs.map(count).collect()
    })
}

/// Nobody reads a bar in a log.
fn is_shown() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// So many of all inputs are done.
struct Bar<'a> {
    what: &'a str,
    total: usize,
    done: &'a AtomicUsize,
}

impl Bar<'_> {
    /// Shows the bar from time to time while the work goes on, as `goes_on` knows after each pause, and takes it away again.
    fn show(&self, out: &mut impl Write, mut goes_on: impl FnMut(Duration) -> bool) {
        let mut shown = String::new();
        let mut pause = PATIENCE;
        while goes_on(pause) {
            let line = self.line();
            // Lines are not wrapped meanwhile: of a wrapped one only the last row could be taken away.
            if line != shown && put(out, &format!("\r\x1b[?7l{line}\x1b[K\x1b[?7h")).is_err() {
                return;
            }
            shown = line;
            pause = BEAT;
        }
        if !shown.is_empty() {
            // Where the terminal is gone, so is the bar.
            let _ = put(out, "\r\x1b[K");
        }
    }

    fn line(&self) -> String {
        let done = self.done.load(Ordering::Relaxed).min(self.total);
        let filled = WIDTH * done / self.total.max(1);
        let (full, empty) = ("#".repeat(filled), "-".repeat(WIDTH - filled));
        let (what, total) = (self.what, self.total);
        format!("{what} [{full}{empty}] {done} of {total} files")
    }
}

/// In one piece, so that nothing comes between.
fn put(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of four files, of which so many are done at each look.
    fn shown(looks: &[usize]) -> String {
        let done = AtomicUsize::new(0);
        let bar = Bar {
            what: "judging",
            total: 4,
            done: &done,
        };
        let mut looks = looks.iter();
        let mut pauses = Vec::new();
        let mut out = Vec::new();
        bar.show(&mut out, |pause| {
            pauses.push(pause);
            let next = looks.next();
            done.store(next.copied().unwrap_or(4), Ordering::Relaxed);
            next.is_some()
        });
        assert_eq!(pauses[0], PATIENCE);
        assert!(pauses[1..].iter().all(|pause| *pause == BEAT));
        String::from_utf8(out).expect("a bar is text")
    }

    fn drawn(line: &str) -> String {
        format!("\r\x1b[?7l{line}\x1b[K\x1b[?7h")
    }

    #[test]
    fn a_short_run_shows_nothing() {
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn a_long_run_shows_what_changes_and_cleans_up() {
        let wanted = [
            drawn("judging [------------------------] 0 of 4 files"),
            drawn("judging [############------------] 2 of 4 files"),
            drawn("judging [########################] 4 of 4 files"),
            "\r\x1b[K".to_owned(),
        ];
        assert_eq!(shown(&[0, 2, 2, 2, 4]), wanted.concat());
    }

    #[test]
    fn the_order_stays() {
        let doubled = over("doubling", vec![3, 1, 2], |number| number * 2);
        assert_eq!(doubled, [6, 2, 4]);
    }
}
