//! Containers: servers that are known and unknown, with probes of every shape.

use serde_json::{Map, Value, json};

use super::Source;

/// Images with what they are started with.
const LAUNCHES: &[(&str, &[&str], &[&str])] = &[
    (
        "registry.example/vllm-openai:v0.11.0",
        &[],
        &["--model", "acme/chat", "--port", "8000"],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &["vllm", "serve", "acme/chat"],
        &["--port=8000", "--nnodes=2"],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &[
            "sh",
            "-c",
            "sleep 1; exec vllm serve acme/chat --port $(PORT)",
        ],
        &[],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &["sleep", "infinity"],
        &[],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &[
            "vllm",
            "serve",
            "acme/chat",
            "--node-rank",
            "$(RANK)",
            "--nnodes",
            "2",
        ],
        &[],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &[],
        &["--model", "acme/chat", "--headless"],
    ),
    (
        "registry.example/vllm-openai:v0.11.0",
        &[],
        &[
            "--model",
            "acme/chat",
            "--ssl-keyfile",
            "/k",
            "--ssl-certfile",
            "/c",
        ],
    ),
    (
        "registry.example/sglang:v0.5.0",
        &["python3", "-m", "sglang.launch_server"],
        &["--host", "0.0.0.0", "--port", "8000"],
    ),
    (
        "registry.example/sglang:v0.5.0",
        &["python3", "-m", "sglang.launch_server"],
        &["--model-path", "acme/chat"],
    ),
    (
        "registry.example/text-generation-inference:3.0",
        &[],
        &["--model-id", "acme/chat"],
    ),
    (
        "registry.example/text-embeddings-inference:1.8",
        &[],
        &["--model-id", "acme/e", "--port", "3000"],
    ),
    (
        "registry.example/text-embeddings-inference:1.5",
        &[],
        &[
            "--model-id",
            "acme/e",
            "--port",
            "8000",
            "--api-key",
            "very-secret",
        ],
    ),
    ("registry.example/distroless/server:1", &["/server"], &[]),
    (
        "registry.example/tritonserver:25.01-py3",
        &["tritonserver"],
        &["--model-repository=/models"],
    ),
    ("registry.example/ollama:0.5", &[], &[]),
    (
        "registry.example/llama.cpp:server",
        &[],
        &["-m", "/m.gguf", "--host", "0.0.0.0"],
    ),
    (
        "registry.example/llama.cpp:server",
        &[],
        &["-m", "/m.gguf", "--host", "0.0.0.0", "--api-key", "secret"],
    ),
    ("registry.example/nim/acme-8b:1.3", &[], &[]),
    (
        "registry.example/ray:2.40",
        &["ray", "start", "--head"],
        &[],
    ),
    ("registry.example/own/server:1", &["/start.sh"], &[]),
    ("registry.example/own/server:1", &[], &[]),
    ("nvcr.io/nvidia/k8s-device-plugin:v0.17.0", &[], &[]),
    ("nvcr.io/nvidia/k8s/dcgm-exporter:4", &[], &[]),
    ("registry.example/jupyter:1", &["jupyter", "lab"], &[]),
    ("", &[], &[]),
];

const RESOURCES: [&str; 8] = [
    "nvidia.com/gpu",
    "nvidia.com/gpu",
    "nvidia.com/gpu",
    "nvidia.com/mig-1g.10gb",
    "google.com/tpu",
    "cpu",
    "rdma/hca",
    "example.com/unknown",
];

const PORTS: [i64; 6] = [8000, 8000, 8080, 3000, 30000, 9000];

/// A container that may serve.
pub(super) fn server(source: &mut Source<'_>, name: &str) -> Value {
    let (image, command, args) = source.one(LAUNCHES);
    let mut container = Map::new();
    container.insert("name".to_owned(), json!(name));
    if !image.is_empty() {
        container.insert("image".to_owned(), json!(image));
    }
    if !command.is_empty() {
        container.insert("command".to_owned(), json!(command));
    }
    if !args.is_empty() {
        container.insert("args".to_owned(), json!(args));
    }
    if source.chance(3) {
        container.insert("env".to_owned(), env(source));
    }
    if source.chance(2) {
        container.insert("ports".to_owned(), ports(source));
    }
    if !source.chance(6) {
        container.insert("resources".to_owned(), resources(source));
    }
    probes(source, &mut container);
    if source.chance(3) {
        container.insert("lifecycle".to_owned(), lifecycle(source));
    }
    if source.chance(8) {
        container.insert(
            "volumeMounts".to_owned(),
            json!([{"name": "models", "mountPath": "/models"}]),
        );
    }
    Value::Object(container)
}

/// A proxy or helper beside the server.
pub(super) fn helper(source: &mut Source<'_>, name: &str) -> Value {
    let mut container = Map::new();
    container.insert("name".to_owned(), json!(name));
    container.insert("image".to_owned(), json!("registry.example/proxy:1"));
    if source.chance(2) {
        container.insert("ports".to_owned(), ports(source));
    }
    if source.chance(3) {
        container.insert("readinessProbe".to_owned(), probe(source));
    }
    if source.chance(4) {
        container.insert("lifecycle".to_owned(), lifecycle(source));
    }
    Value::Object(container)
}

