//! The command lines and files of every component.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::certificates::Certificates;
use super::fault::{Context, Fault, Outcome};
use super::folders;
use super::prerequisites::{find, plugins};
use super::sandbox::{NODE, Sandbox};
use super::state::State;
use super::tools::Tools;

/// The name of the one node.
pub(crate) const NODE_NAME: &str = "node0";

/// The network of the pods.
const PODS: &str = "10.244.0.0/16";

/// The socket on which the API is served without keys, by a `kubectl proxy` inside the network.
pub(crate) const API_SOCKET: &str = "run/api.sock";

/// What is needed to start any of them.
pub(crate) struct Components<'a> {
    pub(crate) state: &'a State,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) tools: &'a Tools,
    pub(crate) certificates: &'a Certificates,
}

impl Components<'_> {
    fn program(&self, program: &str) -> Command {
        self.sandbox.command(self.tools.kubernetes(program))
    }

    fn client(&self, program: &str) -> Command {
        let mut command = self.program(program);
        command.arg(format!(
            "--kubeconfig={}",
            self.state.kubeconfig().display()
        ));
        command
    }

    /// Writes a file of configuration, and gives its path.
    fn file(&self, name: &str, text: &str) -> Outcome<String> {
        let path = self.state.path().join("etc").join(name);
        fs::write(&path, text).context(path.display())?;
        Ok(path.display().to_string())
    }

    /// etcd. Nothing of it is kept, so it need not wait for the disk.
    pub(crate) fn etcd(&self) -> Command {
        let mut command = self.sandbox.command(self.tools.etcd());
        command.args(["--data-dir=/var/lib/etcd", "--unsafe-no-fsync"]);
        command
    }

    /// The API server, with an audit log.
    pub(crate) fn apiserver(&self) -> Outcome<Command> {
        let policy = self.file("audit-policy.yaml", include_str!("audit-policy.yaml"))?;
        let pki = |file| self.certificates.path(file).display().to_string();
        let mut command = self.program("kube-apiserver");
        command.args([
            "--etcd-servers=http://127.0.0.1:2379",
            "--secure-port=6443",
            &format!("--advertise-address={NODE}"),
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            &format!("--service-account-key-file={}", pki("service-accounts.pub")),
            &format!(
                "--service-account-signing-key-file={}",
                pki("service-accounts.key")
            ),
            &format!("--client-ca-file={}", pki("ca.crt")),
            &format!("--tls-cert-file={}", pki("apiserver.crt")),
            &format!("--tls-private-key-file={}", pki("apiserver.key")),
            "--authorization-mode=Node,RBAC",
            "--allow-privileged",
            "--kubelet-preferred-address-types=InternalIP",
            // A webhook's Service is called at its endpoints, spread over the pods, as on clusters whose API server is
            // outside of the pods' network.
            "--enable-aggregator-routing=true",
            &format!("--audit-policy-file={policy}"),
            &format!("--audit-log-path={}", self.audit_log().display()),
            "--audit-log-mode=blocking-strict",
            "--profiling=false",
        ]);
        Ok(command)
    }

    /// Where the API server writes its audit log.
    pub(crate) fn audit_log(&self) -> std::path::PathBuf {
        folders::logs(self.state.name()).join("audit.log")
    }

    /// The controllers of Kubernetes.
    pub(crate) fn controller_manager(&self) -> Command {
        let mut command = self.client("kube-controller-manager");
        command.args([
            format!(
                "--service-account-private-key-file={}",
                self.certificates.path("service-accounts.key").display()
            ),
            format!(
                "--root-ca-file={}",
                self.certificates.path("ca.crt").display()
            ),
            "--leader-elect=false".to_owned(),
        ]);
        command
    }

    /// The scheduler.
    pub(crate) fn scheduler(&self) -> Command {
        let mut command = self.client("kube-scheduler");
        command.arg("--leader-elect=false");
        command
    }

    /// kube-proxy. It leaves the kernel's connection tables alone: they are not only ours.
    pub(crate) fn proxy(&self) -> Command {
        let mut command = self.client("kube-proxy");
        command.args([
            format!("--hostname-override={NODE_NAME}"),
            format!("--cluster-cidr={PODS}"),
            "--proxy-mode=iptables".to_owned(),
            "--conntrack-max-per-core=0".to_owned(),
            "--conntrack-min=0".to_owned(),
        ]);
        command
    }

    /// The API without keys, on a socket that can be reached from outside of the network.
    pub(crate) fn api_socket(&self) -> Command {
        let mut command = self.client("kubectl");
        let socket = self.state.path().join(API_SOCKET);
        command
            .arg("proxy")
            .arg(format!("--unix-socket={}", socket.display()));
        command
    }

    /// containerd with Debian's runc.
    pub(crate) fn containerd(&self) -> Outcome<Command> {
        let plugins = plugins().ok_or_else(|| Fault::new("the CNI plugins are missing"))?;
        let network = self.state.path().join("etc/cni");
        fs::create_dir_all(&network).context(network.display())?;
        self.file("cni/10-pods.conflist", &network_of_pods())?;
        let config = self.file(
            "containerd.toml",
            &containerd(&network, &plugins, snapshotter(self.state.path())),
        )?;
        let mut command = self.sandbox.command("containerd");
        command.args(["--config", &config]);
        Ok(command)
    }

    /// The kubelet, with `more` lines in its configuration. At this verbosity it logs every probe's result, which is what its simulation is judged by.
    pub(crate) fn kubelet(&self, more: &str) -> Outcome<Command> {
        let own = self.state.path();
        for folder in ["etc/manifests", "etc/volume-plugins"] {
            let folder = own.join(folder);
            fs::create_dir_all(&folder).context(folder.display())?;
        }
        let resolver = self.file("resolv.conf", "nameserver 127.0.0.1\n")?;
        let config = self.file(
            "kubelet.yaml",
            &(kubelet(&own.display().to_string(), &self.state.cgroup(), &resolver) + more),
        )?;
        let mut command = self.client("kubelet");
        // Its log is read, and says no time zone.
        command.env("TZ", "UTC").args([
            &format!("--config={config}"),
            &format!("--node-ip={NODE}"),
            &format!("--hostname-override={NODE_NAME}"),
            "-v=4",
        ]);
        Ok(command)
    }
}

