//! The servers that hold accelerators, and how they are probed.

use std::fmt::Write as _;

use crate::manifests::App;

/// How a server is started, where it listens and what it answers.
pub(crate) struct Engine {
    image: &'static str,
    command: &'static str,
    arguments: &'static [&'static str],
    pub(crate) port: u16,
    health: &'static str,
}

pub(crate) static ENGINES: [Engine; 4] = [
    Engine {
        image: "vllm/vllm-openai:v0.11.0",
        command: "",
        arguments: &[
            "--model=/models/weights",
            "--served-model-name=default",
            "--port=8000",
            "--max-model-len=16384",
        ],
        port: 8000,
        health: "/health",
    },
    Engine {
        image: "lmsysorg/sglang:v0.5.3-cu129",
        command: "python3 -m sglang.launch_server",
        arguments: &[
            "--model-path=/models/weights",
            "--host=0.0.0.0",
            "--port=30000",
        ],
        port: 30000,
        health: "/health",
    },
    Engine {
        image: "ghcr.io/huggingface/text-generation-inference:3.3.4",
        command: "",
        arguments: &[
            "--model-id=/models/weights",
            "--port=8080",
            "--max-concurrent-requests=128",
        ],
        port: 8080,
        health: "/health",
    },
    Engine {
        image: "registry.example.com/ml/ranker:2026.10.3",
        command: "/opt/ranker/bin/serve",
        arguments: &["--weights", "/models/weights", "--listen", ":9000"],
        port: 9000,
        health: "/healthz",
    },
];

impl App<'_> {
    /// The container that serves.
    pub(crate) fn engine(&mut self, text: &mut String, engine: &Engine) {
        let _ = write!(
            text,
            "      containers:
        - name: engine
          image: {}
          imagePullPolicy: IfNotPresent
",
            engine.image
        );
        if !engine.command.is_empty() {
            let words: Vec<String> = engine
                .command
                .split(' ')
                .map(|word| format!("{word:?}"))
                .collect();
            let _ = writeln!(text, "          command: [{}]", words.join(", "));
        }
        text.push_str("          args:\n");
        for argument in engine.arguments {
            let _ = writeln!(text, "            - {argument:?}");
        }
        self.environment(text, "          ");
        let (port, count) = (engine.port, self.random.one(&[1, 1, 1, 2, 4, 8]));
        let _ = write!(
            text,
            "          ports:
            - name: http
              containerPort: {port}
          resources:
            requests:
              cpu: \"8\"
              memory: 64Gi
            limits:
              memory: 64Gi
              nvidia.com/gpu: {count}
          volumeMounts:
            - {{name: models, mountPath: /models, readOnly: true}}
            - {{name: shm, mountPath: /dev/shm}}
"
        );
        self.probes(text, engine);
    }

    fn probes(&mut self, text: &mut String, engine: &Engine) {
        let (health, port) = (engine.health, engine.port);
        let handler = format!(
            "            httpGet:\n              path: {health}\n              port: {port}\n"
        );
        if self.careful {
            let _ = write!(
                text,
                "          startupProbe:
{handler}            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 361
          livenessProbe:
{handler}            periodSeconds: 20
            timeoutSeconds: 10
            failureThreshold: 15
          readinessProbe:
{handler}            periodSeconds: 5
            timeoutSeconds: 5
          lifecycle:
            preStop:
              sleep:
                seconds: 15
"
            );
            return;
        }
        let delay = self.random.one(&[0, 10, 30, 60, 120]);
        let _ = write!(
            text,
            "          livenessProbe:
{handler}            initialDelaySeconds: {delay}
          readinessProbe:
{handler}            initialDelaySeconds: {delay} # as above
            periodSeconds: 5
"
        );
    }
}
