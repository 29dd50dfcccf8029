//! What the benches share: their flags, the machine they ran on and whether it does anything else, programs in Go, tables, and the page
//! that has their figures.

pub(crate) mod go;
pub(crate) mod idle;
pub(crate) mod machine;
pub(crate) mod page;
pub(crate) mod table;

/// What a bench is told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Only tries everything out: the figures are no good.
    pub(crate) quick: bool,
    /// Writes the figures into the page.
    pub(crate) write: bool,
}

impl Options {
    /// Reads the flags behind `cargo bench --bench NAME --`.
    ///
    /// # Errors
    /// The flag that is not known, and those that are.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for argument in arguments {
            match argument.as_str() {
                // Cargo says so to every bench.
                "--bench" => {}
                "--quick" => options.quick = true,
                "--write" => options.write = true,
                other => {
                    return Err(format!(
                        "unknown flag {other}: there are --quick and --write"
                    ));
                }
            }
        }
        if options.quick && options.write {
            return Err("--quick gives no figures that could be written".to_owned());
        }
        Ok(options)
    }
}

/// The value in the middle; of an even number the lower one of the two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}
