//! Why a probe that goes over the network cannot reach the server, or is refused by it.

use super::super::{ContainerIntent, TemplateIntent};
use super::Fault;
use crate::knowledge::{Bind, Known, Server};
use crate::subject::{Handler, Port};

/// Whether a handler asks the recognised server of the container, as far as its port tells.
pub fn asks(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    server: &Server<'_>,
    handler: &Handler,
) -> bool {
    let asked = handler
        .port()
        .and_then(|port| container.container.resolve_port(&port));
    asked.is_some_and(|asked| {
        server.port.as_ref().is_none_or(|port| port.value == asked)
            && !owned_by_another(template, container, asked)
            && (host(handler).is_none() || asks_loopback(template, handler))
    })
}

/// Why the recognised server does not answer a handler, or refuses it.
pub(super) fn network_faults(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    server: &Server<'_>,
    handler: &Handler,
) -> Vec<Fault> {
    let asked = handler
        .port()
        .and_then(|port| container.container.resolve_port(&port));
    let Some(asked) = asked.filter(|asked| !owned_by_another(template, container, *asked)) else {
        return Vec::new();
    };
    if host(handler).is_some() && !asks_loopback(template, handler) {
        return Vec::new();
    }
    if let Some(listens) = server.port.as_ref().filter(|port| port.value != asked) {
        let wrong = contradicts(container, server, listens, handler, asked)
            && !is_named_by_another(template, container, asked);
        let fault = wrong.then(|| Fault::PortNumber {
            asked,
            listens: listens.value,
            source: listens.source.clone(),
        });
        return fault.into_iter().collect();
    }
    let mut faults = Vec::new();
    if server.bind.value == Bind::Loopback && !asks_loopback(template, handler) {
        faults.push(Fault::Loopback {
            source: server.bind.source.clone(),
        });
    }
    if let Handler::Http {
        https,
        path,
        headers,
        ..
    } = handler
        && server.port.is_some()
    {
        faults.extend(http_faults(server, *https, path, headers));
    }
    faults
}

/// What is wrong with a request to the server's own port.
fn http_faults(server: &Server<'_>, https: bool, path: &str, headers: &[String]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(server_https) = &server.https
        && server_https.value != https
    {
        faults.push(Fault::Scheme {
            server_https: server_https.value,
            source: server_https.source.clone(),
        });
    }
    if https && server.client_certificates {
        faults.push(Fault::ClientCertificate);
    }
    let authorised = headers.iter().any(|name| {
        name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("x-api-key")
    });
    let guarded = server.guards(path);
    if (guarded || server.credentials && server.path(path).is_some()) && !authorised {
        // Without a tag nobody knows whether this release guards its health paths.
        let certain = guarded || server.tag.is_some();
        faults.push(Fault::Credentials { certain });
    }
    faults
}

/// Whether the server's own setting contradicts the port that is asked. A default may be changed where nobody sees it. A
/// container that declares both ports has a second listener, for health or metrics; so may one whose server is bound to the
/// loopback address, with a proxy of its own in front. Only a request tells that it means the server: a connection may be
/// meant for whatever the declared port is.
fn contradicts(
    container: &ContainerIntent<'_>,
    server: &Server<'_>,
    listens: &Known<i64>,
    handler: &Handler,
    asked: i64,
) -> bool {
    let declares = |port: i64| {
        container
            .container
            .ports
            .iter()
            .any(|one| i64::from(one.container_port) == port)
    };
    let second_listener = match handler {
        Handler::Http { .. } => declares(asked) && declares(listens.value),
        Handler::Tcp { .. } => declares(asked),
        Handler::Exec { .. } | Handler::Grpc { .. } => true,
    };
    !listens.source.starts_with("default")
        && server.bind.value != Bind::Loopback
        && !second_listener
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

/// Whether the command line of another container sets the port, which it need not declare: a sidecar may listen there in front
/// of the server.
fn is_named_by_another(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    port: i64,
) -> bool {
    let sets = |option: &str, value: &str| {
        let name = option.trim_start_matches('-').to_ascii_lowercase();
        let listens = ["addr", "bind", "listen", "port"];
        let number = value.rsplit(':').next().unwrap_or(value);
        option.starts_with('-')
            && listens.iter().any(|word| name.contains(word))
            && number.parse() == Ok(port)
    };
    let others = template.template.staying();
    others
        .filter(|other| other.name != container.container.name)
        .any(|other| {
            let words: Vec<&str> = other
                .command
                .iter()
                .chain(&other.args)
                .map(String::as_str)
                .collect();
            let joined = |word: &&str| {
                word.split_once('=')
                    .is_some_and(|(option, value)| sets(option, value))
            };
            words.iter().any(joined) || words.windows(2).any(|pair| sets(pair[0], pair[1]))
        })
}

/// The address that a handler names, if it is not the pod's own.
fn host(handler: &Handler) -> Option<&str> {
    match handler {
        Handler::Http { host, .. } | Handler::Tcp { host, .. } => host.as_deref(),
        Handler::Exec { .. } | Handler::Grpc { .. } => None,
    }
}

/// Whether an address means the machine that asks; Linux takes the unspecified one for the loopback address.
fn is_own(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    matches!(host, "localhost" | "::1" | "0.0.0.0" | "::") || host.starts_with("127.")
}

/// Whether the handler asks the loopback address from the network that the container is in.
fn asks_loopback(template: &TemplateIntent<'_>, handler: &Handler) -> bool {
    template.template.host_network() && host(handler).is_some_and(is_own)
}

/// The node's own address, where a handler names it and the pod has another network. A port that is bound to the node's
/// answers there all the same.
pub(super) fn node_address<'h>(
    template: &TemplateIntent<'_>,
    handler: &'h Handler,
) -> Option<&'h str> {
    let named = host(handler).filter(|host| is_own(host) && !template.template.host_network())?;
    let asked = match handler.port()? {
        Port::Number(number) => Some(number),
        Port::Name(_) => None,
    };
    let on_node = template.template.staying().any(|container| {
        let mut ports = container.ports.iter();
        ports.any(|port| {
            port.host_port
                .is_some_and(|bound| asked.is_none_or(|asked| i64::from(bound) == asked))
        })
    });
    (!on_node).then_some(named)
}
