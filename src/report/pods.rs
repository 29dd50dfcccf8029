//! From an object to what is simulated of it: its pods as the kubelet knows them, and what their containers are taken to do.

use crate::facts::Version;
use crate::intent::fault::{self, Fault};
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::knowledge::WhileLoading;
use crate::kubelet::{
    Container, Endpoint, Kind, Life, Loading, Micros, OnTerm, Pod, PreStop, RestartPolicy, Scenario,
};
use crate::subject::{Handler, Hook, Place, PodTemplate, Probe, Role};
use crate::words::Seconds;

/// Seconds that a load takes of which nothing is said.
pub const DEFAULT_LOAD: Seconds = Seconds(900);

/// What is simulated of a template.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) pod: Pod,
    pub(super) scenarios: Vec<Scenario>,
    /// The containers that load, by their number in the pod, with the seconds that takes.
    pub(super) loading: Vec<(usize, i64)>,
    /// What is taken for granted, one sentence a container that loads.
    pub(super) assumed: Vec<String>,
}

/// What is simulated of a template; `load` is for every container that loads, else the declared time counts.
pub(super) fn setting(
    template: &TemplateIntent<'_>,
    version: Version,
    load: Option<Seconds>,
) -> Setting {
    let mut setting = Setting {
        pod: Pod {
            containers: Vec::new(),
            restart_policy: policy(template.template.restart_policy()),
            grace: template.template.grace().unwrap_or(30),
            version,
            deletion: None,
        },
        scenarios: Vec::new(),
        loading: Vec::new(),
        assumed: Vec::new(),
    };
    let any_serves = template.serving().next().is_some();
    for one in &template.containers {
        if one.container.place == Place::Init {
            continue;
        }
        let loads = one.serves() || (!any_serves && one.container.place == Place::Regular);
        let number = setting.pod.containers.len();
        setting.pod.containers.push(container(one));
        if !loads {
            setting.scenarios.push(Scenario::default());
            continue;
        }
        let declared = one.declared.as_ref().map(|declared| declared.value);
        let load = load.or(declared).unwrap_or(DEFAULT_LOAD);
        let life = life(template, one, load);
        setting.loading.push((number, load.0));
        setting.assumed.push(assumed(one, load, &life));
        setting.scenarios.push(Scenario::always(life));
    }
    setting
}

fn container(one: &ContainerIntent<'_>) -> Container {
    let container = one.container;
    let hook = container
        .pre_stop
        .as_ref()
        .map(|hook| match hook.literal() {
            Some(seconds) => PreStop::Takes(Micros::secs(seconds)),
            None => PreStop::Unknown,
        });
    let own = container
        .raw
        .get("restartPolicy")
        .and_then(|policy| policy.as_str());
    Container {
        kind: match container.place {
            Place::Sidecar => Kind::Sidecar,
            Place::Init | Place::Regular => Kind::Regular,
        },
        startup: container.probe(Role::Startup).cloned(),
        liveness: container.probe(Role::Liveness).cloned(),
        readiness: container.probe(Role::Readiness).cloned(),
        port_names: container.port_names().map(str::to_owned).collect(),
        pre_stop: hook,
        restart_policy: own.map(policy),
        ..Container::named(&container.name)
    }
}

fn policy(word: &str) -> RestartPolicy {
    match word {
        "Never" => RestartPolicy::Never,
        "OnFailure" => RestartPolicy::OnFailure,
        _ => RestartPolicy::Always,
    }
}

/// What a container that loads is taken to do: what its server is known to do, else refuse until the load is done.
fn life(template: &TemplateIntent<'_>, one: &ContainerIntent<'_>, load: Seconds) -> Life {
    let load = Micros::secs(load.0);
    let mut life = Life::loading(load, Loading::Refused);
    if ignores_term(template.template, one) {
        life.on_term = OnTerm::Ignores;
    }
    for role in Role::ALL {
        let Some(probe) = one.container.probe(role) else {
            continue;
        };
        let faults = fault::faults(template, one, &probe.handler);
        if let Handler::Exec { command } = &probe.handler
            && faults
                .iter()
                .any(|fault| matches!(fault, Fault::Binary { .. }))
        {
            life.missing_commands.extend(command.first().cloned());
        }
        life.endpoints
            .push((role, endpoint(template, one, probe, &faults, load)));
    }
    life
}

/// What one probe meets.
fn endpoint(
    template: &TemplateIntent<'_>,
    one: &ContainerIntent<'_>,
    probe: &Probe,
    faults: &[Fault],
    load: Micros,
) -> Endpoint {
    let unreachable = |fault: &Fault| {
        matches!(
            fault,
            Fault::ClientCertificate
                | Fault::Credentials { .. }
                | Fault::Loopback { .. }
                | Fault::NodeAddress { .. }
                | Fault::PortNumber { .. }
                | Fault::Scheme { .. }
        )
    };
    if faults.iter().any(unreachable) {
        return Endpoint::CLOSED;
    }
    if faults.contains(&Fault::TellsNothing) {
        return Endpoint::AT_ONCE;
    }
    Endpoint {
        ready_at: load,
        while_loading: while_loading(template, one, &probe.handler),
        ..Endpoint::AT_ONCE
    }
}

