//! The life of certificates without a cluster and without waiting: Secrets as maps, time as a number.

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
fn a_leaf_is_renewed_at_two_thirds_of_its_life() {
    let mut world = World::installed();
    let first = world.leaf.clone();
    world.now += days(20) - hours(2);
    assert_eq!(world.next(Some(MARGIN)), Step::Rest);
    world.now += hours(2);
    assert_eq!(
        world.settle(Some(MARGIN)),
        [Step::Issue(Flaw::Old("tls.crt"))]
    );
    assert_ne!(world.leaf["tls.key"], first["tls.key"]);
    assert_eq!(world.leaf["ca.crt"], first["ca.crt"]);
    assert_eq!(world.next(None), Step::Rest);
}

#[test]
fn a_new_authority_signs_when_everybody_trusts_it_and_the_old_one_stays_until_its_last_leaf_is_gone()
 {
    let mut world = World::installed();
    let old = world.bundle();
    world.now += days(1217);
    // The leaf expired meanwhile: nobody was there to renew it.
    world.step(None);
    let steps = world.settle(Some(Duration::ZERO));
    assert!(matches!(steps[..], [Step::Issue(_)]), "{steps:?}");
    assert_eq!(world.settle(None), []);
    let both = world.bundle();
    assert_eq!(both.len(), 2);
    assert!(both.contains(&old[0]));
    // Nobody has it yet, then not everybody for long enough.
    for trusted in [None, Some(MARGIN - Duration::from_secs(1))] {
        assert_eq!(world.next(trusted), Step::Wait);
        assert!(world.works_with(&old));
    }
    assert_eq!(
        world.settle(Some(MARGIN)),
        [Step::Promote, Step::Issue(Flaw::OtherAuthority("tls.crt"))]
    );
    assert!(!world.works_with(&old));
    assert!(world.works_with(&both));
    // The trusted bundle is the same to the byte, so that nothing is written between the two.
    assert_eq!(world.bundle(), both);
    let promoted = world.now;
    world.now = promoted + days(29);
    assert_eq!(
        world.settle(Some(MARGIN)),
        [Step::Issue(Flaw::Old("tls.crt"))]
    );
    assert_eq!(world.bundle(), both);
    world.now = promoted + days(30);
    assert_eq!(world.settle(Some(MARGIN)), [Step::Forget]);
    let new = world.bundle();
    assert_eq!(new.len(), 1);
    assert_ne!(new, old);
    assert!(world.works_with(&new));
    assert_eq!(world.settle(Some(MARGIN)), []);
}

#[test]
fn where_the_authority_is_lost_the_leaf_works_until_another_is_trusted() {
    type Harm = fn(&mut Data);
    let harms: [(&str, Harm); 6] = [
        ("deleted", |data| data.clear()),
        ("without a key", |data| drop(data.remove("ca.key"))),
        ("without a certificate", |data| drop(data.remove("ca.crt"))),
        ("half a certificate", |data| {
            data.get_mut("ca.crt").unwrap().0.truncate(100);
        }),
        ("another's key", |data| {
            let other = World::installed().authority["ca.key"].clone();
            data.insert("ca.key".to_owned(), other);
        }),
        ("no text", |data| {
            data.insert("ca.key".to_owned(), ByteString(vec![0xff, 0xfe]));
        }),
    ];
    for (harm, inflict) in harms {
        let mut world = World::installed();
        let (old, leaf) = (world.bundle(), world.leaf.clone());
        inflict(&mut world.authority);
        let steps = world.settle(None);
        assert!(matches!(steps[..], [Step::Found(_)]), "{harm}: {steps:?}");
        assert_eq!(world.leaf, leaf, "{harm}");
        let both = world.bundle();
        assert_eq!(both.len(), 2, "{harm}");
        assert!(both.contains(&old[0]), "{harm}");
        assert_eq!(world.next(Some(Duration::ZERO)), Step::Wait, "{harm}");
        let steps = world.settle(Some(MARGIN));
        let issue = Step::Issue(Flaw::OtherAuthority("tls.crt"));
        assert_eq!(steps, [Step::Promote, Step::Retire, issue], "{harm}");
        assert_eq!(world.bundle(), both, "{harm}");
        world.now += days(30);
        world.settle(Some(MARGIN));
        assert_eq!(world.bundle().len(), 1, "{harm}");
    }
}

#[test]
fn a_leaf_that_is_lost_or_bad_is_signed_anew_by_the_same_authority() {
    type Harm = fn(&mut World);
    let harms: [(&str, Harm); 7] = [
        ("deleted", |world| world.leaf.clear()),
        ("without a key", |world| drop(world.leaf.remove("tls.key"))),
        ("without a certificate", |world| {
            drop(world.leaf.remove("tls.crt"))
        }),
        ("empty", |world| {
            world
                .leaf
                .insert("tls.crt".to_owned(), ByteString(Vec::new()));
        }),
        ("half a key", |world| {
            world.leaf.get_mut("tls.key").unwrap().0.truncate(100);
        }),
        ("another's key", |world| {
            let other = World::installed().leaf["tls.key"].clone();
            world.leaf.insert("tls.key".to_owned(), other);
        }),
        ("for another name", |world| {
            let signing = world.state().signing.unwrap();
            let validity = Validity::from_now(world.now, world.lifetimes.leaf);
            let leaf = signing.sign("pod.warmgate.serving.svc", validity).unwrap();
            world.leaf = super::secrets::signed(&leaf, &signing.certificate);
        }),
    ];
    for (harm, inflict) in harms {
        let mut world = World::installed();
        let bundle = world.bundle();
        inflict(&mut world);
        let steps = world.settle(None);
        assert!(matches!(steps[..], [Step::Issue(_)]), "{harm}: {steps:?}");
        assert_eq!(world.bundle(), bundle, "{harm}");
        assert!(world.works_with(&bundle), "{harm}");
    }
}

