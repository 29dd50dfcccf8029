//! `warmgate demo`: the webhook at work, without a cluster.
//!
//! The server is the real one, and it is asked over TLS by a client that does what an API server does. What is printed is what came
//! back over the socket.

mod client;
mod defaults;
mod keep;
mod review;
mod story;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use json_patch::Patch;
use serde_json::Value;

use super::args::DemoArgs;
use super::input::{self, Text};
use super::{CliError, Exit, output};
use crate::admit::Endpoint;
use crate::facts::{Facts, Mode, Origin};
use crate::manifest::Manifest;
use crate::webhook::{Certificate, DrainTimes, Listen, Server, Settings};

use client::Client;

/// What is asked about where no file is named.
const BUNDLED: [(&str, &str); 3] = [
    (
        "examples/vllm-crash-loop.yaml",
        include_str!("../../../examples/vllm-crash-loop.yaml"),
    ),
    (
        "examples/slowboot-declared.yaml",
        include_str!("../../../examples/slowboot-declared.yaml"),
    ),
    (
        "examples/contradiction.yaml",
        include_str!("../../../examples/contradiction.yaml"),
    ),
];

/// The mode of the namespace that the objects are taken to be created in.
pub const MODE: Mode = Mode::Enforce;

/// One object of a file.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Where it stands: file and line.
    pub place: String,
    /// The object as the API server passes it on, with its defaults filled in.
    pub object: Value,
}

/// One question to the webhook, and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The endpoint that was asked.
    pub endpoint: Endpoint,
    /// The path and the query of the request.
    pub target: String,
    /// The body that was sent.
    pub review: Vec<u8>,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The body that came back.
    pub answer: Vec<u8>,
}

/// What an object met on its way through both endpoints.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The object as it was sent.
    pub subject: Subject,
    /// Whether it should be changed, then whether the result may be stored.
    pub exchanges: [Exchange; 2],
    /// The object with the patch that came back.
    pub patched: Value,
}

/// A certificate for the loopback address, and its key; both PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, which is its own authority.
    pub certificate: String,
    /// The key of this certificate.
    pub key: String,
}

/// The objects that the demo asks about where no file is named.
pub fn bundled() -> Vec<Subject> {
    let objects = BUNDLED.iter().flat_map(|(file, text)| {
        let manifest = Manifest::read(file, text);
        debug_assert!(manifest.errors.is_empty(), "{file} is part of the program");
        subjects(file, &manifest)
    });
    objects.collect()
}

/// Makes a certificate for one run.
///
/// # Errors
/// Where no key can be made.
pub fn identity() -> Result<Identity, CliError> {
    let names = ["localhost".to_owned(), Ipv4Addr::LOCALHOST.to_string()];
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(failed("no certificate could be made"))?;
    Ok(Identity {
        certificate: made.cert.pem(),
        key: made.signing_key.serialize_pem(),
    })
}

/// The settings of a webhook that listens on the loopback address, on ports that the system chooses.
pub fn settings(identity: &Identity) -> Settings {
    let loopback = Listen::on(Ipv4Addr::LOCALHOST, 0);
    Settings {
        admission: loopback,
        health: loopback,
        // Nobody else can be on the way to it.
        drain: DrainTimes {
            lame_duck: Duration::ZERO,
            limit: Duration::from_secs(1),
        },
        ..Settings::new(Certificate::Pem {
            chain: identity.certificate.clone().into_bytes(),
            key: identity.key.clone().into_bytes(),
        })
    }
}

/// Asks a webhook about each object, as an API server does when the object is created: first what should be changed, then, with
/// that change made, whether the result may be stored.
///
/// # Errors
/// Where the webhook cannot be reached, or answers something else than a review.
pub async fn visit(
    address: SocketAddr,
    identity: &Identity,
    subjects: &[Subject],
) -> Result<Vec<Visit>, CliError> {
    let mut client = Client::connect(address, &identity.certificate).await?;
    let mut visits = Vec::with_capacity(subjects.len());
    for (number, subject) in subjects.iter().enumerate() {
        let ask = |endpoint, object| {
            let uid = review::uid(number, endpoint);
            (endpoint, review::create(&uid, object))
        };
        let (endpoint, body) = ask(Endpoint::Mutate, &subject.object);
        let mutated = client.post(endpoint, body).await?;
        let mut patched = subject.object.clone();
        let patch = mutated.patch()?;
        json_patch::patch(&mut patched, &patch).map_err(failed("the patch does not apply"))?;
        let (endpoint, body) = ask(Endpoint::Validate, &patched);
        let validated = client.post(endpoint, body).await?;
        visits.push(Visit {
            subject: subject.clone(),
            exchanges: [mutated, validated],
            patched,
        });
    }
    Ok(visits)
}

impl Exchange {
    /// The `response` of the review that came back.
    ///
    /// # Errors
    /// Where something else came back.
    pub fn response(&self) -> Result<Value, CliError> {
        let mut answer: Value = serde_json::from_slice(&self.answer)
            .map_err(failed("the webhook did not answer with a review"))?;
        Ok(answer["response"].take())
    }

    /// The patch that came back; an empty one where there is none.
    ///
    /// # Errors
    /// Where something else than a patch came back.
    pub fn patch(&self) -> Result<Patch, CliError> {
        review::patch(&self.response()?)
    }
}

pub(super) fn run(args: &DemoArgs) -> Result<Exit, CliError> {
    let (subjects, exit) = match &args.file {
        None => (bundled(), Exit::Clean),
        Some(file) => of_file(file)?,
    };
    let identity = identity()?;
    super::webhook::runtime()?.block_on(async {
        let server = Server::start(settings(&identity)).await?;
        let address = server.admission_address();
        output::styled(&story::opening(address))?;
        let visits = visit(address, &identity, &subjects).await?;
        let facts = Facts::new(MODE, Origin::Admission);
        for (number, visit) in visits.iter().enumerate() {
            output::styled(&story::of_visit(number + 1, visit, &facts)?)?;
        }
        if args.keep {
            keep::listening(server, &identity, &visits).await?;
        }
        Ok(exit)
    })
}

/// The objects of a user's file that hold pods or may; what cannot be read is told.
fn of_file(file: &std::path::Path) -> Result<(Vec<Subject>, Exit), CliError> {
    let texts = input::read(&[file.to_owned()])?;
    let troubles = texts.troubles.iter().cloned();
    let troubles: Vec<_> = troubles
        .chain(texts.texts.iter().flat_map(Text::troubles))
        .collect();
    for trouble in &troubles {
        output::note(&format!("error: {trouble}"));
    }
    let found = texts
        .texts
        .iter()
        .flat_map(|text| subjects(&text.input.name(), &text.manifest));
    let exit = if troubles.is_empty() {
        Exit::Clean
    } else {
        Exit::Unreadable
    };
    Ok((found.collect(), exit))
}

fn subjects(file: &str, manifest: &Manifest) -> Vec<Subject> {
    let subject = |object: &crate::manifest::Object| {
        let mut value = object.value.clone();
        defaults::fill(&mut value);
        Subject {
            place: format!("{file}:{}", object.line),
            object: value,
        }
    };
    manifest.objects.iter().map(subject).collect()
}

/// An error of the demo with its cause.
fn failed<E>(what: &'static str) -> impl FnOnce(E) -> CliError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |source| CliError::Demo {
        what,
        source: Box::new(source),
    }
}
