//! How one container is killed: `killContainer` in `kuberuntime_container.go`.

use super::pod::{Container, PreStop};
use super::scenario::{Exit, OnTerm};
use super::time::Micros;

/// Every container gets at least so many seconds between SIGTERM and SIGKILL (`minimumGracePeriodInSeconds`).
pub const MINIMUM_GRACE: i64 = 2;

/// The exit code of a process that SIGKILL ended.
const SIGKILLED: i64 = 137;

/// One kill from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kill {
    /// When the hook ends, and whether the grace period cut it off.
    pub(super) hook: Option<(Micros, bool)>,
    /// When SIGTERM is sent, unless the container has ended by then.
    pub(super) sigterm: Option<Micros>,
    /// When SIGKILL is sent, if it has to be.
    pub(super) sigkill: Option<Micros>,
    /// How the container ends.
    pub(super) exit: Exit,
    /// When the kubelet is done with it.
    pub(super) done: Micros,
}

/// A grace period as it is used up.
struct Grace {
    now: Micros,
    /// In seconds.
    left: i64,
}

impl Grace {
    /// Waits for something that takes so long, but not longer than what is left, and says whether it was cut off. Only whole
    /// seconds are taken off. What takes exactly what is left is cut off: the timer has been started before it.
    fn spend(&mut self, takes: Micros) -> bool {
        let longest = Micros::secs(self.left);
        let spent = takes.min(longest);
        self.left -= spent.whole_seconds();
        self.now = self.now + spent;
        takes >= longest
    }
}

/// Kills a container from `at` on. `ends` is when it would end by itself; `turn` is when the containers have ended that
/// must end before it.
pub(super) fn kill(
    container: &Container,
    on_term: OnTerm,
    ends: Exit,
    at: Micros,
    grace: i64,
    turn: Micros,
) -> Kill {
    let mut grace = Grace {
        now: at,
        left: grace,
    };
    let hook = container.pre_stop.filter(|_| grace.left > 0).map(|hook| {
        let lives = (ends.at - grace.now).max(Micros::ZERO);
        let cut_off = grace.spend(match hook {
            PreStop::Sleeps(takes) => takes,
            PreStop::Takes(takes) => takes.min(lives),
            PreStop::Unknown => lives,
        });
        (grace.now, cut_off)
    });
    if grace.left > 0 {
        grace.spend((turn - grace.now).max(Micros::ZERO));
    }
    if ends.at <= grace.now {
        return Kill {
            hook,
            sigterm: None,
            sigkill: None,
            exit: ends,
            done: grace.now,
        };
    }
    let last = grace.now + Micros::secs(grace.left.max(MINIMUM_GRACE));
    let own = own_end(on_term, ends, grace.now);
    let sigkill = (own.at > last).then_some(last);
    let exit = sigkill.map_or(own, |at| Exit {
        at,
        code: SIGKILLED,
    });
    Kill {
        hook,
        sigterm: Some(grace.now),
        sigkill,
        exit,
        done: exit.at,
    }
}

/// How a container ends that gets SIGTERM at `at`, if nobody sends SIGKILL.
fn own_end(on_term: OnTerm, ends: Exit, at: Micros) -> Exit {
    match on_term {
        OnTerm::Exits { after, code } if at + after <= ends.at => Exit {
            at: at + after,
            code,
        },
        OnTerm::Exits { .. } | OnTerm::Ignores => ends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(pre_stop: Option<PreStop>, grace: i64) -> Kill {
        let container = Container {
            pre_stop,
            ..Container::named("engine")
        };
        kill(
            &container,
            OnTerm::Ignores,
            Exit::NEVER,
            Micros::secs(100),
            grace,
            Micros::ZERO,
        )
    }

    #[test]
    fn the_hook_runs_inside_the_grace_period() {
        let kill = killed(Some(PreStop::Takes(Micros::millis(15_900))), 30);
        assert_eq!(kill.hook, Some((Micros::millis(115_900), false)));
        assert_eq!(kill.sigterm, Some(Micros::millis(115_900)));
        // 15 of the 15.9 s are taken off.
        assert_eq!(kill.sigkill, Some(Micros::millis(130_900)));
        assert_eq!(kill.exit.code, 137);
    }

    #[test]
    fn the_hook_is_cut_off_and_two_seconds_are_left() {
        for hook in [PreStop::Unknown, PreStop::Takes(Micros::secs(60))] {
            let kill = killed(Some(hook), 30);
            assert_eq!(kill.hook, Some((Micros::secs(130), true)));
            assert_eq!(kill.sigkill, Some(Micros::secs(132)));
        }
    }

    #[test]
    fn no_grace_is_no_hook_and_two_seconds() {
        let kill = killed(Some(PreStop::Unknown), 0);
        assert_eq!(kill.hook, None);
        assert_eq!(kill.sigterm, Some(Micros::secs(100)));
        assert_eq!(kill.sigkill, Some(Micros::secs(102)));
    }

    #[test]
    fn a_container_that_ends_under_its_hook_gets_no_signal() {
        let own = |at| Exit {
            at: Micros::secs(at),
            code: 7,
        };
        let killed = |hook, ends| {
            let container = Container {
                pre_stop: Some(hook),
                ..Container::named("engine")
            };
            let at = Micros::secs(100);
            let kill = kill(&container, OnTerm::Ignores, ends, at, 30, Micros::ZERO);
            assert_eq!((kill.sigterm, kill.exit), (None, ends));
            kill.done
        };
        let ten = Micros::secs(10);
        assert_eq!(killed(PreStop::Takes(ten), own(103)), Micros::secs(103));
        assert_eq!(killed(PreStop::Sleeps(ten), own(103)), Micros::secs(110));
        // The kubelet may not know yet that it has ended.
        assert_eq!(killed(PreStop::Takes(ten), own(99)), Micros::secs(100));
        assert_eq!(killed(PreStop::Unknown, own(99)), Micros::secs(100));
        assert_eq!(killed(PreStop::Sleeps(ten), own(99)), Micros::secs(110));
    }
}
