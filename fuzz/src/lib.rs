//! What all targets have in common: the limits that no input may pass.
//!
//! They are kept here and not by libFuzzer. Its clock runs on while another program has the processor, and it counts memory of the
//! whole process, in which its own tables are the greater part.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// How long the processor may be busy with one input, in a build that is some times slower than a release.
const TIME: Duration = Duration::from_secs(1);

/// How much memory one input may take at a time, in bytes.
const BYTES: u64 = 64 << 20;

/// The most that was told of so far: microseconds, and bytes.
static TOLD: [AtomicU64; 2] = [AtomicU64::new(10_000), AtomicU64::new(1 << 20)];

/// Judges one input.
///
/// # Panics
/// Where that takes more time or memory than it may, and where `judge` panics.
pub fn within_limits(judge: impl FnOnce()) {
    MEMORY.reset_peak_usage();
    let (held, begun) = (MEMORY.current_usage(), busy());
    judge();
    let took = busy().saturating_sub(begun);
    let bytes = MEMORY.peak_usage().saturating_sub(held) as u64;
    tell(
        0,
        u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "microseconds",
    );
    tell(1, bytes, "bytes");
    assert!(took <= TIME, "an input took {took:?}");
    assert!(bytes <= BYTES, "an input took {bytes} bytes");
}

/// For how long this thread has had a processor.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Tells of an input that took more than all before it.
fn tell(what: usize, took: u64, unit: &str) {
    if took > TOLD[what].fetch_max(took, Ordering::Relaxed) {
        eprintln!("most of one input: {took} {unit}");
    }
}
