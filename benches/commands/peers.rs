//! Other programs that judge the same files, built from the Go modules that `benches/peers` pins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::go;
use crate::{Outcome, walk};

/// A program that judges manifests.
pub(crate) struct Peer {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What it was told to judge.
    pub(crate) judges: &'static str,
    /// The folder of its module, below `benches/peers`.
    folder: &'static str,
    /// The module that its version is of.
    module: &'static str,
    /// The package that it is built from.
    package: &'static str,
    /// The arguments before those that name files.
    arguments: &'static [&'static str],
    /// How it is told of the tree.
    told: Told,
}

/// How a program is told what to read.
enum Told {
    /// Each file is an argument.
    Files,
    /// Each file is the value of this flag: of a folder it would read no folder inside.
    FilesOf(&'static str),
    /// The folder is the value of this flag.
    Folder(&'static str),
}

/// All of them.
pub(crate) const PEERS: [Peer; 3] = [
    Peer {
        name: "kube-score",
        judges: "its own checks",
        folder: "kube-score",
        module: "github.com/zegl/kube-score",
        package: "github.com/zegl/kube-score/cmd/kube-score",
        arguments: &["score", "--output-format", "ci"],
        told: Told::Files,
    },
    Peer {
        name: "gator test",
        judges: "one policy, in Rego",
        folder: "gator",
        module: "github.com/open-policy-agent/gatekeeper/v3",
        package: "github.com/open-policy-agent/gatekeeper/v3/cmd/gator",
        arguments: &["test", "--filename", "benches/peers/gator/policy.yaml"],
        told: Told::Folder("--filename"),
    },
    Peer {
        name: "kyverno apply",
        judges: "one policy, in CEL",
        folder: "kyverno",
        module: "github.com/kyverno/kyverno",
        package: "github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno",
        arguments: &["apply", "benches/peers/kyverno/policy.yaml"],
        told: Told::FilesOf("--resource"),
    },
];

impl Peer {
    /// The version that its module pins.
    ///
    /// # Errors
    ///
    /// That the file cannot be read or does not name it.
    pub(crate) fn version(&self) -> Outcome<String> {
        Ok(go::pinned(&self.source(), self.module)?)
    }

    /// Builds it below `programs`.
    ///
    /// # Errors
    ///
    /// What Go says.
    pub(crate) fn build(&self, programs: &Path) -> Outcome<PathBuf> {
        let name = self.package.rsplit('/').next().unwrap_or(self.package);
        let program = programs.join(name);
        go::build(&self.source(), self.package, &program)?;
        Ok(program)
    }

    /// The command line that judges the tree.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(crate) fn command(&self, program: &Path, tree: &Path) -> Outcome<Command> {
        let named: Vec<OsString> = match self.told {
            Told::Files => walk::files(tree)?.into_iter().map(Into::into).collect(),
            Told::FilesOf(flag) => walk::files(tree)?
                .into_iter()
                .flat_map(|file| [flag.into(), file.into()])
                .collect(),
            Told::Folder(flag) => vec![flag.into(), tree.into()],
        };
        let mut command = Command::new(program);
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(self.arguments)
            .args(named);
        Ok(command)
    }

    fn source(&self) -> PathBuf {
        go::module("peers").join(self.folder)
    }
}
