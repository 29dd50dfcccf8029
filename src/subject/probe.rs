//! One probe, with the API's defaults filled in.

use k8s_openapi::api::core::v1 as api;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::annotations::{HandlerPort, HandlerValue};

/// What a probe is for. Ordinary init containers have none, restartable ones have all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Kills until it has passed once, and holds the other two back until then.
    Startup,
    /// Kills.
    Liveness,
    /// Takes the pod out of its Services; never kills.
    Readiness,
}

impl Role {
    /// All roles, in the order in which a container meets them.
    pub const ALL: [Self; 3] = [Self::Startup, Self::Liveness, Self::Readiness];

    /// The field of a container that holds the probe.
    pub fn field(self) -> &'static str {
        match self {
            Self::Liveness => "livenessProbe",
            Self::Readiness => "readinessProbe",
            Self::Startup => "startupProbe",
        }
    }
}

/// A probe as the kubelet runs it: every number is there, 0 has become the default where the API says so
/// (`SetDefaults_Probe` in `pkg/apis/core/v1/defaults.go`). All times are seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What is asked.
    pub handler: Handler,
    /// `initialDelaySeconds`, D: counted from the container's start, default 0.
    pub initial_delay: i64,
    /// `periodSeconds`, P: default 10.
    pub period: i64,
    /// `timeoutSeconds`: default 1.
    pub timeout: i64,
    /// `failureThreshold`, F: default 3.
    pub failure_threshold: i64,
    /// `successThreshold`: default 1.
    pub success_threshold: i64,
    /// `terminationGracePeriodSeconds` of the probe itself: replaces the pod's when this probe kills.
    pub termination_grace: Option<i64>,
}

/// What a probe does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Runs a command in the container.
    Exec {
        /// The command and its arguments; no shell.
        command: Vec<String>,
    },
    /// Calls `grpc.health.v1.Health/Check`.
    Grpc {
        /// A number; gRPC probes take no name.
        port: i64,
        /// The service asked for, `""` if none is named.
        service: String,
    },
    /// Sends a GET request.
    Http {
        /// Where to, if not to the pod's own address.
        host: Option<String>,
        /// The path with its query, default `/`.
        path: String,
        /// The port.
        port: Port,
        /// Whether TLS is spoken.
        https: bool,
        /// The names of the request headers; their values may be secrets.
        headers: Vec<String>,
    },
    /// Opens a connection.
    Tcp {
        /// Where to, if not to the pod's own address.
        host: Option<String>,
        /// The port.
        port: Port,
    },
}

/// A port as a probe names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// By number.
    Number(i64),
    /// By the name of a port that the container declares.
    Name(String),
}

impl Probe {
    /// Reads a probe and fills in the API's defaults, or `None` if it has no handler.
    pub fn read(probe: &api::Probe) -> Option<Self> {
        let or = |value: Option<i32>, default: i64| match value {
            None | Some(0) => default,
            Some(value) => i64::from(value),
        };
        Some(Self {
            handler: Handler::read(probe)?,
            initial_delay: or(probe.initial_delay_seconds, 0),
            period: or(probe.period_seconds, 10),
            timeout: or(probe.timeout_seconds, 1),
            failure_threshold: or(probe.failure_threshold, 3),
            success_threshold: or(probe.success_threshold, 1),
            termination_grace: probe.termination_grace_period_seconds,
        })
    }
}

impl From<&HandlerValue> for Handler {
    fn from(value: &HandlerValue) -> Self {
        let port = |port: &HandlerPort| match port {
            HandlerPort::Name(name) => Port::Name(name.clone()),
            HandlerPort::Number(number) => Port::Number(i64::from(*number)),
        };
        match value {
            HandlerValue::Exec { command } => Self::Exec {
                command: command.clone(),
            },
            HandlerValue::Grpc { port, service } => Self::Grpc {
                port: i64::from(*port),
                service: service.clone(),
            },
            HandlerValue::Http {
                port: asked,
                path,
                https,
            } => Self::Http {
                host: None,
                path: path.clone(),
                port: port(asked),
                https: *https,
                headers: Vec::new(),
            },
            HandlerValue::Tcp { port: asked } => Self::Tcp {
                host: None,
                port: port(asked),
            },
        }
    }
}

impl Handler {
    fn read(probe: &api::Probe) -> Option<Self> {
        let port = |port: &IntOrString| match port {
            IntOrString::Int(number) => Port::Number(i64::from(*number)),
            IntOrString::String(name) => Port::Name(name.clone()),
        };
        let host = |host: &Option<String>| host.clone().filter(|host| !host.is_empty());
        if let Some(exec) = &probe.exec {
            return Some(Self::Exec {
                command: exec.command.clone().unwrap_or_default(),
            });
        }
        if let Some(grpc) = &probe.grpc {
            return Some(Self::Grpc {
                port: i64::from(grpc.port),
                service: grpc.service.clone().unwrap_or_default(),
            });
        }
        if let Some(http) = &probe.http_get {
            let path = http.path.clone().filter(|path| !path.is_empty());
            return Some(Self::Http {
                host: host(&http.host),
                path: path.unwrap_or_else(|| "/".to_owned()),
                port: port(&http.port),
                https: http.scheme.as_deref() == Some("HTTPS"),
                headers: http
                    .http_headers
                    .iter()
                    .flatten()
                    .map(|header| header.name.clone())
                    .collect(),
            });
        }
        let tcp = probe.tcp_socket.as_ref()?;
        Some(Self::Tcp {
            host: host(&tcp.host),
            port: port(&tcp.port),
        })
    }

    /// The port asked, or `None` for a command.
    pub fn port(&self) -> Option<Port> {
        match self {
            Self::Exec { .. } => None,
            Self::Grpc { port, .. } => Some(Port::Number(*port)),
            Self::Http { port, .. } | Self::Tcp { port, .. } => Some(port.clone()),
        }
    }
}
