//! How a watch goes: it tells of events and of errors, and says nothing where it works and nothing happens.

use std::time::Duration;

use tokio::time::Instant;

/// How long after its last error a watch that has said nothing since still counts as one that does not work. A watch that is
/// begun again and fails does so within a minute, the longest that it backs off, and the half that connecting may take.
const SILENCE: Duration = Duration::from_secs(120);

/// How long the first list may take.
const FIRST_LIST: Duration = Duration::from_secs(30);

/// How many errors in a row mean that it does not work. Connections end, and what is begun again once goes on.
const ERRORS: u32 = 2;

/// Why what is known may be old.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unwatched {
    #[error("namespaces cannot be watched: {0}")]
    Failing(String),
    #[error("namespaces have not been listed within {} s", FIRST_LIST.as_secs())]
    Unlisted,
}

/// How a watch went so far.
#[derive(Clone, Debug)]
pub(super) struct Course {
    begun: Instant,
    listed: bool,
    /// How many errors came since something was heard, each soon after the one before.
    errors: u32,
    /// The last of them, and when it came.
    last: Option<(String, Instant)>,
}

impl Course {
    /// It begins.
    pub(super) fn begun(now: Instant) -> Self {
        Self {
            begun: now,
            listed: false,
            errors: 0,
            last: None,
        }
    }

    /// Everything was listed.
    pub(super) fn listed(&mut self) {
        self.listed = true;
        self.heard();
    }

    /// Something has changed.
    pub(super) fn heard(&mut self) {
        self.errors = 0;
        self.last = None;
    }

    /// It failed and is begun again.
    pub(super) fn failed(&mut self, error: String, now: Instant) {
        if self.quiet(now) {
            self.errors = 0;
        }
        self.errors += 1;
        self.last = Some((error, now));
    }

    /// Whether everything has been listed once.
    pub(super) fn is_listed(&self) -> bool {
        self.listed
    }

    /// Whether it works.
    pub(super) fn watched(&self, now: Instant) -> Result<(), Unwatched> {
        match &self.last {
            Some((error, _)) if self.errors >= ERRORS && !self.quiet(now) => {
                Err(Unwatched::Failing(error.clone()))
            }
            _ if !self.listed && now.duration_since(self.begun) >= FIRST_LIST => {
                Err(Unwatched::Unlisted)
            }
            _ => Ok(()),
        }
    }

    /// Whether no error has come for so long that it works.
    fn quiet(&self, now: Instant) -> bool {
        let last = self.last.as_ref();
        last.is_none_or(|(_, at)| now.duration_since(*at) >= SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(error: &str) -> Result<(), Unwatched> {
        Err(Unwatched::Failing(error.to_owned()))
    }

    /// A watch that has listed everything, and a clock from when it began, in seconds.
    fn running() -> (Course, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        let mut course = Course::begun(start);
        course.listed();
        (course, move |seconds| start + Duration::from_secs(seconds))
    }

    #[test]
    fn a_list_that_does_not_come_is_told_of() {
        let start = Instant::now();
        let mut course = Course::begun(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(course.watched(at(29)), Ok(()));
        assert_eq!(course.watched(at(30)), Err(Unwatched::Unlisted));
        course.listed();
        assert_eq!(course.watched(at(30)), Ok(()));
        // Idle for as long as one likes.
        assert_eq!(course.watched(at(100_000)), Ok(()));
    }

    #[test]
    fn errors_in_a_row_mean_that_it_does_not_work() {
        let (mut course, at) = running();
        course.failed("one".to_owned(), at(100));
        assert_eq!(course.watched(at(100)), Ok(()));
        course.failed("two".to_owned(), at(101));
        assert_eq!(course.watched(at(101)), failing("two"));
        course.failed("three".to_owned(), at(190));
        assert_eq!(course.watched(at(300)), failing("three"));
        course.heard();
        assert_eq!(course.watched(at(300)), Ok(()));
        course.failed("four".to_owned(), at(301));
        assert_eq!(course.watched(at(301)), Ok(()));
    }

    #[test]
    fn a_watch_that_says_nothing_more_after_its_errors_works_again() {
        let (mut course, at) = running();
        course.failed("one".to_owned(), at(100));
        course.failed("two".to_owned(), at(101));
        assert_eq!(course.watched(at(220)), failing("two"));
        assert_eq!(course.watched(at(221)), Ok(()));
        // One that breaks now and then is none that fails.
        course.failed("three".to_owned(), at(400));
        assert_eq!(course.watched(at(400)), Ok(()));
        course.failed("four".to_owned(), at(520));
        assert_eq!(course.watched(at(520)), Ok(()));
    }
}
