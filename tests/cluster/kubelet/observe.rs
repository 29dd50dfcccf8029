//! From what the kubelet, the runtime and the servers wrote to what happened to each pod.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use warmgate::kubelet::Micros;
use warmgate::subject::Role;

use super::runtime::Task;
use super::server_logs::ServerLogs;
use crate::conformance::{Life, Line, Observed, Seen, Sight, telling};

/// How long after the last failure of a probe the kubelet kills for it, at most.
const AT_ONCE: Micros = Micros::secs(2);

/// Everything that was written while pods ran.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The kubelet's lines about each pod, by `namespace/name`.
    lines: BTreeMap<String, Vec<Line>>,
    tasks: Vec<Task>,
    servers: ServerLogs,
}

/// The moments of one pod, since the epoch, before its time 0 is known.
struct Pod<'a> {
    lines: &'a [Line],
    names: &'a [String],
}

impl Evidence {
    /// Sorts `text` of the kubelet's log, written in `year`, by pods.
    pub(crate) fn new(text: &str, year: i64, tasks: Vec<Task>, servers: ServerLogs) -> Self {
        let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in text.lines().filter_map(|line| Line::read(line, year)) {
            for pod in pods(&line) {
                lines.entry(pod).or_default().push(line.clone());
            }
        }
        Self {
            lines,
            tasks,
            servers,
        }
    }

    /// The kubelet's lines about a pod.
    pub(crate) fn lines(&self, namespace: &str, name: &str) -> &[Line] {
        self.lines
            .get(&format!("{namespace}/{name}"))
            .map_or(&[], Vec::as_slice)
    }

    /// What the servers wrote.
    pub(crate) fn servers(&self) -> &ServerLogs {
        &self.servers
    }

    /// Whether the machine was too busy to let the servers of a pod do what they were told.
    pub(crate) fn disturbed(&self, name: &str) -> bool {
        self.servers.says(name, "starved")
    }

    /// When the kubelet began to make the first container of the pod `name`, since the epoch.
    pub(crate) fn zero(&self, namespace: &str, name: &str) -> Option<Micros> {
        let lines = self.lines(namespace, name);
        Pod { lines, names: &[] }.zero()
    }

    /// What happened to the pod `name` whose containers have these `names`, in its first `watched` seconds; nothing where no
    /// container was ever made.
    pub(crate) fn observed(
        &self,
        namespace: &str,
        name: &str,
        names: &[String],
        watched: i64,
    ) -> Option<Observed> {
        let pod = Pod {
            lines: self.lines(namespace, name),
            names,
        };
        let zero = pod.zero()?;
        let until = zero + Micros::secs(watched);
        let mut lives = self.lives(&pod, name);
        let mut sights: Vec<Sight> = Vec::new();
        for life in &lives {
            let seen = |at: Micros, seen: Seen| Sight {
                at,
                container: life.container,
                seen,
            };
            sights.push(seen(life.started, Seen::Started));
            if let Some((at, code)) = life.ended {
                sights.push(seen(at, Seen::Exited(code)));
            }
        }
        sights.extend(pod.probes());
        sights.extend(pod.decisions());
        sights.extend(pod.hooks());
        sights.extend(pod.readiness(&lives));
        sights.extend(pod.waits(&lives));
        sights.retain(|sight| sight.at <= until);
        lives.retain(|life| life.started <= until);
        for sight in &mut sights {
            sight.at = sight.at - zero;
        }
        sights.sort_by_key(|sight| sight.at);
        let sights = telling(sights);
        Some(Observed {
            grid: pod.grid().map_or(Micros::ZERO, |at| at - zero),
            fraction: zero - zero.floor(),
            deleted: pod.deleted().filter(|at| *at <= until).map(|at| at - zero),
            lives: lives.iter().map(|life| life.from(zero)).collect(),
            sights,
            syncs: std::iter::once(Micros::ZERO)
                .chain(
                    pod.syncs()
                        .filter(|at| *at > zero && *at <= until)
                        .map(|at| at - zero),
                )
                .collect(),
            until: Micros::secs(watched),
        })
    }

    /// Every instance of the pod's containers. The kubelet makes them one after another, so the first start after it began to
    /// make one is that one's.
    fn lives(&self, pod: &Pod<'_>, name: &str) -> Vec<Instance> {
        let ids = pod.ids();
        let its: Vec<&Task> = self
            .tasks
            .iter()
            .filter(|task| ids.contains(&task.id))
            .collect();
        let making = pod.making();
        let mut counts = vec![0; pod.names.len()];
        let mut lives = Vec::new();
        for (place, (made, container)) in making.iter().enumerate() {
            let next = making.get(place + 1).map_or(Micros::NEVER, |(at, _)| *at);
            let start = its
                .iter()
                .find(|task| task.ended.is_none() && task.at >= *made && task.at < next);
            let Some(start) = start else { continue };
            let end = its
                .iter()
                .find(|task| task.ended.is_some() && task.id == start.id);
            let instance = counts[*container];
            counts[*container] += 1;
            let container_name = &pod.names[*container];
            // Since when there was nothing else to do.
            let begun = pod.syncs().take_while(|at| at <= made).last();
            let before = lives.iter().flat_map(|life: &Instance| {
                [Some(life.started), life.stopped].into_iter().flatten()
            });
            let free = before.chain(begun).filter(|at| at <= made).max();
            let made = if place == 0 {
                *made
            } else {
                free.unwrap_or(*made)
            };
            let ended = end.and_then(|end| Some((end.at, end.ended?)));
            lives.push(Instance {
                container: *container,
                instance,
                made,
                started: start.at,
                program: self.servers.when(name, container_name, instance, "start"),
                published: pod.synced_after("ContainerStarted", &start.id),
                stopped: pod.stopped(&start.id),
                noticed: pod.synced_after("ContainerDied", &start.id),
                ended,
            });
        }
        lives
    }
}

