//! Pods drawn by chance: a third that must live, a third that must die, the rest near the edge or anywhere.

use serde_json::{Map, Value, json};
use warmgate::subject::Role;

use super::case::{Case, Removal, port};
use super::guard::Guard;
use super::random::Random;
use super::server::{Loading, MISSING, OnTerm, Server, asks, looks};

/// What the load of the first container is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// It is done within the guaranteed window.
    Lives,
    /// It is not done by the latest kill.
    Dies,
    /// It is done between the two.
    Edge,
    /// Whatever comes.
    Any,
}

impl Class {
    /// A third, a third, a sixth, a sixth.
    fn of(seed: u64) -> Self {
        [
            Self::Lives,
            Self::Dies,
            Self::Edge,
            Self::Lives,
            Self::Dies,
            Self::Any,
        ][usize::try_from(seed % 6).unwrap_or_default()]
    }

    /// How the page calls it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Lives => "lives",
            Self::Dies => "dies",
            Self::Edge => "edge",
            Self::Any => "any",
        }
    }
}

/// The longest that a pod is watched, in seconds.
const LONGEST: i64 = 75;

/// Draws the pod of a seed.
pub(crate) fn draw(seed: u64) -> (Class, Case) {
    let class = Class::of(seed);
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut pod = Pod::new(random);
    if random.percent(15) {
        pod.add_sidecar(random);
    }
    pod.add_engine(random, class);
    if random.percent(10) {
        pod.add_neighbour(random);
    }
    (class, pod.finish(random))
}

/// A pod under construction.
struct Pod {
    grace: i64,
    policy: &'static str,
    containers: Vec<Value>,
    sidecars: Vec<Value>,
    servers: std::collections::BTreeMap<String, Server>,
    /// How long it takes until most of it is over, in seconds.
    lasts: i64,
}

impl Pod {
    fn new(random: &mut Random) -> Self {
        Self {
            grace: random.of(1, 8),
            policy: random.one(&["Always", "Always", "Always", "OnFailure", "Never"]),
            containers: Vec::new(),
            sidecars: Vec::new(),
            servers: std::collections::BTreeMap::new(),
            lasts: 0,
        }
    }

    fn number(&self) -> usize {
        self.sidecars.len() + self.containers.len()
    }

    /// A sidecar delays the start of the others by its startup probe.
    fn add_sidecar(&mut self, random: &mut Random) {
        let mut sidecar = json!({"name": "proxy", "restartPolicy": "Always"});
        let mut server = Server::default();
        if random.percent(60) {
            let probe = numbers(random);
            server.ready_after = random.of(0, 1000 * probe.period * (probe.failures - 1).max(1));
            server.while_loading = random.one(&[Loading::Refused, Loading::Unavailable]);
            let handler = handler(random, port(self.number()));
            sidecar[Role::Startup.field()] = probe.with(handler, false);
            self.lasts += 15;
        }
        self.servers.insert("proxy".to_owned(), server);
        self.sidecars.push(sidecar);
    }

    /// The container that the pod is about: its load is chosen by the class.
    fn add_engine(&mut self, random: &mut Random, class: Class) {
        let port = port(self.number());
        let mut engine =
            json!({"name": "engine", "ports": [{"name": "http", "containerPort": port}]});
        let guard = if random.percent(70) {
            Role::Startup
        } else {
            Role::Liveness
        };
        let probe = numbers(random);
        let mut server = Server {
            while_loading: random.one(&Loading::ALL),
            ..Server::default()
        };
        if random.percent(20) {
            server.answers_in = random.of(50, 700);
        }
        let handler_of_guard = handler(random, port);
        engine[guard.field()] = probe.with(handler_of_guard, true);
        self.set_load(random, class, &engine, guard, &mut server);
        let load = server.ready_after.min(60_000) / 1000;
        if guard == Role::Startup && random.percent(60) {
            let liveness = numbers(random);
            let handler = handler(random, port);
            engine[Role::Liveness.field()] = liveness.with(handler, true);
            if random.percent(40) {
                let from = server.ready_after + random.of(2_000, 8_000);
                let span = 1000 * liveness.period * liveness.failures;
                server
                    .stalls
                    .push((from, from + random.of(500, span * 3 / 2)));
            }
        }
        if random.percent(40) {
            let readiness = numbers(random);
            let handler = handler(random, port);
            let mut readiness = readiness.with(handler, false);
            readiness["successThreshold"] = json!(random.of(1, 2));
            engine[Role::Readiness.field()] = readiness;
        }
        if random.percent(15) {
            let at = random.of(500, 1000 * (load + 12));
            server.exits = Some((at, u8::from(random.percent(60))));
        }
        server.on_term = match random.of(1, 10) {
            1..=5 => OnTerm::Abort,
            6..=7 => OnTerm::Ignore,
            _ => OnTerm::Serve(random.of(200, 10_000)),
        };
        if random.percent(30) {
            engine["lifecycle"] = json!({"preStop": hook(random, self.grace)});
        }
        self.lasts += load + 25;
        self.servers.insert("engine".to_owned(), server);
        self.containers.push(engine);
    }

