//! The restart back-off of one container: `doBackOff` in `kuberuntime_manager.go` over `flowcontrol.Backoff`.

use super::time::Micros;

/// The first wait, doubled by each further restart.
const FIRST: Micros = Micros::secs(10);

/// The longest wait, unless the node is configured with a shorter one (`MaxContainerBackOff`).
pub(super) const LONGEST: Micros = Micros::secs(300);

/// An entry that was not touched for so long is dropped (`HandlePodCleanups` collects it).
const EXPIRY: Micros = Micros::secs(600);

/// The back-off entry of one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackOff {
    longest: Micros,
    entry: Option<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    wait: Micros,
    updated: Micros,
}

impl BackOff {
    /// No entry yet. A `longest` wait below the usual first one is the first one too (`newCrashLoopBackOff` in `kubelet.go`).
    pub(super) fn new(longest: Micros) -> Self {
        Self {
            longest,
            entry: None,
        }
    }

    /// Until when a container may not start that ended at `exit`, if it must wait at `now`.
    pub(super) fn waits_until(&self, exit: Micros, now: Micros) -> Option<Micros> {
        let until = exit + self.live(now)?.wait;
        (now < until).then_some(until)
    }

    /// Notes a restart.
    pub(super) fn next(&mut self, now: Micros) {
        let wait = self
            .live(now)
            .map_or(FIRST, |entry| entry.wait + entry.wait)
            .min(self.longest);
        self.entry = Some(Entry { wait, updated: now });
    }

    fn live(&self, now: Micros) -> Option<Entry> {
        self.entry.filter(|entry| now - entry.updated <= EXPIRY)
    }
}

#[cfg(test)]
mod tests {
    use super::{BackOff, LONGEST, Micros};

    /// The waits of a container that ends as soon as it starts, in seconds.
    fn waits(longest: Micros) -> Vec<i64> {
        let mut back_off = BackOff::new(longest);
        let mut now = Micros::ZERO;
        let mut waits = Vec::new();
        for _ in 0..8 {
            let until = back_off.waits_until(now, now).unwrap_or(now);
            waits.push((until - now).whole_seconds());
            now = until;
            back_off.next(now);
        }
        waits
    }

    #[test]
    fn doubles_up_to_five_minutes() {
        assert_eq!(waits(LONGEST), [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn doubles_up_to_what_the_node_says() {
        assert_eq!(waits(Micros::secs(30)), [0, 10, 20, 30, 30, 30, 30, 30]);
        assert_eq!(waits(Micros::secs(4)), [0, 4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn forgets_after_ten_quiet_minutes() {
        let mut back_off = BackOff::new(LONGEST);
        back_off.next(Micros::ZERO);
        let (quiet, longer) = (Micros::secs(600), Micros::secs(601));
        assert_eq!(
            back_off.waits_until(quiet, quiet),
            Some(quiet + Micros::secs(10))
        );
        assert_eq!(back_off.waits_until(longer, longer), None);
    }
}
