//! What the kubelet is told: the pod.

use super::time::Micros;
use crate::facts::Version;
use crate::subject::{Handler, Port, Probe, Role};

/// A pod, as far as starting, probing and killing its containers goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its sidecars and regular containers, each kind in the order of the spec. Ordinary init containers have no probes;
    /// the simulation starts when they are done.
    pub containers: Vec<Container>,
    /// `restartPolicy`.
    pub restart_policy: RestartPolicy,
    /// `terminationGracePeriodSeconds`.
    pub grace: i64,
    /// The kubelet's version.
    pub version: Version,
    /// When the pod is deleted, if it is.
    pub deletion: Option<Deletion>,
}

impl Pod {
    /// A pod with these containers and everything else as the API server fills it in.
    pub fn of(containers: Vec<Container>) -> Self {
        Self {
            containers,
            restart_policy: RestartPolicy::Always,
            grace: 30,
            version: Version::NEWEST,
            deletion: None,
        }
    }

    /// Whether a container that ended with `code` runs again.
    pub(super) fn restarts(&self, container: &Container, code: i64) -> bool {
        match self.policy(container) {
            RestartPolicy::Always => true,
            RestartPolicy::OnFailure => code != 0,
            RestartPolicy::Never => false,
        }
    }

    /// The restart policy that holds for a container.
    pub(super) fn policy(&self, container: &Container) -> RestartPolicy {
        match container.kind {
            Kind::Sidecar => RestartPolicy::Always,
            Kind::Regular if self.version.minor >= 35 => {
                container.restart_policy.unwrap_or(self.restart_policy)
            }
            Kind::Regular => self.restart_policy,
        }
    }
}

/// When something that ended runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RestartPolicy {
    /// Always.
    Always,
    /// Unless it exits with 0.
    OnFailure,
    /// Never.
    Never,
}

/// A delete request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// When it reaches the kubelet, counted from the start of the simulation.
    pub at: Micros,
    /// The grace period it asks for, in seconds; `None` leaves the pod's.
    pub grace: Option<i64>,
}

/// Which list of the pod a container stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `containers`.
    Regular,
    /// `initContainers`, with restartPolicy Always.
    Sidecar,
}

/// One container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Regular or sidecar.
    pub kind: Kind,
    /// `startupProbe`.
    pub startup: Option<Probe>,
    /// `livenessProbe`.
    pub liveness: Option<Probe>,
    /// `readinessProbe`.
    pub readiness: Option<Probe>,
    /// The names of the ports it declares.
    pub port_names: Vec<String>,
    /// `lifecycle.preStop`.
    pub pre_stop: Option<PreStop>,
    /// How long its first start waits for the image.
    pub pull: Micros,
    /// How long each restart waits for the image (imagePullPolicy Always asks the registry again).
    pub pull_again: Micros,
    /// How long `lifecycle.postStart` takes. Until it is done no container of the pod is newly probed.
    pub post_start: Micros,
    /// The container's own `restartPolicy`, without rules. It counts from 1.35 on (`ContainerRestartRules`). A sidecar's is
    /// Always anyway.
    pub restart_policy: Option<RestartPolicy>,
}

impl Container {
    /// A regular container without probes and hooks.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Regular,
            startup: None,
            liveness: None,
            readiness: None,
            port_names: Vec::new(),
            pre_stop: None,
            pull: Micros::ZERO,
            pull_again: Micros::ZERO,
            post_start: Micros::ZERO,
            restart_policy: None,
        }
    }

    /// The probe for `role`.
    pub fn probe(&self, role: Role) -> Option<&Probe> {
        match role {
            Role::Liveness => self.liveness.as_ref(),
            Role::Readiness => self.readiness.as_ref(),
            Role::Startup => self.startup.as_ref(),
        }
    }

    /// Whether the kubelet finds a port to probe. Up to 1.36 it also tries an undeclared name as a number
    /// (`ResolveContainerPort` in `pkg/probe/util.go`).
    pub(super) fn resolves(&self, handler: &Handler, version: Version) -> bool {
        let Some(Port::Name(name)) = handler.port() else {
            return true;
        };
        let is_number = || name.parse::<u16>().is_ok_and(|port| port > 0);
        self.port_names.contains(&name) || (version.minor <= 36 && is_number())
    }
}

/// A preStop hook. Whether it sleeps, runs a command or calls a URL, only its length matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreStop {
    /// It takes so long.
    Takes(Micros),
    /// Nobody knows its length. It is taken to run until the grace period cuts it off.
    Unknown,
}