/// A [`Life`] in moments since the epoch.
struct Instance {
    container: usize,
    instance: u32,
    made: Micros,
    started: Micros,
    program: Option<Micros>,
    published: Option<Micros>,
    ended: Option<(Micros, i64)>,
    stopped: Option<Micros>,
    noticed: Option<Micros>,
}

impl Instance {
    /// The same, counted from `zero`.
    fn from(&self, zero: Micros) -> Life {
        let from = |at: Option<Micros>| at.map(|at| at - zero);
        Life {
            container: self.container,
            instance: self.instance,
            made: self.made - zero,
            started: self.started - zero,
            program: from(self.program),
            published: from(self.published),
            ended: from(self.ended.map(|(at, _)| at)),
            stopped: from(self.stopped),
            noticed: from(self.noticed),
        }
    }
}

impl Pod<'_> {
    fn saying<'b>(&'b self, message: &'b str) -> impl Iterator<Item = &'b Line> {
        self.lines
            .iter()
            .filter(move |line| line.message == message)
    }

    fn events<'b>(&'b self, reason: &'b str) -> impl Iterator<Item = (&'b Line, usize)> {
        let events = self.saying("Event occurred");
        events.filter_map(move |line| {
            let field = line.word("fieldPath");
            let name = field.split_once('{')?.1.strip_suffix('}')?;
            (line.word("reason") == reason).then_some((line, self.number(name)?))
        })
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|one| one == name)
    }

    fn zero(&self) -> Option<Micros> {
        self.saying("Creating container in pod")
            .next()
            .map(|line| line.at)
    }

    /// When each container was made, in order.
    fn making(&self) -> Vec<(Micros, usize)> {
        self.saying("Creating container in pod")
            .filter_map(|line| Some((line.at, self.number(line.word("container"))?)))
            .collect()
    }

    /// When the probe workers were made: each looks once at once, and finds no container yet.
    fn grid(&self) -> Option<Micros> {
        let early = ["Probe target container not found", "No status for pod"];
        let mut lines = self.lines.iter();
        lines
            .find(|line| early.contains(&line.message.as_str()))
            .map(|line| line.at)
    }

    /// What the kubelet has found out about what the runtime runs for it: when, what, and of which id.
    fn findings(&self) -> impl Iterator<Item = (Micros, Value)> {
        self.saying("SyncLoop (PLEG): event for pod")
            .filter_map(|line| Some((line.at, serde_json::from_str(line.word("event")).ok()?)))
    }

    /// The ids of the containers that the runtime runs for it. The sandbox is one more to the runtime.
    fn ids(&self) -> BTreeSet<String> {
        let sandboxes: BTreeSet<&str> = self
            .saying("Created PodSandbox for pod")
            .map(|line| line.word("podSandboxID"))
            .collect();
        self.findings()
            .filter_map(|(_, event)| event["Data"].as_str().map(str::to_owned))
            .filter(|id| !sandboxes.contains(id.as_str()))
            .collect()
    }

    /// When it was first synced after the kubelet had found out `what` about the runtime's `id`: it writes that down before it
    /// says so.
    fn synced_after(&self, what: &str, id: &str) -> Option<Micros> {
        let mut findings = self.findings();
        let (said, _) = findings.find(|(_, event)| event["Type"] == what && event["Data"] == id)?;
        let written = self.saying("PLEG: Write status").map(|line| line.at);
        let written = written.take_while(|at| *at <= said).last()?;
        self.syncs().find(|at| *at >= written)
    }

    /// When the kubelet went on that had killed the runtime's `id`.
    fn stopped(&self, id: &str) -> Option<Micros> {
        self.saying("Container exited normally")
            .find(|line| line.word("containerID").ends_with(id))
            .map(|line| line.at)
    }

    fn syncs(&self) -> impl Iterator<Item = Micros> {
        self.saying("SyncPod enter").map(|line| line.at)
    }

    /// When the kubelet began to end it.
    fn deleted(&self) -> Option<Micros> {
        self.saying("SyncTerminatingPod enter")
            .next()
            .map(|line| line.at)
    }

    /// Every probe that can kill.
    fn probes(&self) -> Vec<Sight> {
        let sight = |line: &Line| {
            let seen = match line.message.as_str() {
                "Probe succeeded" | "Probe succeeded with a warning" => Seen::passed,
                "Probe failed" => Seen::failed,
                "Probe errored" => Seen::errored,
                _ => return None,
            };
            Some(Sight {
                at: line.at,
                container: self.number(line.word("containerName"))?,
                seen: seen(role(line.word("probeType"))?)?,
            })
        };
        self.lines.iter().filter_map(sight).collect()
    }

    /// When a probe had failed often enough: the last failure before the kubelet began to kill for it. It names the probe, but
    /// not where the pod ends with the container; then it is the last probe that failed.
    fn decisions(&self) -> Vec<Sight> {
        let deleted = self.deleted().unwrap_or(Micros::NEVER);
        let decision = |(line, container): (&Line, usize)| {
            let message = line.word("message");
            let named = [Role::Startup, Role::Liveness]
                .into_iter()
                .find(|role| message.contains(&format!("failed {} probe", role_word(*role))));
            if named.is_none() && line.at >= deleted {
                return None;
            }
            let failures = self.saying("Probe failed").filter_map(|failed| {
                let of = self.number(failed.word("containerName"))?;
                let role = role(failed.word("probeType"))?;
                (failed.at <= line.at && role != Role::Readiness).then_some((failed.at, of, role))
            });
            let (at, of, role) = match named {
                Some(named) => failures
                    .filter(|(_, of, role)| *of == container && *role == named)
                    .last()?,
                // A pod of which no container stays: all are told to stop, for one of them.
                None => failures
                    .filter(|(at, ..)| line.at - *at <= AT_ONCE)
                    .last()?,
            };
            if of != container {
                return None;
            }
            Some(Sight {
                at,
                container,
                seen: Seen::kills(role)?,
            })
        };
        self.events("Killing").filter_map(decision).collect()
    }

    fn hooks(&self) -> Vec<Sight> {
        let sight = |line: &Line| {
            let seen = match line.message.as_str() {
                "Running preStop hook" => Seen::PreStop,
                "PreStop hook completed" => Seen::PreStopEnded,
                "PreStop hook not completed in grace period" => Seen::PreStopCutOff,
                _ => return None,
            };
            Some(Sight {
                at: line.at,
                container: self.number(line.word("containerName"))?,
                seen,
            })
        };
        self.lines.iter().filter_map(sight).collect()
    }

    /// When a container's readiness probe had passed or failed often enough. The kubelet names the pod only, and says it of
    /// every new instance and of every end as well: only one container of a pod has such a probe, and what its probe has
    /// not just found is left out.
    fn readiness(&self, lives: &[Instance]) -> Vec<Sight> {
        let mut sights = Vec::new();
        let mut was_ready = None;
        for (place, line) in self.lines.iter().enumerate() {
            if line.message != "SyncLoop (probe)" || line.word("probe") != "readiness" {
                continue;
            }
            let probe = self.lines[..place].iter().rev().find(|line| {
                line.message.starts_with("Probe ") && line.word("probeType") == "Readiness"
            });
            let Some(container) = probe.and_then(|it| self.number(it.word("containerName"))) else {
                continue;
            };
            let life = lives.iter().find(|life| {
                life.container == container
                    && life.started <= line.at
                    && life.ended.is_none_or(|(end, _)| line.at <= end)
            });
            let Some(life) = life else { continue };
            let seen = if line.word("status") == "ready" {
                was_ready = Some(life.instance);
                Seen::Ready
            } else if was_ready == Some(life.instance) {
                was_ready = None;
                Seen::NotReady
            } else {
                continue;
            };
            sights.push(Sight {
                at: line.at,
                container,
                seen,
            });
        }
        sights
    }

    /// When a container began to wait, once for every end.
    fn waits(&self, lives: &[Instance]) -> Vec<Sight> {
        let mut sights: Vec<Sight> = Vec::new();
        let mut told = BTreeSet::new();
        for (line, container) in self.events("BackOff") {
            let lived = lives.iter().filter(|life| life.container == container);
            let before = lived.filter(|life| life.started <= line.at).count();
            if told.insert((container, before)) {
                sights.push(Sight {
                    at: line.at,
                    container,
                    seen: Seen::BackOff,
                });
            }
        }
        sights
    }
}

/// The pods that a line is about.
fn pods(line: &Line) -> Vec<String> {
    let one = match line.message.as_str() {
        "Event occurred" => line.word("object"),
        _ => line.word("pod"),
    };
    if !one.is_empty() {
        return vec![one.to_owned()];
    }
    serde_json::from_str(line.word("pods")).unwrap_or_default()
}

fn role(word: &str) -> Option<Role> {
    let word = word.to_lowercase();
    Role::ALL.into_iter().find(|role| role_word(*role) == word)
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::Startup => "startup",
        Role::Liveness => "liveness",
        Role::Readiness => "readiness",
    }
}
