//! Kubernetes, etcd and both Helms, built from their Go modules and kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::command::{output, run};
use super::fault::{Context, Fault, Outcome};
use super::folders;
use super::steps::Steps;

/// A Go module of ours that pins others, and what is built from it.
struct Tool {
    /// The name of the module's folder, and of the folder of its programs.
    folder: String,
    /// Packages, or a file of ours that is built with the module.
    packages: &'static [&'static str],
    /// What the linker is told besides stripping.
    stamp: String,
}

/// Where the programs are.
#[derive(Debug)]
pub(crate) struct Tools {
    kubernetes: PathBuf,
    etcd: PathBuf,
    helm3: PathBuf,
    helm4: PathBuf,
}

impl Tools {
    /// Builds what is not built yet of everything a cluster of `kubernetes` needs.
    ///
    /// # Errors
    ///
    /// What Go says.
    pub(crate) fn build(kubernetes: &str, steps: &Steps) -> Outcome<Self> {
        let _lock = lock()?;
        let [helm3, helm4] = helms(steps)?;
        Ok(Self {
            kubernetes: Tool::kubernetes(kubernetes).build(steps)?,
            etcd: Tool::plain(
                "etcd",
                &[
                    "go.etcd.io/etcd/server/v3",
                    "sigs.k8s.io/cri-tools/cmd/crictl",
                ],
            )
            .build(steps)?,
            helm3,
            helm4,
        })
    }

    /// Builds both Helms alone, 3 and 4: rendering a chart needs no cluster.
    ///
    /// # Errors
    ///
    /// What Go says.
    pub(crate) fn helms(steps: &Steps) -> Outcome<[PathBuf; 2]> {
        let _lock = lock()?;
        helms(steps)
    }

    /// Builds the part of an API server of `kubernetes` that webhooks meet.
    ///
    /// # Errors
    ///
    /// What Go says.
    pub(crate) fn patches(kubernetes: &str, steps: &Steps) -> Outcome<PathBuf> {
        let _lock = lock()?;
        let module = format!("kubernetes/{kubernetes}");
        let tool = Tool::plain(&module, &["../../patches/patches.go"]);
        Ok(tool.build(steps)?.join("patches"))
    }

    /// A program of Kubernetes.
    pub(crate) fn kubernetes(&self, program: &str) -> PathBuf {
        self.kubernetes.join(program)
    }

    /// The etcd server. Go names a program after the last part of its package's path that is no version.
    pub(crate) fn etcd(&self) -> PathBuf {
        self.etcd.join("server")
    }

    /// crictl, which shows what containerd runs.
    pub(crate) fn crictl(&self) -> PathBuf {
        self.etcd.join("crictl")
    }

    /// Helm 3.
    pub(crate) fn helm3(&self) -> PathBuf {
        self.helm3.clone()
    }

    /// Helm 4.
    pub(crate) fn helm4(&self) -> PathBuf {
        self.helm4.clone()
    }
}

/// Keeps others from building the same program at the same time, until it is dropped.
fn lock() -> Outcome<std::fs::File> {
    std::fs::create_dir_all(folders::programs()).context("making the folder of programs")?;
    let lock = std::fs::File::create(folders::programs().join("lock"))
        .context("locking the folder of programs")?;
    lock.lock().context("locking the folder of programs")?;
    Ok(lock)
}

fn helms(steps: &Steps) -> Outcome<[PathBuf; 2]> {
    let helm3 = Tool::plain("helm3", &["helm.sh/helm/v3/cmd/helm"]).build(steps)?;
    let helm4 = Tool::plain("helm4", &["helm.sh/helm/v4/cmd/helm"]).build(steps)?;
    Ok([helm3.join("helm"), helm4.join("helm")])
}

