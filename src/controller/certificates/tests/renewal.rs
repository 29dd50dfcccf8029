//! What is replaced in time, whatever the clock does.

use super::*;

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
    world.authority = super::super::secrets::authorities(Some(&short), None, &Default::default());
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
