//! Logs that never wait: lines go through a bounded queue to a thread of their own, and where nobody takes them they are
//! dropped and counted. A full pipe behind stdout must not stall an admission.

use std::io::{self, Write};
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::Error;

/// Lines that may wait to be written.
const QUEUE: usize = 4096;

/// The longest that the last lines are waited for.
const LAST_LINES: Duration = Duration::from_secs(1);

/// How long a full queue is left alone meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// How long more lines are waited for once there is one: woken for each, the writer would take the core from the judgements that
/// they tell of.
const GATHER: Duration = Duration::from_millis(2);

/// Lines that were dropped since the process began.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// How lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    Json,
    /// For people.
    #[default]
    Text,
}

/// Lines that were dropped since the process began.
pub(super) fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}

/// Sends what is logged from now on, by this whole process, to `output`. A panic becomes a line without its message, which
/// may quote what was judged.
///
/// # Errors
/// Where `filter` (directives as of `RUST_LOG`) cannot be read, or logging was set up before.
pub fn init(
    format: Format,
    filter: &str,
    output: impl Write + Send + 'static,
) -> Result<Flush, Error> {
    let filter = EnvFilter::try_new(filter).map_err(|error| Error::Log(error.into()))?;
    let lines = Lines::new(QUEUE, output).map_err(|error| Error::Log(error.into()))?;
    let flush = Flush(lines.clone());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(lines);
    match format {
        Format::Json => subscriber.json().flatten_event(true).try_init(),
        Format::Text => subscriber.try_init(),
    }
    .map_err(Error::Log)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panicked");
    }));
    Ok(flush)
}

/// Writes what still waits when it is dropped.
#[must_use = "lines that wait are lost without it"]
#[derive(Debug)]
pub struct Flush(Lines);

impl Drop for Flush {
    fn drop(&mut self) {
        let (written, wait) = sync_channel(1);
        let end = Instant::now() + LAST_LINES;
        let mut entry = Entry::Flush(written);
        // An output that takes nothing has had its time.
        while Instant::now() < end {
            match self.0.0.try_send(entry) {
                Ok(()) => {
                    let _ = wait.recv_timeout(end.saturating_duration_since(Instant::now()));
                    return;
                }
                Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => entry = back,
            }
            thread::sleep(PAUSE);
        }
    }
}

enum Entry {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// The way to the writing thread. Clones share it.
#[derive(Clone, Debug)]
struct Lines(SyncSender<Entry>);

impl Lines {
    fn new(queue: usize, output: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, queued) = sync_channel(queue);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(|| write(queued, output))?;
        Ok(Self(lines))
    }
}

/// Writes until every sender is gone. An output that is broken takes the lines for good.
fn write(queued: Receiver<Entry>, mut output: impl Write) {
    while let Ok(first) = queued.recv() {
        if matches!(first, Entry::Line(_)) {
            thread::sleep(GATHER);
        }
        let mut lines = Vec::new();
        for entry in iter::once(first).chain(queued.try_iter().take(QUEUE)) {
            match entry {
                Entry::Line(line) => lines.push(line),
                Entry::Flush(written) => {
                    put(&mut output, &mut lines);
                    // Whoever asked may have stopped waiting.
                    let _ = written.send(());
                }
            }
        }
        put(&mut output, &mut lines);
    }
}

/// Writes lines out, all at once, and counts them where that fails.
fn put(output: &mut impl Write, lines: &mut Vec<Vec<u8>>) {
    let written = output
        .write_all(&lines.concat())
        .and_then(|()| output.flush());
    if written.is_err() {
        let count = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        DROPPED.fetch_add(count, Ordering::Relaxed);
    }
    lines.clear();
}

impl Write for Lines {
    /// Takes a whole line: the subscriber formats an event before it writes it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.try_send(Entry::Line(line.to_vec())).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// An output that hands over what it was given, once it is let.
    struct Gate(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn a_full_disk_drops_lines_and_stalls_nobody() {
        let mut lines = Lines::new(100, Full).unwrap();
        let before = dropped_lines();
        for number in 0..50 {
            lines.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        drop(Flush(lines));
        assert!(dropped_lines() - before >= 50);
    }

    #[test]
    fn a_blocked_output_drops_lines_and_stalls_nobody() {
        let (open, gate) = sync_channel::<()>(0);
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut lines = Lines::new(2, Gate(gate, Arc::clone(&written))).unwrap();
        let before = dropped_lines();
        for number in 0..100 {
            lines.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        // Two wait in the queue, and the writer may have taken as many and the one that woke it.
        assert!(dropped_lines() - before >= 95);
        drop(open);
        drop(Flush(lines));
        assert!(written.lock().unwrap().starts_with(b"0\n1\n"));
    }
}
