//! Runs that are kept, so that they can be judged again.

use std::fs;
use std::path::PathBuf;

use super::sample::Run;
use crate::conformance::{Recorded, draw};
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::folders;

/// The folder of the runs on one release.
pub(super) struct Kept {
    folder: PathBuf,
    kubernetes: String,
}

impl Kept {
    /// The runs on a release; there may be none.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(super) fn new(kubernetes: &str) -> Outcome<Self> {
        let folder = folders::base().join("conformance").join(kubernetes);
        fs::create_dir_all(&folder).context(folder.display())?;
        Ok(Self {
            folder,
            kubernetes: kubernetes.to_owned(),
        })
    }

    /// Keeps a run; one of which nothing is known is kept as an empty file.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(super) fn add(&self, run: &Run) -> Outcome<()> {
        let shows = format!("seed {}", run.seed);
        let path = self.folder.join(format!("{}.json", run.seed));
        let text = match &run.observed {
            None => String::new(),
            Some(observed) => {
                let recorded = Recorded::of(&shows, &self.kubernetes, &run.case, observed);
                serde_json::to_string(&recorded).context(path.display())?
            }
        };
        fs::write(&path, text).context(path.display())
    }

    /// All of them, in the order of their seeds.
    ///
    /// # Errors
    ///
    /// What the file system says, or that a file holds no run of the pod that its seed draws.
    pub(super) fn runs(&self) -> Outcome<Vec<Run>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.folder).context(self.folder.display())? {
            let path = entry.context(self.folder.display())?.path();
            let seed = path.file_stem().and_then(|stem| stem.to_str());
            let seed: u64 = seed.unwrap_or_default().parse().context(path.display())?;
            let text = fs::read_to_string(&path).context(path.display())?;
            let (class, case) = draw(seed);
            let observed = match text.as_str() {
                "" => None,
                text => {
                    let recorded: Recorded = serde_json::from_str(text).context(path.display())?;
                    if recorded.case != case {
                        let why = "the seed draws another pod by now";
                        return Err(Fault::new(format!("{}: {why}", path.display())));
                    }
                    recorded.observed()
                }
            };
            runs.push(Run {
                seed,
                class,
                case,
                observed,
            });
        }
        runs.sort_by_key(|run| run.seed);
        Ok(runs)
    }
}
