//! Files that change under us, as the kubelet changes mounted ones.
//!
//! They are compared byte by byte at every look, because the kubelet swaps the link `..data` and touches nothing else, and
//! because a timer that sleeps through a suspended machine still looks soon after it. What cannot be used is counted and said
//! once, and what was used before stays.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::judgement::caught;
use super::labels::{File, Reload};
use super::log::chain;
use super::shared::Shared;
use super::tls::{self, TlsError};
use super::{Certificate, Settings};
use crate::facts::{Facts, FileError};

/// How often files are read at one look to find them the same twice.
const ATTEMPTS: usize = 3;

/// The watched files.
pub(super) struct Watch {
    certificate: Watched,
    facts: Option<Watched>,
    config: Option<Watched>,
}

impl Watch {
    /// Watches the files that the settings name.
    pub(super) fn new(settings: &Settings) -> Self {
        let file = |path: &PathBuf| Source::File(path.clone());
        let mut identity = match &settings.certificate {
            Certificate::Files { chain, key } => vec![file(chain), file(key)],
            Certificate::Pem { chain, key } => {
                vec![Source::Held(chain.clone()), Source::Held(key.clone())]
            }
        };
        identity.extend(settings.client_ca.as_ref().map(file));
        let watched = |path: &Option<PathBuf>| {
            let path = path.as_ref()?;
            Some(Watched::new(vec![file(path)]))
        };
        Self {
            certificate: Watched::new(identity),
            facts: watched(&settings.facts),
            config: watched(&settings.config),
        }
    }

    /// Uses what has changed, if it is good.
    pub(super) async fn look(&mut self, shared: &Shared) {
        let news = self.certificate.look().await;
        tell(shared, File::Certificate, news, |files| show(shared, files));
        if let Some(facts) = &mut self.facts {
            let news = facts.look().await;
            tell(shared, File::Facts, news, |files| {
                learn(shared, |known| known.with_facts_file("facts", &files[0]))
            });
        }
        if let Some(config) = &mut self.config {
            let news = config.look().await;
            tell(shared, File::Config, news, |files| {
                learn(shared, |known| known.with_config_file("config", &files[0]))
            });
        }
    }
}

fn show(shared: &Shared, files: &[Vec<u8>]) -> Result<(), TlsError> {
    let client_ca = files.get(2).map(Vec::as_slice);
    let identity = tls::identity(&files[0], &files[1], client_ca)?;
    shared.metrics.certificate_expires(identity.expires);
    shared.identity.store(Some(Arc::new(identity)));
    Ok(())
}

fn learn(
    shared: &Shared,
    change: impl FnOnce(&Facts) -> Result<Facts, FileError>,
) -> Result<(), FileError> {
    // Only the watch stores, so nothing is lost between the two.
    let known = change(&shared.known.load())?;
    shared.known.store(Arc::new(known));
    Ok(())
}

/// Takes what is new, counts how that went and says it.
fn tell<E: Error>(
    shared: &Shared,
    file: File,
    news: Option<io::Result<&[Vec<u8>]>>,
    take: impl FnOnce(&[Vec<u8>]) -> Result<(), E>,
) {
    let name = file.name();
    let result = match news {
        None => return,
        Some(Ok(files)) => match caught(|| take(files)) {
            Some(Ok(())) => {
                tracing::info!(file = name, "loaded");
                Reload::Ok
            }
            None => {
                // The next change is looked at all the same, and these bytes not again.
                shared.metrics.panicked();
                tracing::error!(
                    file = name,
                    "not taken by our own fault, the last good one stays"
                );
                Reload::Error
            }
            Some(Err(error)) => {
                tracing::error!(
                    file = name,
                    error = chain(&error),
                    "not taken, the last good one stays"
                );
                Reload::Error
            }
        },
        Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            tracing::warn!(file = name, "is missing");
            Reload::Missing
        }
        Some(Err(error)) => {
            tracing::error!(file = name, error = chain(&error), "cannot be read");
            Reload::Error
        }
    };
    shared.metrics.reloaded(file, result);
}

/// Where bytes come from.
enum Source {
    File(PathBuf),
    Held(Vec<u8>),
}

impl Source {
    async fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::File(path) => tokio::fs::read(path).await,
            Self::Held(bytes) => Ok(bytes.clone()),
        }
    }
}

/// Files that are used together.
struct Watched {
    sources: Vec<Source>,
    /// What was there at the last look, or why nothing was.
    seen: Option<Result<Vec<Vec<u8>>, io::ErrorKind>>,
}

impl Watched {
    fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            seen: None,
        }
    }

    /// What has changed since the last look.
    async fn look(&mut self) -> Option<io::Result<&[Vec<u8>]>> {
        match self.read().await {
            Ok(files) => {
                let known = self.seen.as_ref().and_then(|seen| seen.as_ref().ok());
                // Between two versions there is nothing to see; the next look finds the new one.
                let files = files.filter(|files| known != Some(files))?;
                let seen = self.seen.insert(Ok(files));
                seen.as_deref().ok().map(Ok)
            }
            Err(error) => {
                let news =
                    self.seen.as_ref().and_then(|seen| seen.as_ref().err()) != Some(&error.kind());
                self.seen = Some(Err(error.kind()));
                news.then_some(Err(error))
            }
        }
    }

    /// Reads the files until they are the same twice: a swap between two reads would pair a certificate with another's key.
    async fn read(&self) -> io::Result<Option<Vec<Vec<u8>>>> {
        let mut files = self.read_once().await?;
        for _ in 1..ATTEMPTS {
            let again = self.read_once().await?;
            if again == files {
                return Ok(Some(files));
            }
            files = again;
        }
        Ok(None)
    }

    async fn read_once(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut files = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            files.push(source.read().await?);
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::admit;

    #[test]
    fn a_panic_over_a_file_is_counted_and_the_last_good_one_stays() {
        let settings = Settings::new(Certificate::Pem {
            chain: Vec::new(),
            key: Vec::new(),
        });
        let shared = Shared::new(&settings, Box::new(admit));
        let before = shared.known.load_full();
        let take = |_: &[Vec<u8>]| -> Result<(), FileError> { panic!("as meant") };
        tell(&shared, File::Facts, Some(Ok(&[])), take);
        assert!(Arc::ptr_eq(&before, &shared.known.load_full()));
        let text = shared.metrics.text();
        for line in [
            "warmgate_panics_total 1\n",
            "warmgate_reloads_total{file=\"facts\",result=\"error\"} 1\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
