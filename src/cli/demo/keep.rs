//! The webhook goes on listening, for whoever wants to ask it by hand.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::{Identity, Visit, client};
use crate::admit::Endpoint;
use crate::cli::{CliError, output};
use crate::webhook::{self, Server};

/// Prints how to ask with curl, and listens until it is told to end. The certificate and a review lie in a folder of their own
/// meanwhile.
pub(super) async fn listening(
    server: Server,
    identity: &Identity,
    visits: &[Visit],
) -> Result<(), CliError> {
    let end = webhook::termination()?;
    let folder = env::temp_dir().join(format!("warmgate-demo-{}", std::process::id()));
    let written = write(&folder, identity, visits);
    if written.is_ok() {
        output::styled(&how(&server, &folder))?;
        end.await;
    }
    // Whatever of it is there; the system empties its own folder otherwise.
    let _ = fs::remove_dir_all(&folder);
    server.stop().await;
    written
}

fn write(folder: &Path, identity: &Identity, visits: &[Visit]) -> Result<(), CliError> {
    let failed = |file: PathBuf| move |source| CliError::Write { file, source };
    fs::create_dir(folder).map_err(failed(folder.to_owned()))?;
    let certificate = folder.join("ca.pem");
    fs::write(&certificate, &identity.certificate).map_err(failed(certificate))?;
    if let Some(visit) = visits.first() {
        let review = folder.join("review.json");
        fs::write(&review, &visit.exchanges[0].review).map_err(failed(review))?;
    }
    Ok(())
}

fn how(server: &Server, folder: &Path) -> String {
    let folder = folder.display();
    let target = client::target(Endpoint::Mutate);
    format!(
        "\nStill listening; Ctrl-C ends it. Ask it yourself:\n\n  \
         curl --cacert {folder}/ca.pem -H 'content-type: application/json' --data @{folder}/review.json 'https://{}{target}'\n  \
         curl http://{}/metrics\n",
        server.admission_address(),
        server.health_address()
    )
}
