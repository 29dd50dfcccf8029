//! What was found on real kubelets, as it is kept and as `docs/conformance.md` tells it.

use std::fs;
use std::path::Path;

use crate::conformance::{Summary, page, read_summaries, unexplained};

/// So many pods are judged on one release at least.
const PODS: usize = 2_000;

/// So many of all moments lie within the tolerance, in percent.
const MOMENTS: f64 = 99.0;

fn summaries() -> Vec<Summary> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    read_summaries(&package.join("tests/kubelet/conformance"))
}

#[test]
fn the_page_is_made_of_what_is_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    let wanted = page(&summaries());
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        wanted,
        "docs/conformance.md is old: WARMGATE_BLESS=1 writes it anew"
    );
}

/// On the newest release by many pods, and on an older one too.
#[test]
fn the_simulator_is_held_against_two_releases() {
    let summaries = summaries();
    assert!(summaries.len() >= 2);
    let most = summaries.iter().map(|one| one.pods.1).max();
    assert!(most >= Some(PODS), "{most:?}");
    for one in &summaries {
        let release = &one.kubernetes;
        assert_eq!(one.contradicted, Vec::<String>::new(), "{release}");
        assert_eq!(one.too_wide, 0, "{release}");
        assert!(
            one.moments.percent() >= MOMENTS,
            "{release}: {:?}",
            one.moments
        );
        assert_eq!(unexplained(one), Vec::<u64>::new(), "{release}");
    }
}