#[test]
fn where_both_are_lost_both_are_made() {
    let mut world = World::installed();
    world.authority.clear();
    world.leaf.clear();
    let steps = world.settle(Some(MARGIN));
    assert!(
        matches!(steps[..], [Step::Found(_), Step::Issue(_)]),
        "{steps:?}"
    );
    assert!(world.works_with(&world.bundle()));
}

#[test]
fn a_foreign_leaf_is_replaced_and_its_authority_is_not_trusted() {
    let mut world = World::installed();
    let bundle = world.bundle();
    let other = World::installed();
    // Somebody writes a pair of his own, but leaves whom to trust.
    for key in ["tls.crt", "tls.key"] {
        world.leaf.insert(key.to_owned(), other.leaf[key].clone());
    }
    assert_eq!(world.bundle(), bundle);
    let steps = world.settle(None);
    assert!(
        matches!(steps[..], [Step::Issue(Flaw::Rejected(..))]),
        "{steps:?}"
    );
    assert!(world.works_with(&bundle));
}

#[test]
fn an_authority_that_somebody_put_there_takes_over_as_a_new_one_does() {
    let mut world = World::installed();
    let old = world.bundle();
    let validity = Validity::from_now(world.now, Duration::from_secs(3600 * 24 * 365));
    let mine = Authority::make(SERVICE, validity).unwrap();
    world.authority = super::secrets::authorities(Some(&mine), None, &Default::default());
    assert_eq!(world.settle(None), [Step::Retire]);
    assert!(world.works_with(&old));
    assert_eq!(world.bundle().len(), 2);
    assert_eq!(
        world.settle(Some(MARGIN)),
        [Step::Issue(Flaw::OtherAuthority("tls.crt"))]
    );
    assert!(world.works_with(&[mine.certificate]));
}

#[test]
fn an_authority_for_another_name_is_of_no_use() {
    let mut world = World::installed();
    let validity = Validity::from_now(world.now, world.lifetimes.authority);
    let other = Authority::make("warmgate.elsewhere.svc", validity).unwrap();
    world.authority = super::secrets::authorities(Some(&other), None, &Default::default());
    world.leaf.clear();
    let steps = world.settle(None);
    let constrained = Flaw::Constrained("ca.crt", SERVICE.to_owned());
    assert_eq!(steps[0], Step::Found(constrained));
    assert!(world.works_with(&world.bundle()));
}

#[test]
fn a_coming_authority_that_is_lost_is_made_again() {
    let mut world = World::installed();
    world.now += days(1217);
    world.settle(None);
    world.authority.remove("next.key");
    assert_eq!(world.settle(None), [Step::Prepare]);
    assert_eq!(world.bundle().len(), 2);
}

#[test]
fn clocks_that_jump_leave_something_that_works_now() {
    for jump in [
        SignedDuration::from_mins(10),
        SignedDuration::from_mins(-10),
        days(100),
        days(-100),
        days(6 * 365),
        days(-6 * 365),
    ] {
        let mut world = World::installed();
        world.now += jump;
        world.settle(None);
        assert!(world.works_with(&world.bundle()), "{jump}");
        // And back.
        world.now -= jump;
        world.settle(None);
        assert!(world.works_with(&world.bundle()), "{jump}");
    }
}

#[test]
fn small_jumps_change_nothing() {
    for minutes in [10, -10, 59, -59] {
        let mut world = World::installed();
        world.now += SignedDuration::from_mins(minutes);
        assert_eq!(world.settle(Some(MARGIN)), [], "{minutes}");
    }
}

#[test]
fn a_leaf_ends_with_its_authority() {
    let mut world = World::installed();
    let validity = Validity::from_now(world.now, Duration::from_secs(3600));
    let short = Authority::make(SERVICE, validity).unwrap();
    let end = short.certificate.validity.not_after;
    world.authority = super::secrets::authorities(Some(&short), None, &Default::default());
    world.leaf.clear();
    world.step(None);
    assert_eq!(world.state().leaf.unwrap().validity.not_after, end);
}

#[test]
fn the_bundle_leaves_out_what_has_expired() {
    let mut world = World::installed();
    world.now += days(1217);
    world.settle(None);
    world.settle(Some(MARGIN));
    assert_eq!(world.bundle().len(), 2);
    world.now += days(5 * 365 / 3 + 1);
    assert_eq!(world.bundle().len(), 1);
}

#[test]
fn authorities_that_are_replaced_before_their_leaves_end_do_not_pile_up() {
    let mut world = World::empty();
    world.lifetimes.authority = Duration::from_secs(24 * 3600);
    world.settle(None);
    for _ in 0..6 * 60 {
        world.now += hours(4);
        world.settle(None);
        let trusted = world.bundle();
        world.settle(Some(MARGIN));
        assert!(world.works_with(&trusted), "{}", world.now);
        let previous = get(&world.authority, "previous.crt").unwrap_or_default();
        let previous = CaCertificate::all(previous).len();
        assert!(previous <= 2, "{previous} at {}", world.now);
    }
}

#[test]
fn a_key_is_never_shown() {
    let world = World::installed();
    let state = format!("{:?}", world.state());
    assert!(!state.contains("PRIVATE"), "{state}");
}