    fn set_load(
        &self,
        random: &mut Random,
        class: Class,
        engine: &Value,
        role: Role,
        server: &mut Server,
    ) {
        server.ready_after = random.of(0, 30_000);
        let case = Case {
            pod: json!({"spec": {"containers": [engine]}}),
            servers: [("engine".to_owned(), server.clone())].into(),
            removal: None,
            longest_back_off: None,
            watched: LONGEST,
        };
        let pod = case.pod(warmgate::facts::Version::NEWEST);
        let probe = pod.containers[0].probe(role).cloned();
        let Some(guard) = probe.and_then(|probe| Guard::of(role, &probe, server)) else {
            return;
        };
        let (sure, latest) = (1000 * guard.survived(), 1000 * guard.fatal());
        server.ready_after = match class {
            Class::Lives => random.of(0, (sure - 300).max(0)),
            Class::Dies => latest + random.of(500, 20_000),
            Class::Edge => random.of(sure, latest),
            Class::Any => random.of(0, latest * 3 / 2),
        };
    }

    /// A container beside it, of which nothing is expected but that it does not disturb.
    fn add_neighbour(&mut self, random: &mut Random) {
        let port = port(self.number());
        let liveness = numbers(random).with(json!({"httpGet": {"port": port}}), true);
        let mut server = Server::default();
        if random.percent(50) {
            server.exits = Some((random.of(2_000, 20_000), random.one(&[0, 3])));
        }
        self.servers.insert("helper".to_owned(), server);
        self.containers
            .push(json!({"name": "helper", Role::Liveness.field(): liveness}));
    }

    fn finish(self, random: &mut Random) -> Case {
        let mut spec = json!({
            "restartPolicy": self.policy,
            "terminationGracePeriodSeconds": self.grace,
            "containers": self.containers,
        });
        if !self.sidecars.is_empty() {
            spec["initContainers"] = json!(self.sidecars);
        }
        let removal = random.percent(12).then(|| Removal {
            after: random.of(5, 35),
            grace: random.percent(50).then(|| random.of(1, 10)),
        });
        Case {
            pod: json!({"spec": spec}),
            servers: self.servers,
            removal,
            longest_back_off: None,
            watched: self.lasts.clamp(30, LONGEST),
        }
    }
}

/// The numbers of a probe.
struct Numbers {
    failures: i64,
    period: i64,
    delay: i64,
    timeout: i64,
    grace: Option<i64>,
}

fn numbers(random: &mut Random) -> Numbers {
    let period = random.of(1, 5);
    Numbers {
        failures: random.of(1, 6),
        period,
        delay: if random.percent(60) {
            0
        } else {
            random.of(1, 8)
        },
        timeout: match random.of(1, 10) {
            1..=5 => 1,
            6..=8 => random.of(1, period),
            _ => random.of(period + 1, period + 4),
        },
        grace: random.percent(25).then(|| random.of(1, 6)),
    }
}

impl Numbers {
    /// A probe with these numbers; only those that kill may have a grace period.
    fn with(&self, handler: Value, kills: bool) -> Value {
        let mut probe = Map::new();
        if let Value::Object(handler) = handler {
            probe.extend(handler);
        }
        // Commands cost the machine more than all else.
        let period = match probe.contains_key("exec") {
            true => self.period.max(3),
            false => self.period,
        };
        probe.insert("failureThreshold".to_owned(), json!(self.failures));
        probe.insert("periodSeconds".to_owned(), json!(period));
        probe.insert("initialDelaySeconds".to_owned(), json!(self.delay));
        probe.insert("timeoutSeconds".to_owned(), json!(self.timeout));
        if let Some(grace) = self.grace.filter(|_| kills) {
            probe.insert("terminationGracePeriodSeconds".to_owned(), json!(grace));
        }
        Value::Object(probe)
    }
}

fn handler(random: &mut Random, port: u16) -> Value {
    match random.of(1, 100) {
        1..=48 => json!({"httpGet": {"path": "/health", "port": port}}),
        49..=56 => json!({"httpGet": {"path": "/health", "port": "http"}}),
        57..=74 => json!({"tcpSocket": {"port": port + 2}}),
        75..=92 => json!({"grpc": {"port": port + 1}}),
        93..=95 => json!({"exec": {"command": asks(port)}}),
        96..=98 => json!({"exec": {"command": looks()}}),
        99 => json!({"exec": {"command": [MISSING]}}),
        _ => json!({"tcpSocket": {"port": "no-such-name"}}),
    }
}

/// A native sleep may not be longer than the pod's grace period, a command may.
fn hook(random: &mut Random, grace: i64) -> Value {
    match random.of(1, 10) {
        1..=4 => json!({"sleep": {"seconds": random.of(1, grace)}}),
        5..=8 => json!({"exec": {"command": ["sleep", random.of(1, 4).to_string()]}}),
        _ => json!({"exec": {"command": ["sleep", (grace + random.of(2, 20)).to_string()]}}),
    }
}
