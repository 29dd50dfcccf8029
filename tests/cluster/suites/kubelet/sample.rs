//! The short run of the differential test.

use crate::conformance::BROKEN;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::kubelet::conformance::{gives_itself_away, wrong};
use crate::kubelet::runs::version;
use crate::kubelet::sample::{self, Run};

/// The pods of these seeds: as many as run within four minutes.
const SEEDS: std::ops::Range<u64> = 0..80;

/// And of these, which show what few do: that a container leaves its failures to the next one, whose grace period counts, that the
/// grid stays where it was, and that a gRPC client dials until its timeout.
const RARE: [u64; 19] = [
    10_184, 10_488, 10_563, 10_698, 10_746, 11_010, 11_320, 10_138, 11_158, 11_548, 11_051, 11_471,
    12_056, 11_561, 11_757, 10_061, 10_465, 10_656, 10_726,
];

/// How often a pod runs again of which the simulator says something else. What a busy machine has done once it does not do again
/// and again, and what the kubelet does it does each time.
const AGAIN: usize = 2;

/// So many may be left: of a hundred pods on the page one or two show what is chance and in no log, each time another one.
const LEFT: usize = 2;

/// The simulator says what the kubelet does with drawn pods, and every broken one says something else of those of which it does.
pub(crate) fn agrees(cluster: &Cluster, namespace: &Namespace<'_>) {
    let version = version(cluster);
    let seeds: Vec<u64> = RARE.into_iter().chain(SEEDS).collect();
    let runs = run(cluster, namespace, &seeds);
    let mut left = wrong(&runs, version);
    let agree = |run: &&Run| !left.contains(&run.seed);
    let agree: Vec<&Run> = runs.iter().filter(agree).collect();
    println!("{} of {} runs agree", agree.len(), runs.len());
    assert!(agree.len() * 10 >= runs.len() * 8, "{left:?} do not");
    for (what, simulator) in BROKEN {
        let noticed = agree
            .iter()
            .filter(|run| gives_itself_away(simulator, run, version));
        let noticed = noticed.count();
        println!("one that {what} does not in {noticed} of them");
        assert!(noticed > 0, "a simulator that {what} is not noticed");
    }
    for _ in 0..AGAIN {
        if left.len() <= LEFT {
            break;
        }
        println!("once more: {left:?}");
        let namespace = cluster.namespace("once-more", &[]);
        left = wrong(&run(cluster, &namespace, &left), version);
    }
    assert!(
        left.len() <= LEFT,
        "the simulator says something else of {left:?}"
    );
}

#[track_caller]
fn run(cluster: &Cluster, namespace: &Namespace<'_>, seeds: &[u64]) -> Vec<Run> {
    sample::run(cluster, namespace, seeds).unwrap_or_else(|fault| panic!("{fault}"))
}
