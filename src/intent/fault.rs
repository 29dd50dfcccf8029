//! What is wrong with a handler: why the kubelet would throw its results away, or why it can never pass.
//!
//! Such a handler is never copied into a startup probe: that would stop a pod that runs. The rules say the same of the
//! handler where it stands.

use super::{ContainerIntent, TemplateIntent};
use crate::knowledge::{Bind, Known, Server};
use crate::subject::{Handler, Port};

/// What is wrong with a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The program is not in the image: an error, thrown away (`pkg/probe/exec/exec.go`).
    Binary {
        /// The program.
        program: String,
    },
    /// The server refuses the path without credentials.
    Credentials,
    /// The server listens on the loopback address only; the kubelet asks the pod's own address.
    Loopback {
        /// What binds it there.
        source: String,
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
    if handler.always_passes() {
        faults.push(Fault::TellsNothing);
    }
    if let Some(Port::Name(name)) = handler.port()
        && container
            .container
            .resolve_port(&Port::Name(name.clone()))
            .is_none()
    {
        faults.push(Fault::PortName { name });
        return faults;
    }
    let Some(server) = container.server() else {
        return faults;
    };
    if let Handler::Exec { command } = handler {
        if let Some(program) = command.first()
            && server.shell == Some(false)
            && needs_userland(program)
        {
            faults.push(Fault::Binary {
                program: program.clone(),
            });
        }
        return faults;
    }
    if !rewritten(handler) {
        faults.extend(network_faults(template, container, server, handler));
    }
    faults
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

fn network_faults(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    server: &Server<'_>,
    handler: &Handler,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(asked) = handler
        .port()
        .and_then(|port| container.container.resolve_port(&port))
    else {
        return faults;
    };
    if owned_by_another(template, container, asked) {
        return faults;
    }
    if let Some(listens) = server
        .port
        .as_ref()
        .filter(|listens| contradicts(container, listens, asked))
        && !matches!(handler, Handler::Grpc { .. })
    {
        faults.push(Fault::PortNumber {
            asked,
            listens: listens.value,
            source: listens.source.clone(),
        });
        return faults;
    }
    if server.bind.value == Bind::Loopback && !asks_loopback(template, handler) {
        faults.push(Fault::Loopback {
            source: server.bind.source.clone(),
        });
    }
    let Handler::Http {
        https,
        path,
        headers,
        ..
    } = handler
    else {
        return faults;
    };
    if server.port.as_ref().is_none_or(|port| port.value != asked) {
        return faults;
    }
    if let Some(server_https) = &server.https
        && server_https.value != *https
    {
        faults.push(Fault::Scheme {
            server_https: server_https.value,
            source: server_https.source.clone(),
        });
    }
    let authorised = headers.iter().any(|name| {
        name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("x-api-key")
    });
    if server.credentials && server.path(path).is_some() && !authorised {
        faults.push(Fault::Credentials);
    }
    faults
}

/// Whether the server's own setting contradicts the port that is asked. A container that declares both has a second
/// listener, for health or metrics.
fn contradicts(container: &ContainerIntent<'_>, listens: &Known<i64>, asked: i64) -> bool {
    let declares = |port: i64| {
        container
            .container
            .ports
            .iter()
            .any(|one| i64::from(one.container_port) == port)
    };
    let is_default = listens.source.starts_with("default");
    listens.value != asked && !is_default && !(declares(asked) && declares(listens.value))
}

/// Whether a program is one of those that come with a shell.
fn needs_userland(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(
        name,
        "ash"
            | "bash"
            | "busybox"
            | "cat"
            | "curl"
            | "dash"
            | "grep"
            | "ls"
            | "nc"
            | "pgrep"
            | "sh"
            | "sleep"
            | "test"
            | "wget"
    )
}

/// Whether another container of the pod declares the port: a legal target, in front of the server.
fn owned_by_another(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    port: i64,
) -> bool {
    template
        .template
        .staying()
        .filter(|other| other.name != container.container.name)
        .any(|other| {
            other
                .ports
                .iter()
                .any(|declared| i64::from(declared.container_port) == port)
        })
}

/// Whether the handler asks the node's own loopback address from the node's network.
fn asks_loopback(template: &TemplateIntent<'_>, handler: &Handler) -> bool {
    let (Handler::Http { host, .. } | Handler::Tcp { host, .. }) = handler else {
        return false;
    };
    template.template.host_network()
        && host
            .as_deref()
            .is_some_and(|host| host == "localhost" || host == "::1" || host.starts_with("127."))
}

impl Fault {
    /// The fault in a few words.
    pub fn short(&self) -> String {
        match self {
            Self::Binary { program } => format!("the image has no {program}"),
            Self::Credentials => "the server refuses it without a key".to_owned(),
            Self::Loopback { source } => {
                format!("the server listens on the loopback address only ({source})")
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
