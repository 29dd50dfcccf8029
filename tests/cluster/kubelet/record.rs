//! Records the telling runs, for the tests that replay them without a cluster.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::runs::{self, Run};
use crate::conformance::{BROKEN, BY_CHANCE, Recorded, Telling, compare, telling_runs};
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::{folders, versions};

/// How often a run is made that shows something by chance only.
const ATTEMPTS: usize = 8;

/// Records the runs whose name contains one of `parts`, or all, each in a file of its name.
///
/// # Errors
///
/// What the harness says; or that the simulator disagrees with a run, or a run that shows something by chance has not. They are
/// recorded all the same: the kubelet is right.
pub(crate) fn record(parts: &[&str]) -> Outcome<()> {
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    let mut nodes: BTreeMap<Option<i64>, Vec<Telling>> = BTreeMap::new();
    for telling in telling_runs() {
        if parts.is_empty() || parts.iter().any(|part| telling.name.contains(part)) {
            let node = telling.case.longest_back_off;
            nodes.entry(node).or_default().push(telling);
        }
    }
    let mut wrong = Vec::new();
    for (longest_back_off, tellings) in nodes {
        wrong.extend(on(kubernetes, longest_back_off, tellings)?);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Fault::new(wrong.join("\n")))
}

/// Records runs on nodes with this longest back-off, and says what is wrong.
fn on(
    kubernetes: &str,
    longest_back_off: Option<i64>,
    mut left: Vec<Telling>,
) -> Outcome<Vec<String>> {
    let cluster = runs::cluster(kubernetes, "record", longest_back_off)?;
    let version = runs::version(&cluster);
    let mut wrong = Vec::new();
    for attempt in 1..=ATTEMPTS {
        let namespace = cluster.namespace("record", &[]);
        let (runs, idle) = runs::run(&cluster, &namespace, &left)?;
        println!("{} runs, {idle:.0} % idle", runs.len());
        left.clear();
        for run in runs {
            write(kubernetes, &run)?;
            wrong.extend(run.miss(version));
            if shows_nothing(&run, kubernetes) {
                left.push(run.telling);
            }
        }
        if left.is_empty() || attempt == ATTEMPTS {
            break;
        }
    }
    wrong.extend(
        left.iter()
            .map(|telling| format!("{} shows nothing", telling.name)),
    );
    cluster.end()?;
    Ok(wrong)
}

/// Whether a run agrees with the broken simulator that it was to tell from the real one.
fn shows_nothing(run: &Run, kubernetes: &str) -> bool {
    let its = BY_CHANCE
        .iter()
        .filter(|(name, _)| *name == run.telling.name);
    let broken = its.flat_map(|(_, what)| BROKEN.iter().filter(move |(of, _)| of == what));
    let version = warmgate::facts::Version::parse(kubernetes);
    let version = version.expect("a pinned release");
    broken
        .map(|(_, simulator)| compare(*simulator, &run.telling.case, &run.observed, version))
        .any(|compared| compared.is_ok())
}

fn write(kubernetes: &str, run: &Run) -> Outcome<()> {
    let Telling { name, shows, case } = &run.telling;
    let recorded = Recorded::of(shows, kubernetes, case, &run.observed);
    let path = folders::package().join(format!("tests/kubelet/{name}.json"));
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Lines::default());
    recorded
        .serialize(&mut serializer)
        .context(path.display())?;
    text.push(b'\n');
    fs::write(&path, text).context(path.display())
}

/// One line for each member of the object, and for each element of its lists.
#[derive(Default)]
struct Lines {
    depth: usize,
    /// In a list of the object itself.
    in_list: bool,
}

impl Lines {
    fn next<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        let separator = match (first, self.depth, self.in_list) {
            (true, 1, _) => "\n  ",
            (true, 2, true) => "\n    ",
            (true, ..) => "",
            (false, 1, _) => ",\n  ",
            (false, 2, true) => ",\n    ",
            (false, ..) => ", ",
        };
        writer.write_all(separator.as_bytes())
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.in_list |= self.depth == 2;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let last: &[u8] = if self.in_list && self.depth == 2 {
            b"\n  ]"
        } else {
            b"]"
        };
        self.in_list &= self.depth > 2;
        self.depth -= 1;
        writer.write_all(last)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