pub(super) fn probes(source: &mut Source<'_>, container: &mut Map<String, Value>) {
    for (role, times) in [
        ("livenessProbe", 2),
        ("readinessProbe", 2),
        ("startupProbe", 4),
    ] {
        if source.chance(times) {
            let copied = ["livenessProbe", "readinessProbe"]
                .into_iter()
                .find_map(|role| container.get(role));
            let copied = copied.filter(|_| source.chance(2)).cloned();
            let probe = copied.unwrap_or_else(|| probe(source));
            container.insert(role.to_owned(), probe);
        }
    }
}

pub(super) fn probe(source: &mut Source<'_>) -> Value {
    let (handler, value) = handler(source);
    let mut probe = Map::from_iter([(handler.to_owned(), value)]);
    let numbers: [(&str, &[i64]); 6] = [
        ("initialDelaySeconds", &[0, 5, 60, 300, 4800]),
        ("periodSeconds", &[10, 1, 2, 5, 30, 60, 0]),
        ("timeoutSeconds", &[1, 1, 2, 5, 30, 0]),
        ("failureThreshold", &[3, 1, 30, 120, 10_000, 0]),
        ("successThreshold", &[1]),
        ("terminationGracePeriodSeconds", &[30, 5, 600]),
    ];
    for (index, (field, values)) in numbers.into_iter().enumerate() {
        if source.chance(if index < 4 { 2 } else { 10 }) {
            probe.insert(field.to_owned(), source.number(values));
        }
    }
    if source.chance(40) {
        let (handler, value) = self::handler(source);
        probe.insert(handler.to_owned(), value);
    }
    Value::Object(probe)
}

pub(super) fn handler(source: &mut Source<'_>) -> (&'static str, Value) {
    let port = if source.chance(4) {
        source.word(&["http", "api", "nobody"])
    } else {
        source.number(&PORTS)
    };
    match source.below(8) {
        0..=3 => {
            let paths = [
                "/health",
                "/health",
                "/v1/models",
                "/health_generate",
                "/health?fail_on_no_slot=1",
                "/ready",
                "/app-health/engine/livez",
                "/v2/health/live",
                "/v1/health/ready",
                "/",
            ];
            let mut get = json!({"path": source.word(&paths), "port": port});
            if source.chance(4) {
                get["scheme"] = source.word(&["HTTP", "HTTPS"]);
            }
            if source.chance(10) {
                get["host"] = json!("127.0.0.1");
            }
            if source.chance(10) {
                get["httpHeaders"] = json!([{"name": "Authorization", "value": "Bearer secret"}]);
            }
            ("httpGet", get)
        }
        4 => ("tcpSocket", json!({"port": port})),
        5 => (
            "grpc",
            json!({"port": source.number(&PORTS), "service": source.word(&["", "health.v1"])}),
        ),
        _ => {
            let commands: &[&[&str]] = &[
                &["cat", "/tmp/ready"],
                &["sh", "-c", "curl -sf --max-time 30 localhost:8000/health"],
                &["sh", "-c", "exit 0"],
                &["true"],
                &["curl -f localhost:8000/health"],
                &["/bin/grpc_health_probe", "-addr=:9000"],
                &["bash", "-c", "wget -qO- localhost:8000/health"],
                &[
                    "sh",
                    "-c",
                    "curl -s localhost:8000/v1/completions -d '{\"prompt\": \"x\"}'",
                ],
            ];
            ("exec", json!({"command": source.one(commands)}))
        }
    }
}

pub(super) fn lifecycle(source: &mut Source<'_>) -> Value {
    let hook = match source.below(6) {
        0 => json!({"sleep": {"seconds": source.number(&[15, 5, 30, 60, 300])}}),
        1 => json!({"exec": {"command": ["sleep", source.word(&["10", "30", "60s", "2m"])]}}),
        2 => json!({"exec": {"command": ["sh", "-c", "until test -f /done; do sleep 1; done"]}}),
        3 => json!({"httpGet": {"path": "/drain", "port": 8000}}),
        4 => return json!({"postStart": {"exec": {"command": ["true"]}}}),
        _ => return json!({"stopSignal": "SIGUSR1"}),
    };
    json!({"preStop": hook})
}

pub(super) fn ports(source: &mut Source<'_>) -> Value {
    let mut port = json!({"containerPort": source.number(&PORTS)});
    if source.chance(2) {
        port["name"] = source.word(&["http", "api", "grpc"]);
    }
    if source.chance(6) {
        json!([port, {"name": "metrics", "containerPort": 9090}])
    } else {
        json!([port])
    }
}

pub(super) fn env(source: &mut Source<'_>) -> Value {
    let all = [
        json!({"name": "PORT", "value": "8000"}),
        json!({"name": "API_KEY", "value": "very-secret"}),
        json!({"name": "VLLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}),
        json!({"name": "HF_HUB_OFFLINE", "value": "1"}),
        json!({"name": "VLLM_ENGINE_READY_TIMEOUT_S", "value": "300"}),
        json!({"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}}}),
    ];
    (0..=source.below(3))
        .map(|_| all[source.below(all.len())].clone())
        .collect()
}

fn resources(source: &mut Source<'_>) -> Value {
    if source.chance(10) {
        return json!({"claims": [{"name": "card"}]});
    }
    let resource = source.one(&RESOURCES);
    let amount = if source.chance(12) {
        json!(0)
    } else {
        json!("1")
    };
    json!({"limits": {(resource): amount}})
}
