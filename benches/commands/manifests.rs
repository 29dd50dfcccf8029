//! The objects of one application: a model server, what stands before it, and what belongs to both.

use std::fmt::Write as _;

use crate::engines::ENGINES;
use crate::random::Random;

/// One application of one team.
pub(crate) struct App<'r> {
    pub(crate) random: &'r mut Random,
    number: usize,
    team: &'static str,
    model: &'static str,
    /// Whether its owner has thought of how a model server starts and ends.
    pub(crate) careful: bool,
}

const TEAMS: [&str; 8] = [
    "search",
    "support",
    "payments",
    "catalogue",
    "translation",
    "speech",
    "vision",
    "research",
];

const MODELS: [&str; 8] = [
    "chat", "rerank", "embed", "summary", "caption", "intent", "guard", "draft",
];

/// What the logs and settings of an application are full of.
pub(crate) const WORDS: [&str; 24] = [
    "cache", "batch", "region", "retry", "budget", "window", "tenant", "schema", "queue", "limit",
    "prefix", "shard", "token", "stream", "router", "replica", "digest", "policy", "bucket",
    "trace", "worker", "signal", "quota", "epoch",
];

impl<'r> App<'r> {
    /// The application of the file with this number.
    pub(crate) fn new(random: &'r mut Random, number: usize) -> Self {
        let team = random.one(&TEAMS);
        let model = random.one(&MODELS);
        let careful = random.percent(50);
        Self {
            random,
            number,
            team,
            model,
            careful,
        }
    }

    /// `chat-0042`.
    pub(crate) fn name(&self) -> String {
        format!("{}-{:04}", self.model, self.number)
    }

    /// What the file is, in a line.
    pub(crate) fn title(&self) -> String {
        format!(
            "{} of team {}: the model and its gateway",
            self.name(),
            self.team
        )
    }

    pub(crate) fn head(&self, version: &str, kind: &str, suffix: &str, part: &str) -> String {
        let (name, team) = (self.name(), self.team);
        format!(
            "apiVersion: {version}
kind: {kind}
metadata:
  name: {name}{suffix}
  namespace: {team}
  labels:
    app.kubernetes.io/name: {name}{suffix}
    app.kubernetes.io/part-of: {name}
    app.kubernetes.io/component: {part}
    app.kubernetes.io/managed-by: Helm
"
        )
    }

    /// The workload that asks for an accelerator.
    pub(crate) fn model(&mut self) -> String {
        let kind = match self.random.of(1, 20) {
            1..=14 => "Deployment",
            15..=17 => "StatefulSet",
            18 => "DaemonSet",
            _ => return self.training(),
        };
        let name = self.name();
        let mut text = self.head("apps/v1", kind, "", "model");
        text.push_str("spec:\n");
        if kind != "DaemonSet" {
            let _ = writeln!(text, "  replicas: {}", self.random.of(1, 4));
        }
        match kind {
            "Deployment" if self.careful => text.push_str(
                "  # a start may take an hour, and a pull half of one
  progressDeadlineSeconds: 7200
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
",
            ),
            "StatefulSet" => {
                let _ = writeln!(
                    text,
                    "  serviceName: {name}\n  podManagementPolicy: Parallel"
                );
            }
            _ => {}
        }
        let engine = &ENGINES[usize::try_from(self.random.of(0, 3)).unwrap_or_default()];
        // Some say how long it takes and leave the probes as they were.
        let declared = if !self.careful && self.random.percent(20) {
            "        warmgate.io/max-startup-time: 20m\n"
        } else {
            ""
        };
        let _ = write!(
            text,
            "  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}
        app.kubernetes.io/part-of: {name}
      annotations:
        prometheus.io/scrape: \"true\"
        prometheus.io/port: \"{}\"
{declared}    spec:
      serviceAccountName: {name}
      nodeSelector:
        node.example.com/pool: accelerated
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
",
            engine.port
        );
        self.placement(&mut text);
        self.engine(&mut text, engine);
        text.push_str(
            "      volumes:
        - name: models
          persistentVolumeClaim:
            claimName: models
            readOnly: true
        - name: shm
          emptyDir:
            medium: Memory
            sizeLimit: 8Gi
",
        );
        text
    }

    fn placement(&self, text: &mut String) {
        if self.careful {
            let _ = write!(
                text,
                "      terminationGracePeriodSeconds: 180
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {}
",
                self.name()
            );
        }
    }

    /// A Job that asks for accelerators: it ends by itself, so nothing kills it while it loads.
    fn training(&mut self) -> String {
        let mut text = self.head("batch/v1", "Job", "-tune", "training");
        text.push_str(
            "spec:
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: tune
          image: registry.example.com/ml/tune:2026.9.1
          command: [\"python3\", \"-m\", \"tune\"]
          args: [\"--data\", \"/data\", \"--epochs\", \"3\"]
          resources:
            limits: {cpu: \"16\", memory: 128Gi, nvidia.com/gpu: 8}
",
        );
        self.environment(&mut text, "          ");
        text
    }

    /// Between two and seven variables.
    pub(crate) fn environment(&mut self, text: &mut String, indent: &str) {
        let _ = writeln!(text, "{indent}env:");
        for _ in 0..self.random.of(2, 7) {
            let (one, two) = (self.random.one(&WORDS), self.random.one(&WORDS));
            let name = format!("{one}_{two}_{}", self.random.of(10, 99)).to_uppercase();
            let value = match self.random.of(1, 4) {
                1 => format!("value: \"{}\"", self.random.of(1, 65_536)),
                2 => format!("value: {one}.{two}.svc.cluster.local"),
                3 => format!("value: /var/lib/{one}/{two}"),
                _ => {
                    format!("valueFrom: {{secretKeyRef: {{name: {one}-credentials, key: {two}}}}}")
                }
            };
            let _ = writeln!(text, "{indent}  - name: {name}\n{indent}    {value}");
        }
    }
}
