//! What is lost, damaged or put there by somebody else.

use super::*;

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
            world.leaf = super::super::secrets::signed(&leaf, &signing.certificate);
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
    world.authority = super::super::secrets::authorities(Some(&mine), None, &Default::default());
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
    world.authority = super::super::secrets::authorities(Some(&other), None, &Default::default());
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
