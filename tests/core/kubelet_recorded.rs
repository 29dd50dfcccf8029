//! Runs of a real kubelet, recorded in `tests/kubelet`: the simulator says the same of each, and broken ones do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::conformance::{BROKEN, BY_CHANCE, REAL, Recorded, Simulator, compare, telling_runs};

/// Every file, by its name.
fn recorded() -> BTreeMap<String, Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubelet");
    let paths = fs::read_dir(folder)
        .expect("the recordings")
        .map(|entry| entry.expect("a recording").path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a recording");
            let read = serde_json::from_str(&text);
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, read)
        })
        .collect()
}

/// How a simulator disagrees with a run.
fn miss(simulator: Simulator, run: &Recorded) -> Option<String> {
    let observed = run.observed().expect("its own containers");
    let compared = compare(simulator, &run.case, &observed, run.version());
    compared.err().map(|miss| miss.to_string())
}

#[test]
fn the_simulator_says_what_the_kubelet_did() {
    let runs = recorded();
    assert!(runs.len() >= 40, "{} runs", runs.len());
    let misses = runs.iter().filter_map(|(name, run)| {
        let miss = miss(REAL, run)?;
        Some(format!("{name}: {}\n{miss}", run.shows))
    });
    let misses: Vec<String> = misses.collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_broken_simulator_is_noticed() {
    let runs = recorded();
    for (what, broken) in BROKEN {
        let noticed = runs.values().any(|run| miss(broken, run).is_some());
        assert!(noticed, "no run tells a simulator that {what}");
    }
    for (name, what) in BY_CHANCE {
        let (_, broken) = BROKEN.iter().find(|(of, _)| *of == what).unwrap();
        assert!(
            miss(*broken, &runs[name]).is_some(),
            "{name} does not show what it is for"
        );
    }
}

/// A case that was changed has to be recorded again.
#[test]
fn the_files_are_those_of_the_cases() {
    let runs = recorded();
    let cases = telling_runs();
    let names: Vec<&str> = cases.iter().map(|telling| telling.name).collect();
    for name in runs.keys() {
        assert!(names.contains(&name.as_str()), "{name}.json is no run's");
    }
    for telling in cases {
        let run = runs
            .get(telling.name)
            .unwrap_or_else(|| panic!("no {}.json", telling.name));
        assert_eq!(
            (&*run.shows, &run.case),
            (telling.shows, &telling.case),
            "{}",
            telling.name
        );
    }
}
