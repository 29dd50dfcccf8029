//! What the binary does when it is not asked for tests.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::state::{self, State};
use crate::harness::{holder, interrupt, prerequisites, tools, versions};
use crate::suite::Need;
use crate::{image, kubelet, product, runner, suites};

/// The cluster that `--up` starts when it is given no name.
const NAME: &str = "dev";

const HELP: &str = "\
cargo test --profile sweep --test cluster -- [NAME...]   run the suites whose name contains one of these, or all
    --list                                    list them
    --up [NAME], --down [NAME]                start a cluster with warmgate and leave it running; end one, or all
    --foreground [NAME]                       start a cluster and end it with Ctrl-C
    --image FILE                              write warmgate's image
    --images                                  write the images of the tests, and list them
    --reproducible                            build it twice, in two folders, and compare
    --conformance FIRST PODS                  run the pods of so many seeds on a kubelet, and write docs/conformance.md
    --conformance                             write it anew from the runs that are kept
    --again SEED...                           run the pods of these seeds once more, for the same page
    --record [NAME...]                        record the telling runs of a kubelet anew, into tests/kubelet
    --pin VERSION                             pin another release of Kubernetes
KUBERNETES=VERSION chooses a pinned release; KUBECONFIG_E2E=FILE runs against the cluster it names";

/// Does what `arguments` say.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        // A cluster's first process must not listen for signals: it is to end with its pipe only.
        ["--hold", name] => return holder::hold(&State::of(name)),
        ["--help"] => {
            println!("{HELP}");
            Ok(())
        }
        ["--list"] => {
            for suite in suites::ALL {
                println!("{}: test", suite.name);
            }
            Ok(())
        }
        ["--up"] => up(NAME),
        ["--up", name] => up(name),
        ["--foreground"] => foreground(NAME),
        ["--foreground", name] => foreground(name),
        ["--down"] => state::all().iter().try_for_each(down),
        ["--down", name] => down(&State::of(name)),
        ["--image", file] => write(Path::new(file)),
        ["--images"] => images(),
        ["--reproducible"] => image::reproducible::compare(),
        ["--conformance", first, pods] => match (first.parse::<u64>(), pods.parse::<u64>()) {
            (Ok(first), Ok(pods)) => {
                kubelet::conformance::long(&(first..first + pods).collect::<Vec<_>>())
            }
            _ => Err(Fault::new(HELP)),
        },
        ["--conformance"] => kubelet::conformance::publish(),
        ["--again", seeds @ ..] => {
            let seeds: Result<Vec<u64>, _> = seeds.iter().map(|seed| seed.parse()).collect();
            seeds.map_or_else(
                |_| Err(Fault::new(HELP)),
                |seeds| kubelet::conformance::long(&seeds),
            )
        }
        ["--record", parts @ ..] => kubelet::record::record(parts),
        ["--pin", version] => tools::pin(version).map(|folder| println!("{}", folder.display())),
        filters if filters.iter().any(|word| word.starts_with('-')) => Err(Fault::new(HELP)),
        filters => {
            let filters: Vec<_> = filters.iter().map(ToString::to_string).collect();
            return match interrupt::listen() {
                Ok(()) => runner::run(suites::ALL, &filters),
                Err(fault) => failed(&fault),
            };
        }
    };
    outcome.map_or_else(|fault| failed(&fault), |()| ExitCode::SUCCESS)
}

fn failed(fault: &Fault) -> ExitCode {
    eprintln!("{fault}");
    ExitCode::FAILURE
}

/// Starts a cluster.
fn start(name: &str) -> Outcome<Cluster> {
    let missing = prerequisites::missing(Need::Machine);
    if !missing.is_empty() {
        return Err(Fault::new(missing.join("\n")));
    }
    interrupt::listen()?;
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    Cluster::start(&Options {
        kubernetes,
        name,
        kubelet: "",
    })
}

/// Starts a cluster, installs warmgate, and leaves it running.
fn up(name: &str) -> Outcome<()> {
    let cluster = start(name)?;
    product::install(&cluster).inspect_err(|_| cluster.show_logs())?;
    let programs = cluster.stay()?;
    println!("\nTo use its kubectl, helm (4) and helm3:\n");
    println!("    export PATH={}:$PATH\n", programs.display());
    println!("make cluster-down ends it.");
    Ok(())
}

/// Starts a cluster and keeps it until a signal comes.
fn foreground(name: &str) -> Outcome<()> {
    let _cluster = start(name)?;
    println!("running until Ctrl-C");
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn down(state: &State) -> Outcome<()> {
    let found = state.take_down().context(state.name())?;
    println!(
        "{}: {}",
        state.name(),
        if found {
            "taken down"
        } else {
            "nothing to take down"
        }
    );
    Ok(())
}

fn write(file: &Path) -> Outcome<()> {
    let digest = image::warmgate(file)?;
    let size = std::fs::metadata(file).context(file.display())?.len();
    println!("{} {digest} {:.1} MB", file.display(), size as f64 / 1e6);
    Ok(())
}

fn images() -> Outcome<()> {
    for image in [image::shell()?, image::slowserver()?, image::product()?] {
        println!("{}", image.display());
    }
    Ok(())
}
