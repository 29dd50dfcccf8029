//! The lone worker: Go's ticker, and the pod around it.

use warmgate::kubelet::{
    Answer, Container, Decision, Kubelet, Latency, Law, Life, Loading, Micros, Outcome, Phase, Pod,
    Scenario, Start, bounds, simulate, watch,
};
use warmgate::subject::Probe;

use crate::conformance::Random;
use crate::kubelet::http;

/// What the tests of one worker draw.
impl Random {
    pub(crate) fn probe(&mut self) -> Probe {
        let period = self.of(1, 30);
        let timeout = match self.of(0, 2) {
            0 => 1,
            1 => self.of(1, period),
            _ => self.of(1, 40),
        };
        let delay = match self.of(0, 1) {
            0 => self.of(0, 2),
            _ => self.of(0, 60),
        };
        http(self.of(1, 40), period, delay, timeout)
    }

    pub(crate) fn start(&mut self, probe: &Probe) -> Start {
        Start {
            fraction: Micros(self.of(0, 999_999)),
            tick: Micros(self.of(0, probe.period * 1_000_000 - 1)),
            publication: Micros(self.of(0, 3_000_000)),
        }
    }
}

pub(crate) fn failure(took: Micros) -> Answer {
    Answer {
        outcome: Outcome::Failure,
        took,
    }
}

pub(crate) fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The tick rule, a tenth as fast as it was measured with Go's ticker.
pub(crate) fn check_ticks<L: Law>() -> Result<(), String> {
    let vectors: [([i64; 4], [i64; 4]); 4] = [
        ([1200, 1200, 1200, 1200], [0, 1200, 2400, 3600]),
        ([1200, 100, 100, 100], [0, 1200, 2000, 3000]),
        ([3500, 100, 100, 100], [0, 3500, 4000, 5000]),
        ([600, 600, 600, 600], [0, 1000, 2000, 3000]),
    ];
    for (took, expected) in vectors {
        let probe = http(4, 1, 0, 4);
        let mut began = Vec::new();
        watch::<L>(&probe, &Start::default(), Micros::secs(60), |at| {
            began.push(at.0 / 1000);
            failure(Micros::millis(took[began.len() - 1]))
        });
        require(began == expected, || {
            format!("probes that take {took:?} begin at {began:?}")
        })?;
    }
    Ok(())
}

#[test]
fn the_worker_keeps_the_tick_rule() {
    check_ticks::<Kubelet>().unwrap();
}

/// The pod as a whole decides as the lone worker does.
#[test]
fn the_pod_agrees_with_the_worker() {
    let mut random = Random::new(7);
    for _ in 0..3_000 {
        let probe = random.probe();
        let start = random.start(&probe);
        let load = Micros(random.of(0, Micros::secs(bounds::latest_kill(&probe)).0));
        let took = Micros(random.of(0, 2_000_000));
        let container = Container {
            startup: Some(probe.clone()),
            ..Container::named("engine")
        };
        let pod = Pod::of(vec![container]);
        let mut life = Life::loading(load, Loading::Status503);
        life.endpoint.answers_in = took;
        let latency = Latency {
            publication: start.publication,
            ..Latency::NONE
        };
        let phase = Phase {
            latency,
            ..Phase::of(start.tick, start.fraction)
        };
        let horizon = Micros::secs(bounds::latest_kill(&probe) + 200);
        let timeline = simulate(&pod, &[Scenario::always(life)], &phase, horizon);
        let alone = watch::<Kubelet>(&probe, &start, horizon, |at| {
            let timeout = Micros::secs(probe.timeout);
            let passes = at >= load && took <= timeout;
            Answer {
                outcome: if passes {
                    Outcome::Success
                } else {
                    Outcome::Failure
                },
                took: took.min(timeout),
            }
        });
        match alone {
            Some(Decision::Kill(at)) => assert_eq!(timeline.first_kill(0).unwrap().at, at),
            Some(Decision::Pass(at)) => {
                assert_eq!(timeline.first_kill(0), None);
                assert!(
                    timeline.ready_at(0).is_some_and(|ready| ready >= at),
                    "{timeline}"
                );
            }
            None => panic!("no decision"),
        }
    }
}

/// The event simulation knows none of the closed forms, and the other way round.
#[test]
fn the_halves_do_not_import_each_other() {
    let room = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kubelet");
    let mut files = 0;
    for entry in walkdir::WalkDir::new(room) {
        let entry = entry.unwrap();
        if entry.file_type().is_dir() {
            continue;
        }
        let path = entry.path();
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("bounds.rs") => {
                assert!(!code.contains("super") && !code.contains("crate::kubelet"))
            }
            _ if path.ends_with("src/kubelet/mod.rs") => continue,
            _ => assert!(!code.contains("bounds"), "{}", path.display()),
        }
        files += 1;
    }
    assert!(files > 10);
}
