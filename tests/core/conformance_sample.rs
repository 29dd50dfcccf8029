//! The pods of the differential test.

use std::collections::BTreeMap;

use crate::conformance::draw;

/// A third of the pods must live, a third must die, and a sixth lie between.
#[test]
fn the_sample_is_drawn_so_that_it_tells() {
    let mut counts = BTreeMap::new();
    for seed in 0..600 {
        let (class, _) = draw(seed);
        *counts.entry(class.word()).or_insert(0) += 1;
    }
    let at_least = [("lives", 200), ("dies", 200), ("edge", 100)];
    for (class, least) in at_least {
        assert!(counts[class] >= least, "{counts:?}");
    }
}