/// How containerd stacks layers: overlays do not stand on overlays, as the root of a container often is one.
fn snapshotter(folder: &Path) -> &'static str {
    const OVERLAYFS: u64 = 0x794c_7630;
    let kind = rustix::fs::statfs(folder).map(|found| found.f_type as u64);
    if kind == Ok(OVERLAYFS) {
        "native"
    } else {
        "overlayfs"
    }
}

/// A bridge, and nothing that asks iptables something for every pod: no packet leaves, and nobody wants a port of the node.
fn network_of_pods() -> String {
    format!(
        r#"{{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {{"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
    "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{PODS}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]}}}}
]}}
"#
    )
}

/// Which program makes containers: where crun is there it is taken, for it needs a fraction of runc's time.
fn runtime() -> String {
    let Some(crun) = find("crun") else {
        return String::new();
    };
    format!(
        "    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n      BinaryName = \"{}\"\n",
        crun.display()
    )
}

fn containerd(network: &Path, plugins: &Path, snapshotter: &str) -> String {
    format!(
        r#"version = 2
# It makes a folder /opt/containerd and does nothing else for us.
disabled_plugins = ["io.containerd.internal.v1.opt"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:local"
  # Without CAP_SYS_RESOURCE a sandbox may not lower its score, and runc ends with a bare EOF.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{}"
    conf_dir = "{}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
{}"#,
        plugins.display(),
        network.display(),
        runtime()
    )
}

fn kubelet(own: &str, cgroup: &str, resolver: &str) -> String {
    format!(
        r#"apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
# Some kernels mount cgroup version 1 beside 2, and Kubernetes refuses version 1 since 1.35.
failCgroupV1: false
cgroupDriver: cgroupfs
# The kubelet removes pods' cgroups that it does not know: those of another cluster must not be among them.
cgroupRoot: /{cgroup}
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
staticPodPath: {own}/etc/manifests
volumePluginDir: {own}/etc/volume-plugins
# Names are answered by nobody, at once.
clusterDNS: ["127.0.0.1"]
resolvConf: {resolver}
failSwapOn: false
maxPods: 250
serializeImagePulls: false
# A full disk of the machine is no concern of the tests.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {{nodefs.available: "1%", imagefs.available: "1%", nodefs.inodesFree: "1%", memory.available: 50Mi}}
localStorageCapacityIsolation: false
"#
    )
}
