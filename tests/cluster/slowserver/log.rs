//! What happened, a JSON line each.

use std::io::Write;
use std::sync::Mutex;
use std::time::SystemTime;

use serde_json::{Value, json};

/// Where the lines go.
pub(crate) struct Log {
    out: Mutex<Box<dyn Write + Send>>,
}

impl Log {
    /// To standard output.
    pub(crate) fn to_stdout() -> Self {
        Self::new(std::io::stdout())
    }

    /// To `out`.
    pub(crate) fn new(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Mutex::new(Box::new(out)),
        }
    }

    /// Writes that `event` happens now, with what else is known of it.
    pub(crate) fn write(&self, event: &str, more: Value) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut line = json!({
            "us": now.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX)),
            "event": event,
        });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        // Where nobody reads any more, there is nobody to tell.
        if let Ok(mut out) = self.out.lock() {
            writeln!(out, "{line}").and_then(|()| out.flush()).ok();
        }
    }
}
