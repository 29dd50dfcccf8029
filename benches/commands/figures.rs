//! What was measured, as the page shows it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::thread;

use crate::common::{machine, table::Table};
use crate::measure::Medians;
use crate::tree::{DOCUMENTS, FILES};
use crate::{Outcome, walk};

/// One program.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) medians: Medians,
}

/// Everything that was measured.
pub(crate) struct Figures {
    /// The size of all files, in bytes.
    bytes: u64,
    /// The last line of what `check` says of them.
    said: String,
    /// How many threads run at once.
    cores: usize,
    /// `check`, then the parsers.
    pub(crate) rows: Vec<Row>,
    /// `check` of one file, then a program that does nothing.
    pub(crate) file: Vec<Row>,
    /// Other programs.
    pub(crate) peers: Vec<Row>,
    /// Which of them are missing, and why.
    pub(crate) missing: Vec<String>,
}

impl Figures {
    /// Nothing measured yet.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(crate) fn of(tree: &Path, said: String) -> Outcome<Self> {
        let mut bytes = 0;
        for file in walk::files(tree)? {
            bytes += fs::metadata(file)?.len();
        }
        Ok(Self {
            bytes,
            said,
            cores: thread::available_parallelism().map_or(1, usize::from),
            rows: Vec::new(),
            file: Vec::new(),
            peers: Vec::new(),
            missing: Vec::new(),
        })
    }

    fn megabytes(&self) -> f64 {
        self.bytes as f64 / 1e6
    }

    fn rate(&self, row: &Row) -> f64 {
        self.megabytes() / row.medians.wall
    }

    fn table(&self, rows: &[Row]) -> Table {
        let heads = [
            "",
            "wall, s",
            "shortest to longest",
            "CPU, s",
            "MB/s",
            "peak memory, MB",
        ];
        let mut table = Table::new(heads);
        for row in rows {
            let Medians {
                wall,
                cpu,
                memory,
                range: (shortest, longest),
                ..
            } = row.medians;
            table.row([
                row.name.clone(),
                format!("{wall:.3}"),
                format!("{shortest:.3} to {longest:.3}"),
                format!("{cpu:.3}"),
                format!("{:.1}", self.rate(row)),
                format!("{memory:.1}"),
            ]);
        }
        table
    }

    /// What the aims are held against.
    fn aims(&self) -> Table {
        let mut table = Table::new(["aim", "seen"]);
        let Some((ours, parsers)) = self.rows.split_first() else {
            return table;
        };
        let by_wall = |a: &&Row, b: &&Row| a.medians.wall.total_cmp(&b.medians.wall);
        if let Some(fastest) = parsers.iter().min_by(by_wall) {
            let (wall, cpu) = ratios(fastest, ours);
            let name = &fastest.name;
            table.row([
                "0.8 of the speed of the fastest parser".to_owned(),
                format!("{wall:.2} of {name} by wall, {cpu:.2} by CPU"),
            ]);
        }
        let (rate, cores) = (self.rate(ours), self.cores);
        table.row([
            "25 MB/s on two cores".to_owned(),
            format!("{rate:.1} MB/s on {cores}"),
        ]);
        if let Some(file) = self.file.first() {
            table.row([
                "one file in 5 ms, start to exit".to_owned(),
                format!("{:.2} ms", file.medians.wall * 1e3),
            ]);
        }
        if let Some(best) = self.peers.iter().min_by(by_wall) {
            let (wall, cpu) = ratios(best, ours);
            let name = &best.name;
            table.row([
                "20 times as fast as the best of the others".to_owned(),
                format!("{wall:.1} times {name} by wall, {cpu:.1} by CPU"),
            ]);
        }
        table
    }

    fn one_file(&self) -> Table {
        let mut table = Table::new(["", "wall, ms", "CPU, ms", "peak memory, MB"]);
        for row in &self.file {
            let Medians {
                wall, cpu, memory, ..
            } = row.medians;
            table.row([
                row.name.clone(),
                format!("{:.2}", wall * 1e3),
                format!("{:.2}", cpu * 1e3),
                format!("{memory:.1}"),
            ]);
        }
        table
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, machine) = (self.megabytes(), machine::line());
        let runs = |rows: &[Row]| rows.first().map_or(0, |row| row.medians.runs);
        writeln!(f, "{machine}.\n")?;
        writeln!(
            f,
            "{FILES} files of {DOCUMENTS} documents, {size:.2} MB in all. `check` says of them: {}.\n",
            self.said
        )?;
        writeln!(f, "Medians of {} rounds:\n", runs(&self.rows))?;
        writeln!(f, "{}", self.table(&self.rows))?;
        if !self.peers.is_empty() {
            writeln!(f, "Others, medians of {} rounds:\n", runs(&self.peers))?;
            writeln!(f, "{}", self.table(&self.peers))?;
        }
        for why in &self.missing {
            writeln!(f, "Not measured: {why}.\n")?;
        }
        writeln!(f, "One file, medians of {} runs:\n", runs(&self.file))?;
        writeln!(f, "{}", self.one_file())?;
        write!(f, "{}", self.aims())
    }
}

/// How many times as long `slow` takes as `fast`, by wall and by CPU.
fn ratios(slow: &Row, fast: &Row) -> (f64, f64) {
    let (slow, fast) = (slow.medians, fast.medians);
    (slow.wall / fast.wall, slow.cpu / fast.cpu)
}
