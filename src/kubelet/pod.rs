//! What the kubelet is told: the pod.

use super::backoff;
use super::time::Micros;
use crate::facts::Version;
use crate::subject::{self, Handler, Hook, Place, Port, Probe, Role};

/// `terminationGracePeriodSeconds` where none is written (`SetDefaults_PodSpec`).
const DEFAULT_GRACE: i64 = 30;

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
    /// The longest wait in CrashLoopBackOff that the kubelet is configured with
    /// (`crashLoopBackOff.maxContainerRestartPeriod`), by default 300 s.
    pub longest_back_off: Micros,
    /// When the pod is deleted, if it is.
    pub deletion: Option<Deletion>,
    /// When the kubelet ends the pod: `activeDeadlineSeconds`, which count from when it took the pod on
    /// (`pkg/kubelet/active_deadline.go`).
    pub active_deadline: Option<Micros>,
}

impl Pod {
    /// The probes of all its containers.
    pub fn probes(&self) -> impl Iterator<Item = &Probe> {
        let containers = self.containers.iter();
        containers.flat_map(|container| {
            Role::ALL
                .into_iter()
                .filter_map(|role| container.probe(role))
        })
    }

    /// The pod that a kubelet of this version is told by `template`. What the template does not say is as the API server
    /// fills it in; nothing has to be pulled, and a postStart hook whose length cannot be read off takes no time.
    pub fn read(template: &subject::PodTemplate<'_>, version: Version) -> Self {
        Self {
            restart_policy: RestartPolicy::parse(template.restart_policy()),
            grace: template.grace().unwrap_or(DEFAULT_GRACE),
            version,
            active_deadline: template
                .spec
                .get("activeDeadlineSeconds")
                .and_then(serde_json::Value::as_i64)
                .map(Micros::secs),
            ..Self::of(template.staying().map(Container::read).collect())
        }
    }

    /// A pod with these containers and everything else as the API server fills it in.
    pub fn of(containers: Vec<Container>) -> Self {
        Self {
            containers,
            restart_policy: RestartPolicy::Always,
            grace: DEFAULT_GRACE,
            version: Version::NEWEST,
            longest_back_off: backoff::LONGEST,
            deletion: None,
            active_deadline: None,
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

impl RestartPolicy {
    /// The policy that `word` names. The API takes no other word, and fills in `Always`.
    fn parse(word: &str) -> Self {
        match word {
            "Never" => Self::Never,
            "OnFailure" => Self::OnFailure,
            _ => Self::Always,
        }
    }
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
    /// A container as its pod template tells it.
    pub fn read(container: &subject::Container<'_>) -> Self {
        let hook = container.pre_stop.as_ref();
        let policy = container.raw.get("restartPolicy");
        Self {
            kind: match container.place {
                Place::Sidecar => Kind::Sidecar,
                Place::Init | Place::Regular => Kind::Regular,
            },
            startup: container.probe(Role::Startup).cloned(),
            liveness: container.probe(Role::Liveness).cloned(),
            readiness: container.probe(Role::Readiness).cloned(),
            port_names: container.port_names().map(str::to_owned).collect(),
            pre_stop: hook.map(|hook| match (hook, hook.literal()) {
                (Hook::Sleep(seconds), _) => PreStop::Sleeps(Micros::secs(*seconds)),
                (_, Some(seconds)) => PreStop::Takes(Micros::secs(seconds)),
                (_, None) => PreStop::Unknown,
            }),
            post_start: container
                .post_start
                .as_ref()
                .and_then(Hook::literal)
                .map_or(Micros::ZERO, Micros::secs),
            restart_policy: policy
                .and_then(|policy| policy.as_str())
                .map(RestartPolicy::parse),
            ..Self::named(&container.name)
        }
    }

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

/// A preStop hook. Where it runs matters, and its length; what it does does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreStop {
    /// The kubelet itself sleeps so long, whether the container lives or not.
    Sleeps(Micros),
    /// It takes so long inside of the container, and ends with it at the latest.
    Takes(Micros),
    /// Nobody knows its length. It is taken to run until the grace period cuts it off.
    Unknown,
}
