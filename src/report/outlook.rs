//! What holds over many phases of the kubelet's grid.

use super::pods::Setting;
use super::style::{BAD, GOOD, paint};
use crate::kubelet::{Micros, Timeline, What};
use crate::subject::Role;

/// What becomes of one container that loads, over many phases.
#[derive(Clone, Debug)]
pub(super) struct Outlook {
    pub(super) number: usize,
    name: String,
    phases: usize,
    pub(super) killed: usize,
    killer: Option<Role>,
    /// The earliest and the latest first kill, from the start of the instance.
    kill: Option<(Micros, Micros)>,
    /// In how many phases it is ready and loaded at some time.
    serving: usize,
    /// When, at the earliest and at the latest.
    serves_at: Option<(Micros, Micros)>,
    restarts: (u32, u32),
    horizon: Micros,
}

impl Outlook {
    pub(super) fn new(setting: &Setting, number: usize, horizon: Micros) -> Self {
        Self {
            number,
            name: setting.pod.containers[number].name.clone(),
            phases: 0,
            killed: 0,
            killer: None,
            kill: None,
            serving: 0,
            serves_at: None,
            restarts: (u32::MAX, 0),
            horizon,
        }
    }

    pub(super) fn add(&mut self, timeline: &Timeline) {
        self.phases += 1;
        if let Some(kill) = timeline.first_kill(self.number) {
            self.killed += 1;
            self.killer = Some(kill.role);
            self.kill = Some(widened(self.kill, kill.after));
        }
        if let Some(at) = serves_at(timeline, self.number) {
            self.serving += 1;
            self.serves_at = Some(widened(self.serves_at, at));
        }
        let restarts = timeline.restarts(self.number);
        let (fewest, most) = self.restarts;
        self.restarts = (fewest.min(restarts), most.max(restarts));
    }

    /// What holds over all phases, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let style = if self.is_good() { GOOD } else { BAD };
        let parts = self.parts().join("; ");
        paint(style, &format!("{}: {parts}", self.name))
    }

    /// Whether no probe kills it in any phase.
    pub(super) fn is_good(&self) -> bool {
        self.killed == 0
    }

    /// The container's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What holds over all phases: whether it is killed, when it serves, how often it starts again.
    pub(super) fn parts(&self) -> [String; 3] {
        [self.kills(), self.serves(), self.restarted()]
    }

    fn kills(&self) -> String {
        let phases = self.phases;
        let by = self.killer.map_or("", Role::field);
        let kill = self
            .kill
            .map(|range| format!("{} after its start", between(range)))
            .unwrap_or_default();
        match self.killed {
            0 => format!("no probe kills it in any of {phases} phases"),
            all if all == phases => format!("{by} kills it in each of {phases} phases, {kill}"),
            some => format!(
                "whether it lives depends on the phase: {by} kills it in {some} of {phases}, {kill}"
            ),
        }
    }

    fn serves(&self) -> String {
        match (self.serving, self.serves_at) {
            (0, _) | (_, None) => format!("never ready to serve within {} s", self.horizon),
            (some, Some(range)) => {
                let at = between(range);
                let of = if some == self.phases {
                    String::new()
                } else {
                    format!(" in {some} of them")
                };
                format!("ready to serve after {at}{of}")
            }
        }
    }

    fn restarted(&self) -> String {
        let (fewest, most) = self.restarts;
        match (fewest, most) {
            (0, 0) => "0 restarts".to_owned(),
            _ if fewest == most => format!("{most} restarts within {} s", self.horizon),
            _ => format!("{fewest} to {most} restarts within {} s", self.horizon),
        }
    }
}

/// When the container is first ready with its load done: the kubelet's own Ready does not wait for the load where no probe does.
pub(super) fn serves_at(timeline: &Timeline, container: usize) -> Option<Micros> {
    let (mut loaded, mut ready, mut doomed) = (false, false, false);
    for event in timeline.of(container) {
        match event.what {
            What::Loaded => loaded = true,
            What::Ready => ready = true,
            What::NotReady => ready = false,
            What::KillDecided(_) => doomed = true,
            What::Started | What::Restarted(_) => (loaded, doomed) = (false, false),
            _ => {}
        }
        if loaded && ready && !doomed {
            return Some(event.at);
        }
    }
    None
}

fn widened(range: Option<(Micros, Micros)>, by: Micros) -> (Micros, Micros) {
    let (earliest, latest) = range.unwrap_or((by, by));
    (earliest.min(by), latest.max(by))
}

fn between((earliest, latest): (Micros, Micros)) -> String {
    let (earliest, latest) = (tenths(earliest), tenths(latest));
    if earliest == latest {
        format!("{latest} s")
    } else {
        format!("{earliest} to {latest} s")
    }
}

/// Seconds with one decimal.
pub(super) fn tenths(at: Micros) -> String {
    let tenths = at.0.saturating_add(50_000).div_euclid(100_000);
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}
