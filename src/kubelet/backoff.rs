//! The restart back-off of one container: `doBackOff` in `kuberuntime_manager.go` over `flowcontrol.Backoff`.

use super::time::Micros;

/// The first wait, doubled by each further restart.
const FIRST: Micros = Micros::secs(10);

/// The longest wait.
const LONGEST: Micros = Micros::secs(300);

/// An entry that was not touched for so long is dropped (`HandlePodCleanups` collects it).
const EXPIRY: Micros = Micros::secs(600);

/// The back-off entry of one container.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackOff {
    entry: Option<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    wait: Micros,
    updated: Micros,
}

impl BackOff {
    /// Until when a container may not start that ended at `exit`, if it must wait at `now`.
    pub(super) fn waits_until(&self, exit: Micros, now: Micros) -> Option<Micros> {
        let until = exit + self.live(now)?.wait;
        (now < until).then_some(until)
    }

    /// Notes a restart.
    pub(super) fn next(&mut self, now: Micros) {
        let wait = self
            .live(now)
            .map_or(FIRST, |entry| (entry.wait + entry.wait).min(LONGEST));
        self.entry = Some(Entry { wait, updated: now });
    }

    fn live(&self, now: Micros) -> Option<Entry> {
        self.entry.filter(|entry| now - entry.updated <= EXPIRY)
    }
}

#[cfg(test)]
mod tests {
    use super::{BackOff, Micros};

    #[test]
    fn doubles_up_to_five_minutes() {
        let mut back_off = BackOff::default();
        let mut now = Micros::ZERO;
        let mut waits = Vec::new();
        for _ in 0..8 {
            let until = back_off.waits_until(now, now).unwrap_or(now);
            waits.push((until - now).whole_seconds());
            now = until;
            back_off.next(now);
        }
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn forgets_after_ten_quiet_minutes() {
        let mut back_off = BackOff::default();
        back_off.next(Micros::ZERO);
        let (quiet, longer) = (Micros::secs(600), Micros::secs(601));
        assert_eq!(
            back_off.waits_until(quiet, quiet),
            Some(quiet + Micros::secs(10))
        );
        assert_eq!(back_off.waits_until(longer, longer), None);
    }
}