/// What the server does while it loads, as far as it is known.
fn while_loading(
    template: &TemplateIntent<'_>,
    one: &ContainerIntent<'_>,
    handler: &Handler,
) -> Loading {
    if let Some(path) = fault::known_path(template, one, handler) {
        return match path.loading {
            WhileLoading::Early => Loading::Status200,
            WhileLoading::Refused => Loading::Refused,
            WhileLoading::Unavailable => Loading::Status503,
        };
    }
    let listens_early = one
        .server()
        .is_some_and(|server| server.preset.listens_early());
    match handler {
        // A connection is all that is asked for.
        Handler::Tcp { .. } if listens_early => Loading::Status503,
        _ => Loading::Refused,
    }
}

fn assumed(one: &ContainerIntent<'_>, load: Seconds, life: &Life) -> String {
    let mut parts = vec![format!("can serve {load} after its start")];
    for (role, endpoint) in &life.endpoints {
        let answer = match (endpoint.ready_at, endpoint.while_loading) {
            (Micros::NEVER, _) => "never passes",
            (Micros::ZERO, _) => "always passes",
            (_, Loading::Status200) => "passes while it loads",
            (_, Loading::Status503 | Loading::Refused) => "fails until then",
            (_, Loading::Hang | Loading::HeadersThenStall) => "hangs until then",
        };
        parts.push(format!("its {} {answer}", role.field()));
    }
    if life.on_term == OnTerm::Ignores {
        parts.push("it ignores SIGTERM, being a shell as process 1".to_owned());
    }
    format!("{} {}", one.container.name, parts.join(", "))
}

/// Whether process 1 is a shell that waits for a child: the kernel delivers no SIGTERM to a process 1 without a handler for it,
/// and a shell passes none on.
fn ignores_term(template: &PodTemplate<'_>, one: &ContainerIntent<'_>) -> bool {
    let shares = template.spec.get("shareProcessNamespace");
    if shares.and_then(|shares| shares.as_bool()) == Some(true) {
        return false;
    }
    let container = one.container;
    let mut words = container
        .command
        .iter()
        .chain(&container.args)
        .map(String::as_str);
    let shell = words
        .next()
        .map(|program| program.rsplit('/').next().unwrap_or(program));
    if !matches!(shell, Some("ash" | "bash" | "dash" | "ksh" | "sh" | "zsh")) {
        return false;
    }
    let has_script = words
        .by_ref()
        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'));
    has_script && words.next().is_some_and(stays)
}

/// Whether a shell stays process 1 while its script runs: not where the script ends in `exec`, and not where it is one command,
/// which shells replace themselves by. A script that sets a trap is taken to know what it does.
fn stays(script: &str) -> bool {
    // A redirection to a descriptor separates no commands.
    let script = script.replace(">&", ">");
    let mut commands = script
        .split(['\n', ';', '&', '|'])
        .map(str::trim)
        .filter(|command| !command.is_empty() && !command.starts_with('#'));
    let traps = |command: &str| command.split_whitespace().next() == Some("trap");
    let (first, last) = (commands.clone().next(), commands.clone().next_back());
    let alone = commands.clone().count() < 2;
    let execs = last.is_some_and(|last| last.split_whitespace().next() == Some("exec"));
    first.is_some() && !alone && !execs && !commands.any(traps)
}

/// How long a hook takes, for texts.
pub(super) fn hook(hook: &Hook) -> String {
    match (hook, hook.literal()) {
        (Hook::Sleep(seconds), _) => format!("sleep {seconds} s"),
        (_, Some(seconds)) => format!("exec sleep {seconds} s"),
        (Hook::Exec { .. }, None) => "exec, of unknown length".to_owned(),
        (Hook::Other, None) => "a request, of unknown length".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_stays_only_where_it_waits_for_a_child() {
        for script in [
            "sleep 60; touch /tmp/ready; sleep 3600",
            "cd /models && python serve.py",
            "set -e\npython serve.py",
            "exec 3>&1; python serve.py",
            "python serve.py | tee log",
        ] {
            assert!(stays(script), "{script}");
        }
        for script in [
            "",
            "python serve.py",
            "exec vllm serve m",
            "cd /models && exec python serve.py",
            "set -e\nexec python serve.py\n",
            "trap 'kill $pid' TERM; python serve.py & pid=$!; wait",
            "# a comment\npython serve.py",
            "exec python serve.py >/log 2>&1",
        ] {
            assert!(!stays(script), "{script}");
        }
    }
}
