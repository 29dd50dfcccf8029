//! From an object to what is simulated of it: its pods as the kubelet knows them, and what their containers are taken to do.

use super::meets::Meets;
use crate::facts::Version;
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::kubelet::{Life, Loading, Micros, OnTerm, Pod, Scenario};
use crate::subject::{Handler, Hook, Length, Place, PodTemplate, Probe, Role};
use crate::words::{Seconds, inline_script};

/// Seconds that a load takes of which nothing is said.
pub const DEFAULT_LOAD: Seconds = Seconds(900);

/// What is simulated of a template.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) pod: Pod,
    pub(super) scenarios: Vec<Scenario>,
    /// The containers that load, by their number in the pod, with the seconds that takes.
    pub(super) loading: Vec<(usize, i64)>,
    /// What is taken for granted, one sentence a container.
    pub(super) assumed: Vec<String>,
}

/// What is simulated of a template; `load` is for every container that loads, else the declared time counts.
pub(super) fn setting(
    template: &TemplateIntent<'_>,
    version: Version,
    load: Option<Seconds>,
) -> Setting {
    let mut setting = Setting {
        pod: Pod::read(template.template, version),
        scenarios: Vec::new(),
        loading: Vec::new(),
        assumed: Vec::new(),
    };
    let any_serves = template.serving().next().is_some();
    let staying = template
        .containers
        .iter()
        .filter(|one| one.container.place != Place::Init);
    for (number, one) in staying.enumerate() {
        let loads = one.serves() || (!any_serves && one.container.place == Place::Regular);
        if !loads {
            if probes(one).next().is_some() {
                let name = &one.container.name;
                setting
                    .assumed
                    .push(format!("{name} can serve at its start"));
            }
            setting.scenarios.push(Scenario::default());
            continue;
        }
        let declared = one.declared.as_ref().map(|declared| declared.value);
        let load = load.or(declared).unwrap_or(DEFAULT_LOAD);
        let life = life(template, one, load);
        setting.loading.push((number, load.0));
        let assumed = assumed(template, one, load, life.on_term);
        setting.assumed.push(assumed);
        setting.scenarios.push(Scenario::always(life));
    }
    setting
}

/// What a container that loads is taken to do: what its server is known to do, else refuse until the load is done.
fn life(template: &TemplateIntent<'_>, one: &ContainerIntent<'_>, load: Seconds) -> Life {
    let load = Micros::secs(load.0);
    let mut life = Life::loading(load, Loading::Refused);
    if ignores_term(template.template, one) {
        life.on_term = OnTerm::Ignores;
    }
    for (role, probe) in probes(one) {
        let meets = Meets::of(template, one, probe);
        if let (Meets::Errs, Handler::Exec { command }) = (meets, &probe.handler) {
            life.missing_commands.extend(command.first().cloned());
        }
        life.endpoints.push((role, meets.endpoint(load)));
    }
    life
}

fn probes<'c>(one: &ContainerIntent<'c>) -> impl Iterator<Item = (Role, &'c Probe)> {
    let container = one.container;
    Role::ALL
        .into_iter()
        .filter_map(|role| Some((role, container.probe(role)?)))
}

/// What is taken for granted of a container that loads.
fn assumed(
    template: &TemplateIntent<'_>,
    one: &ContainerIntent<'_>,
    load: Seconds,
    on_term: OnTerm,
) -> String {
    let name = &one.container.name;
    let mut parts = vec![format!("{name} can serve from {load} after its start on")];
    for (role, probe) in probes(one) {
        let words = Meets::of(template, one, probe).words(probe);
        parts.push(format!("its {} {words}", role.field()));
    }
    parts.push(if on_term == OnTerm::Ignores {
        "it ignores SIGTERM, being a shell as process 1".to_owned()
    } else {
        "it ends at once on SIGTERM and never by itself".to_owned()
    });
    parts.join(", ")
}

/// Whether process 1 is a shell that waits for a child: the kernel delivers no SIGTERM to a process 1 without a handler for it,
/// and a shell passes none on.
fn ignores_term(template: &PodTemplate<'_>, one: &ContainerIntent<'_>) -> bool {
    let shares = template.spec.get("shareProcessNamespace");
    if shares.and_then(|shares| shares.as_bool()) == Some(true) {
        return false;
    }
    let container = one.container;
    let words = [container.command.as_slice(), &container.args].concat();
    inline_script(&words).is_some_and(stays)
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
    match hook {
        Hook::Exec { length, .. } => match length {
            Length::AtLeast(0) => "exec, of unknown length".to_owned(),
            Length::AtLeast(seconds) => format!("exec, of {seconds} s or more"),
            Length::Endless => "exec, without an end".to_owned(),
            Length::Exactly(seconds) => format!("exec sleep {seconds} s"),
        },
        Hook::Other => "a request, of unknown length".to_owned(),
        Hook::Sleep(seconds) => format!("sleep {seconds} s"),
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