impl Tool {
    fn plain(folder: &str, packages: &'static [&'static str]) -> Self {
        Self {
            folder: folder.to_owned(),
            packages,
            stamp: String::new(),
        }
    }

    /// The programs of Kubernetes. They take their version from the linker; without it kubectl and the API server say v0.0.0.
    fn kubernetes(version: &str) -> Self {
        let package = "k8s.io/component-base/version";
        let minor = version.split('.').nth(1).unwrap_or_default();
        Self {
            folder: format!("kubernetes/{version}"),
            packages: &[
                "k8s.io/kubernetes/cmd/kube-apiserver",
                "k8s.io/kubernetes/cmd/kube-controller-manager",
                "k8s.io/kubernetes/cmd/kube-scheduler",
                "k8s.io/kubernetes/cmd/kubelet",
                "k8s.io/kubernetes/cmd/kube-proxy",
                "k8s.io/kubernetes/cmd/kubectl",
            ],
            stamp: format!(
                " -X {package}.gitVersion=v{version} -X {package}.gitMajor=1 -X {package}.gitMinor={minor} -X {package}.gitTreeState=clean"
            ),
        }
    }

    /// Gives the folder of the programs, and builds them where this state of the module has not been built yet.
    fn build(&self, steps: &Steps) -> Outcome<PathBuf> {
        let module = folders::modules().join(&self.folder);
        let built = folders::programs().join(format!(
            "{}-{}",
            self.folder.replace('/', "-"),
            self.key(&module)?
        ));
        if built.is_dir() {
            return Ok(built);
        }
        steps.take(format_args!("built {}", self.folder), || {
            // Only a finished build gets the name that is looked for.
            let half = built.with_extension("building");
            self.compile(&module, &half)?;
            std::fs::rename(&half, &built).context("keeping what was built")?;
            Ok(built)
        })
    }

    fn compile(&self, module: &Path, into: &Path) -> Outcome<()> {
        let mut go = Command::new("go");
        go.current_dir(module)
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-mod=readonly -buildvcs=false")
            .env("GOWORK", "off")
            .args(["build", "-trimpath", "-ldflags"])
            .arg(format!("-s -w{}", self.stamp))
            .arg("-o")
            .arg(format!("{}/", into.display()))
            .args(self.packages);
        std::fs::create_dir_all(into).context("making the folder of programs")?;
        run(&mut go, None)?.checked().map(drop)
    }

    /// Changes with everything that the programs are made from.
    fn key(&self, module: &Path) -> Outcome<String> {
        let mut hash = Sha256::new();
        let own = self
            .packages
            .iter()
            .filter(|package| package.ends_with(".go"));
        for file in ["go.mod", "go.sum"].iter().chain(own) {
            let path = module.join(file);
            hash.update(std::fs::read(&path).context(path.display())?);
        }
        hash.update(output("go", &["env", "GOVERSION"])?);
        hash.update(self.packages.join(" "));
        hash.update(&self.stamp);
        let digest = hash.finalize();
        Ok(digest[..6]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }
}

/// A `file` of the Go `module` that the folder `folder` pins. Nothing of it is built.
///
/// # Errors
///
/// What Go says.
pub(crate) fn file_of(folder: &str, module: &str, file: &str) -> Outcome<PathBuf> {
    let mut go = Command::new("go");
    go.current_dir(folders::modules().join(folder))
        .env("GOFLAGS", "-mod=readonly")
        .env("GOWORK", "off")
        .args(["mod", "download", "-json", module]);
    let download = run(&mut go, None)?.checked()?;
    let download: serde_json::Value = serde_json::from_str(&download).context(module)?;
    let folder = download["Dir"]
        .as_str()
        .ok_or_else(|| Fault::new(&download))?;
    Ok(Path::new(folder).join(file))
}

/// Pins Kubernetes `version` in `tools/kubernetes`. `k8s.io/kubernetes` replaces the modules it is staged from by folders, which
/// a module outside cannot use: each is pinned to the release that belongs to it.
///
/// # Errors
///
/// What Go says.
pub(crate) fn pin(version: &str) -> Outcome<PathBuf> {
    let folder = folders::modules().join("kubernetes").join(version);
    std::fs::create_dir_all(&folder).context(folder.display())?;
    let file = folder.join("go.mod");
    std::fs::write(
        &file,
        "module warmgate/tests/cluster/kubernetes\n\ngo 1.26\n",
    )
    .context(file.display())?;
    let go = |arguments: &[&str]| {
        run(
            Command::new("go").current_dir(&folder).args(arguments),
            None,
        )?
        .checked()
    };
    let kubernetes = format!("k8s.io/kubernetes@v{version}");
    let download = go(&["mod", "download", "-json", &kubernetes])?;
    let download: serde_json::Value = serde_json::from_str(&download).context(&kubernetes)?;
    let source = download["GoMod"]
        .as_str()
        .ok_or_else(|| Fault::new(&download))?;
    let source = std::fs::read_to_string(source).context(source)?;
    let staged = version.strip_prefix("1.").unwrap_or(version);
    for name in source
        .lines()
        .filter_map(|line| line.trim().split_once(" => ./staging/"))
        .map(|(name, _)| name)
    {
        go(&[
            "mod",
            "edit",
            "-replace",
            &format!("{name}={name}@v0.{staged}"),
        ])?;
    }
    for package in Tool::kubernetes(version).packages {
        go(&["get", "-tool", &format!("{package}@v{version}")])?;
    }
    Ok(folder)
}
