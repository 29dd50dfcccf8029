//! What is wrong with a handler: why the kubelet would throw its results away, or why it can never pass.
//!
//! Such a handler is never copied into a startup probe: that would stop a pod that runs. The rules say the same of the
//! handler where it stands.

mod command;
mod network;

use super::{ContainerIntent, TemplateIntent};
use crate::annotations::HandlerValue;
use crate::knowledge::{PathRow, WhileLoading};
use crate::subject::{Handler, Port};

pub use network::asks;

/// What is wrong with a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command cannot be started: an error, thrown away (`pkg/probe/exec/exec.go`).
    Binary {
        /// Why it cannot.
        why: String,
    },
    /// The server refuses callers without a client certificate, and the kubelet has none.
    ClientCertificate,
    /// The server refuses the path without credentials.
    Credentials {
        /// Whether it is certain that this release does.
        certain: bool,
    },
    /// The server listens on the loopback address only; the kubelet asks the pod's own address.
    Loopback {
        /// What binds it there.
        source: String,
    },
    /// The handler names an address that is the node's own where the kubelet asks it (`pkg/probe/http/request.go`).
    NodeAddress {
        /// The address.
        host: String,
    },
    /// The name is not among the ports of the container: an error, thrown away (`pkg/probe/util.go`).
    PortName {
        /// The name.
        name: String,
    },
    /// The server listens on another port, and no other container declares the one that is asked.
    PortNumber {
        /// The port asked.
        asked: i64,
        /// The port that the server listens on.
        listens: i64,
        /// What says so.
        source: String,
    },
    /// The server speaks TLS and the handler does not, or the other way round.
    Scheme {
        /// Whether the server speaks TLS.
        server_https: bool,
        /// What says so.
        source: String,
    },
    /// It passes whatever the server does.
    TellsNothing,
}

/// What is wrong with a handler of a container.
pub fn faults(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    handler: &Handler,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Handler::Exec { command } = handler {
        faults.extend(command::not_started(container, command).map(|why| Fault::Binary { why }));
        if handler.always_passes() {
            faults.push(Fault::TellsNothing);
        }
        return faults;
    }
    if let Some(Port::Name(name)) = handler.port()
        && container
            .container
            .resolve_port(&Port::Name(name.clone()))
            .is_none()
    {
        return vec![Fault::PortName { name }];
    }
    if let Some(host) = network::node_address(template, handler) {
        return vec![Fault::NodeAddress {
            host: host.to_owned(),
        }];
    }
    if let Some(server) = container.server()
        && !rewritten(handler)
    {
        faults.extend(network::network_faults(
            template, container, server, handler,
        ));
    }
    faults
}

/// What of the spec contradicts the handler that an annotation asks for, so that it could never pass: another port or scheme, an
/// address that nobody outside reaches, a program that is not there. One that passes at once, whatever the server does, is no
/// startup probe either. A key is not asked after: what a server guards differs
/// from release to release, and its owner knows.
pub fn contradiction(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    asked: &HandlerValue,
) -> Option<Fault> {
    let handler = Handler::from(asked);
    never_passes(template, container, &handler).or_else(|| {
        let always = handler.always_passes();
        always.then_some(Fault::TellsNothing)
    })
}

/// What of the spec a handler contradicts, so that it can never pass.
pub fn never_passes(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    handler: &Handler,
) -> Option<Fault> {
    faults(template, container, handler)
        .into_iter()
        .find(|fault| {
            matches!(
                fault,
                Fault::Binary { .. }
                    | Fault::ClientCertificate
                    | Fault::Loopback { .. }
                    | Fault::PortNumber { .. }
                    | Fault::Scheme { .. }
            )
        })
}

/// What is known of the path that a handler asks, where it asks the recognised server itself: no other container in front of
/// it, and no other listener of its own.
pub fn known_path<'c>(
    template: &TemplateIntent<'_>,
    container: &'c ContainerIntent<'_>,
    handler: &Handler,
) -> Option<&'c PathRow> {
    let Handler::Http { path, .. } = handler else {
        return None;
    };
    let server = container.server()?;
    asks(template, container, server, handler).then(|| server.path(path))?
}

/// Whether a handler is known to pass before the server can serve: it tells nothing, or it asks what the server answers early.
pub fn passes_early(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    handler: &Handler,
) -> bool {
    let faults = faults(template, container, handler);
    if !faults.is_empty() {
        return faults == [Fault::TellsNothing];
    }
    match handler {
        Handler::Http { .. } => known_path(template, container, handler)
            .is_some_and(|path| path.loading == WhileLoading::Early),
        // A connection is all that is asked for.
        Handler::Tcp { .. } => container.server().is_some_and(|server| {
            server.preset.listens_early()
                && server.port.is_some()
                && asks(template, container, server, handler)
        }),
        Handler::Exec { .. } | Handler::Grpc { .. } => false,
    }
}

/// Whether a handler passes at its first try, however long the model loads: it never kills meanwhile, and holds nothing off.
pub fn passes_while_loading(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    handler: &Handler,
) -> bool {
    passes_early(template, container, handler) && !waits_for_weights(container, handler)
}

/// Whether a handler asks a server of which nobody listens until its weights are in.
pub fn waits_for_weights(container: &ContainerIntent<'_>, handler: &Handler) -> bool {
    matches!(handler, Handler::Http { .. } | Handler::Tcp { .. })
        && container
            .server()
            .is_some_and(|server| server.preset.listens_once_loaded())
}

/// The parameter in a path's query that makes a busy server answer as if it were dead. llama.cpp's is known by its name, also
/// where the server is not recognised.
pub fn busy_query<'p>(container: &'p ContainerIntent<'_>, path: &'p str) -> Option<&'p str> {
    const NO_SLOT: &str = "fail_on_no_slot";
    let known = container
        .server()
        .and_then(|server| server.preset.busy_query(path));
    let (_, query) = path.split_once('?')?;
    known.or_else(|| {
        query
            .split('&')
            .any(|part| part.split('=').next() == Some(NO_SLOT))
            .then_some(NO_SLOT)
    })
}

/// Whether a mesh injector has put its proxy between the kubelet and the server.
pub fn rewritten(handler: &Handler) -> bool {
    matches!(handler, Handler::Http { path, .. } if path.starts_with("/app-health/"))
}

impl Fault {
    /// The fault in a few words.
    pub fn short(&self) -> String {
        match self {
            Self::Binary { why } => why.clone(),
            Self::ClientCertificate => {
                "the server asks for a client certificate, the kubelet has none".to_owned()
            }
            Self::Credentials { .. } => "the server refuses it without a key".to_owned(),
            Self::Loopback { source } => {
                format!("the server listens on the loopback address only ({source})")
            }
            Self::NodeAddress { host } => {
                format!("the kubelet asks {host} of the node, not of the pod")
            }
            Self::PortName { name } => format!("the container declares no port {name:?}"),
            Self::PortNumber {
                asked,
                listens,
                source,
            } => format!("it asks port {asked}, the server listens on {listens} ({source})"),
            Self::Scheme {
                server_https: true,
                source,
            } => format!("the server speaks TLS ({source})"),
            Self::Scheme {
                server_https: false,
                source,
            } => format!("the server speaks no TLS ({source})"),
            Self::TellsNothing => "it passes whatever the server does".to_owned(),
        }
    }
}
