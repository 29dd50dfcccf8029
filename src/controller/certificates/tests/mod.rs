//! The life of certificates without a cluster and without waiting: Secrets as maps, time as a number.

mod loss;
mod renewal;

use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::authority::{Authority, CaCertificate};
use super::change::{Change, Lifetimes, change};
use super::flaw::Flaw;
use super::leaf::Leaf;
use super::secrets::{Data, State, get};
use super::step::{Step, next};
use super::validity::Validity;

const SERVICE: &str = "warmgate.serving.svc";
const MARGIN: Duration = Duration::from_secs(10);

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

fn days(days: i64) -> SignedDuration {
    hours(24 * days)
}

/// Both Secrets, and a clock.
#[derive(Clone)]
struct World {
    authority: Data,
    leaf: Data,
    now: Timestamp,
    lifetimes: Lifetimes,
}

impl World {
    /// A day on which nothing has been made yet.
    fn empty() -> Self {
        Self {
            authority: Data::new(),
            leaf: Data::new(),
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
            lifetimes: Lifetimes::default(),
        }
    }

    /// As an installation leaves it.
    fn installed() -> Self {
        let mut world = Self::empty();
        world.settle(None);
        world
    }

    fn state(&self) -> State {
        State::read(&self.authority, &self.leaf, SERVICE, self.now)
    }

    fn next(&self, trusted: Option<Duration>) -> Step {
        next(&self.state(), trusted, MARGIN, self.now)
    }

    /// Does the next thing.
    fn step(&mut self, trusted: Option<Duration>) -> Step {
        let step = self.next(trusted);
        match change(&step, &self.state(), SERVICE, self.lifetimes, self.now).unwrap() {
            None => {}
            Some(Change::Authorities(data)) => self.authority = data,
            Some(Change::Leaf(data)) => self.leaf = data,
        }
        step
    }

    /// Does everything that can be done now, and returns what it was.
    fn settle(&mut self, trusted: Option<Duration>) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let step = self.step(trusted);
            if matches!(step, Step::Rest | Step::Wait) {
                return steps;
            }
            steps.push(step);
            assert!(steps.len() < super::STEPS, "{steps:?}");
        }
    }

    fn bundle(&self) -> Vec<CaCertificate> {
        CaCertificate::all(&self.state().bundle(self.now))
    }

    /// Whether an API server that trusts `bundle` accepts what the webhook shows.
    fn works_with(&self, bundle: &[CaCertificate]) -> bool {
        let leaf = Leaf::read(get(&self.leaf, "tls.crt"), get(&self.leaf, "tls.key")).unwrap();
        bundle
            .iter()
            .any(|authority| leaf.accepted(authority, SERVICE, self.now).is_ok())
    }
}

#[test]
fn an_installation_makes_an_authority_and_a_leaf() {
    let mut world = World::empty();
    let steps = world.settle(None);
    assert_eq!(
        steps,
        [
            Step::Found(Flaw::Missing("ca.crt")),
            Step::Issue(Flaw::Missing("tls.crt")),
        ]
    );
    let keys: Vec<_> = world.authority.keys().collect();
    assert_eq!(keys, ["ca.crt", "ca.key"]);
    let keys: Vec<_> = world.leaf.keys().collect();
    assert_eq!(keys, ["ca.crt", "tls.crt", "tls.key"]);
    assert_eq!(world.leaf["ca.crt"], world.authority["ca.crt"]);
    let bundle = world.bundle();
    assert_eq!(bundle.len(), 1);
    assert!(world.works_with(&bundle));
    assert_eq!(world.settle(Some(MARGIN)), []);
}

#[test]
fn certificates_hold_for_the_service_and_the_time_that_was_asked_for() {
    let world = World::installed();
    let state = world.state();
    let signing = state.signing.unwrap();
    let life = signing.certificate.validity;
    assert_eq!(life.not_before, world.now - hours(1));
    assert_eq!(life.not_after, world.now + days(5 * 365));
    let life = state.leaf.unwrap().validity;
    assert_eq!(life.not_before, world.now - hours(1));
    assert_eq!(life.not_after, world.now + days(30));
    let leaf = Leaf::read(get(&world.leaf, "tls.crt"), get(&world.leaf, "tls.key")).unwrap();
    let rejected = leaf.accepted(&signing.certificate, "other.serving.svc", world.now);
    assert!(matches!(rejected, Err(Flaw::Rejected(..))), "{rejected:?}");
}

#[test]
fn the_authority_can_sign_for_nothing_but_the_service() {
    let world = World::installed();
    let signing = world.state().signing.unwrap();
    let validity = Validity::from_now(world.now, world.lifetimes.leaf);
    for name in [
        "kubernetes.default.svc",
        "evil-warmgate.serving.svc",
        "serving.svc",
        "10.0.0.1",
    ] {
        let leaf = signing.sign(name, validity).unwrap();
        let accepted = leaf.accepted(&signing.certificate, name, world.now);
        assert!(matches!(accepted, Err(Flaw::Rejected(..))), "{name}");
    }
    let below = format!("pod.{SERVICE}");
    let leaf = signing.sign(&below, validity).unwrap();
    assert_eq!(
        leaf.accepted(&signing.certificate, &below, world.now),
        Ok(())
    );
}

#[test]
fn a_key_is_never_shown() {
    let world = World::installed();
    let state = format!("{:?}", world.state());
    assert!(!state.contains("PRIVATE"), "{state}");
}
