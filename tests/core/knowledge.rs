//! How launches are recognised, and what is known of the servers that they start.

use proptest::prelude::*;
use serde_json::json;
use warmgate::knowledge::{
    Bind, DeviceClass, EnvValue, Evidence, Group, Knowledge, Launch, PresetHandler, Recognition,
    Server, WhileLoading,
};
use warmgate::words::split_words;

/// Images by their short names.
const IMAGES: [(&str, &str); 7] = [
    ("VLLM", "registry.example/vllm-openai:v0.11.0"),
    ("SGLANG", "registry.example/lmsys/sglang:v0.5.7"),
    ("TGI", "ghcr.io/huggingface/text-generation-inference:3.1"),
    ("TEI", "ghcr.io/huggingface/text-embeddings-inference:1.8"),
    ("TRITON", "nvcr.io/nvidia/tritonserver:25.08-py3"),
    ("LLAMA", "ghcr.io/ggml-org/llama.cpp:server-b6000"),
    ("OWN", "registry.example/own/image:1"),
];

/// Recognises a container written in the short form of `launches.txt`.
fn with<T>(knowledge: &Knowledge, line: &str, then: impl Fn(&Recognition<'_>) -> T) -> T {
    let words = split_words(line).expect("a line is quoted as in a shell");
    let at = words.iter().position(|word| !word.contains('='));
    let at = at.expect("a line names an image");
    let variable = |pair: &String| {
        let (name, value) = pair.split_once('=')?;
        let value = match value {
            "?" => EnvValue::Elsewhere,
            value => EnvValue::Literal(value.to_owned()),
        };
        Some((name.to_owned(), value))
    };
    let env: Vec<(String, EnvValue)> = words[..at].iter().filter_map(variable).collect();
    let short = IMAGES.iter().find(|(short, _)| *short == words[at]);
    let mut rest = words[at + 1..].split(|word| word == "|");
    let (command, args) = (
        rest.next().unwrap_or_default(),
        rest.next().unwrap_or_default(),
    );
    then(&knowledge.recognise(&Launch {
        image: Some(short.map_or(words[at].as_str(), |(_, image)| image)),
        command,
        args,
        env: &env,
    }))
}

fn describe(recognition: &Recognition<'_>) -> String {
    match recognition {
        Recognition::Server(server) => describe_server(server),
        Recognition::Follower(why) => format!("follower: {why}"),
        Recognition::Interactive(why) => format!("interactive: {why}"),
        Recognition::Idle(why) => format!("idle: {why}"),
        Recognition::Infrastructure(why) => format!("infrastructure: {why}"),
        Recognition::Unknown => "unknown".to_owned(),
    }
}

fn describe_server(server: &Server<'_>) -> String {
    let mut words = vec![server.preset.id().to_owned()];
    words.push(match &server.port {
        Some(port) => format!("{} ({})", port.value, port.source),
        None => "no port".to_owned(),
    });
    match &server.https {
        Some(https) if https.value => words.push(format!("https ({})", https.source)),
        Some(_) => {}
        None => words.push("http or https".to_owned()),
    }
    match server.bind.value {
        Bind::Everywhere => {}
        Bind::Loopback => words.push(format!("loopback ({})", server.bind.source)),
        Bind::Unknown => words.push(format!("bind unknown ({})", server.bind.source)),
    }
    if server.client_certificates {
        words.push("client certificates".to_owned());
    }
    if server.credentials {
        words.push("credentials".to_owned());
    }
    if !server.speaks_http {
        words.push("no http".to_owned());
    }
    if server.doubtful_env && server.follows_env {
        words.push("variables may move it".to_owned());
    }
    match &server.group {
        Group::Alone => {}
        Group::Member(why) => words.push(format!("member ({why})")),
        Group::RankAtRunTime(why) => words.push(format!("rank at run time ({why})")),
        Group::Spread(why) => words.push(format!("spread ({why})")),
    }
    words.join(", ")
}

#[test]
fn launches_are_what_the_table_says() {
    let table = include_str!("launches.txt").lines().map(str::trim);
    let lines: Vec<&str> = table
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut wrong = Vec::new();
    for row in lines.chunks(2) {
        let expected = row[1].strip_prefix("=> ").unwrap();
        let found = with(&Knowledge::builtin(), row[0], describe);
        if found != expected {
            wrong.push(format!("{}\n  is {found}\n not {expected}", row[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn server<T>(line: &str, then: impl Fn(&Server<'_>) -> T) -> T {
    with(
        &Knowledge::builtin(),
        line,
        |recognition| match recognition {
            Recognition::Server(server) => then(server),
            other => panic!("{line:?} is {other:?}"),
        },
    )
}

#[test]
fn drains_limits_and_models() {
    let drain = |line: &str| {
        server(line, |s| {
            s.drain.as_ref().map(|d| (d.value, d.source.clone()))
        })
    };
    let known = |value, source: &str| Some((value, source.to_owned()));
    assert_eq!(drain("VLLM | --model m"), None);
    assert_eq!(
        drain("VLLM | --shutdown-timeout 30"),
        known(45, "--shutdown-timeout 30")
    );
    assert_eq!(drain("VLLM | --shutdown-timeout 0"), None);
    assert_eq!(drain("SGLANG | --host ::"), None);
    assert_eq!(drain("TGI"), known(180, "default of TGI"));
    assert_eq!(
        drain("TGI | --graceful-termination-timeout 60"),
        known(120, "--graceful-termination-timeout 60")
    );
    assert_eq!(drain("TRITON tritonserver"), known(45, "default of Triton"));
    assert_eq!(
        drain("TRITON tritonserver '--exit-timeout-secs=$(T)'"),
        None
    );

    let limit = |line: &str| server(line, |s| s.start_limit.as_ref().map(|limit| limit.value));
    assert_eq!(limit("VLLM"), Some(600));
    assert_eq!(limit("VLLM_ENGINE_READY_TIMEOUT_S=1800 VLLM"), Some(1800));
    assert_eq!(limit("'VLLM_ENGINE_READY_TIMEOUT_S=?' VLLM"), None);
    assert_eq!(limit("LLAMA"), None);

    let model = |line: &str| {
        server(line, |s| {
            (
                s.model
                    .as_ref()
                    .map(|m| m.value.clone())
                    .unwrap_or_default(),
                s.fetches_model,
            )
        })
    };
    for (line, name, fetches) in [
        ("VLLM | --model acme/m", "acme/m", true),
        ("VLLM | --model /models/m", "/models/m", false),
        ("VLLM | --model s3://b/m", "s3://b/m", true),
        ("HF_HUB_OFFLINE=1 VLLM | --model acme/m", "acme/m", false),
        ("HF_HUB_OFFLINE=0 VLLM | --model acme/m", "acme/m", true),
        ("VLLM vllm serve acme/m --port 1", "acme/m", true),
        ("VLLM | --model '$(MODEL)'", "", false),
        ("MODEL_ID=acme/m TGI", "acme/m", true),
        ("LLAMA | -m /m.gguf", "/m.gguf", false),
        ("LLAMA | -hf acme/m", "acme/m", true),
        ("TRITON tritonserver --model-repository=/m", "/m", false),
        ("nvcr.io/nim/meta/llama-8b:1", "llama-8b", true),
        ("ollama/ollama", "", false),
    ] {
        assert_eq!(model(line), (name.to_owned(), fetches), "{line:?}");
    }
}

#[test]
fn handlers_and_what_they_prove() {
    let http = |path: &str| Some(PresetHandler::Http(path.to_owned()));
    for (line, startup, readiness, liveness) in [
        ("VLLM", http("/health"), http("/health"), http("/health")),
        (
            "TRITON tritonserver",
            http("/v2/health/ready"),
            http("/v2/health/ready"),
            http("/v2/health/live"),
        ),
        (
            "nim/x",
            http("/v1/health/ready"),
            http("/v1/health/ready"),
            http("/v1/health/live"),
        ),
        ("ollama/ollama", None, http("/"), http("/")),
        ("OWN serve run a:b", None, http("/-/healthz"), None),
        (
            "LLAMA | --api-prefix /llm/",
            http("/llm/health"),
            http("/llm/health"),
            http("/llm/health"),
        ),
        ("'LLAMA_ARG_API_PREFIX=?' LLAMA", None, None, None),
        // Its /health answered 200 at once then, which proves nothing of the start.
        (
            "lmsysorg/sglang:v0.3.6-cu124 | --host ::",
            None,
            http("/health"),
            http("/health"),
        ),
        (
            "OWN tensorflow_model_server --rest_api_port=8501 --model_name=m",
            http("/v1/models/m"),
            http("/v1/models/m"),
            Some(PresetHandler::Tcp),
        ),
        (
            "OWN tensorflow_model_server --rest_api_port=8501",
            None,
            None,
            Some(PresetHandler::Tcp),
        ),
        (
            "OWN python -m huggingfaceserver --model_id=m",
            http("/v2/health/ready"),
            http("/v2/health/ready"),
            http("/v2/health/live"),
        ),
        ("OWN local-ai", None, http("/readyz"), http("/healthz")),
    ] {
        let found = server(line, |s| {
            (s.startup.clone(), s.readiness.clone(), s.liveness.clone())
        });
        assert_eq!(found, (startup, readiness, liveness), "{line:?}");
    }
    for (line, path, loading) in [
        ("VLLM", "/health", Some(WhileLoading::Refused)),
        (
            "SGLANG | --host ::",
            "/health",
            Some(WhileLoading::Unavailable),
        ),
        (
            "SGLANG | --host ::",
            "/v1/models",
            Some(WhileLoading::Early),
        ),
        (
            "lmsysorg/sglang:v0.3.6-cu124 | --host ::",
            "/health",
            Some(WhileLoading::Early),
        ),
        (
            "lmsysorg/sglang:v0.4.10 | --host ::",
            "/health",
            Some(WhileLoading::Unavailable),
        ),
        ("nim/x", "/v1/health/live", Some(WhileLoading::Early)),
        ("ollama/ollama", "/", Some(WhileLoading::Early)),
        (
            "LLAMA | --api-prefix /llm",
            "/llm/health?x",
            Some(WhileLoading::Unavailable),
        ),
        ("LLAMA | --api-prefix /llm", "/health", None),
        ("VLLM", "/healthz", None),
    ] {
        let found = server(line, |s| s.path(path).map(|row| row.loading));
        assert_eq!(found, loading, "{line:?} {path}");
    }
    let knowledge = Knowledge::builtin();
    let preset = |id: &str| {
        knowledge
            .presets()
            .iter()
            .find(|preset| preset.id() == id)
            .unwrap()
    };
    let row = |id: &str, path: &str| preset(id).path(path, None).unwrap();
    assert_eq!(row("vllm", "/health").stall, Some(40));
    assert_eq!(row("sglang", "/health").stall, Some(20));
    assert_eq!(row("tgi", "/health").stall, None);
    assert!(row("sglang", "/health_generate").inference);
    assert!(row("triton", "/v2/health/ready").unstable.is_some());
    assert!(row("triton", "/v2/health/live").unstable.is_none());
    assert_eq!(
        preset("llama.cpp").busy_query("/health?fail_on_no_slot=1"),
        Some("fail_on_no_slot")
    );
    assert_eq!(preset("vllm").env_prefix(), Some("VLLM_"));
    assert_eq!(preset("tgi").env_prefix(), None);
    assert!(preset("llama.cpp").listens_early() && !preset("vllm").listens_early());
    for preset in knowledge.presets() {
        assert!(!preset.source().is_empty() && !preset.title().is_empty());
    }
}

/// What a Secret or a ConfigMap may hold that nobody sees: a port, a bind address, TLS, a prefix, a key.
#[test]
fn variables_from_elsewhere_count_where_nothing_else_decides() {
    for (line, follows) in [
        ("VLLM", false),
        ("SGLANG | --host ::", false),
        ("TRITON tritonserver", false),
        ("TGI", true),
        ("TGI | --port 8080", false),
        ("PORT=8080 TGI", false),
        (
            "ghcr.io/huggingface/text-embeddings-inference:89-1.5 | --port 8080",
            true,
        ),
        (
            "ghcr.io/huggingface/text-embeddings-inference:89-1.6 | --port 8080",
            false,
        ),
        (
            "ghcr.io/huggingface/text-embeddings-inference@sha256:0 | --port 8080",
            true,
        ),
        (
            "API_KEY=k ghcr.io/huggingface/text-embeddings-inference:89-1.5 | --port 8080",
            false,
        ),
        ("LLAMA | --port 8080", true),
        ("NIM_SERVER_PORT=8000 nim/x", true),
        ("OWN infinity_emb v2 --port 80 --host 0.0.0.0", false),
        ("OWN infinity_emb v2", true),
    ] {
        assert_eq!(server(line, |s| s.follows_env), follows, "{line}");
    }
}

#[test]
fn evidence_tag_and_shell() {
    server("VLLM | --model m", |s| {
        assert_eq!(s.evidence, Evidence::Image("vllm-openai".to_owned()));
        assert_eq!((s.tag.as_deref(), s.shell), (Some("v0.11.0"), Some(true)));
    });
    server("OWN sh -c 'exec vllm serve m'", |s| {
        assert_eq!(s.evidence, Evidence::Command("vllm serve".to_owned()));
        assert_eq!((s.tag.as_deref(), s.shell), (Some("1"), None));
    });
}

#[test]
fn a_config_adds_and_changes() {
    let builtin = Knowledge::builtin();
    let extended = builtin
        .with(&json!({
            "accelerators": [{"names": ["example.com/npu", "example.com/slice-*"], "source": "our cluster"}],
            "notAccelerators": [{"names": ["example.com/slice-0"], "source": "our cluster"}],
            "deviceClasses": [{"names": ["team-card"], "source": "our cluster"}],
            "workloads": [{"group": "example.com", "kind": "Engine", "source": "our operator",
                           "templates": [{"path": "spec.pod", "part": "main"}], "progressDeadline": "spec.deadline"}],
            "podless": [{"group": "example.com", "kinds": ["Route"], "source": "our operator"}],
            "servers": [
                {"id": "serving", "title": "TF Serving", "source": "our own",
                 "images": [{"names": ["tensorflow/serving"], "entry": "server", "source": "our own"}],
                 "port": {"flags": ["--rest_api_port"], "source": "our own"},
                 "probes": {"startup": "/v1/models/{model}", "liveness": "tcp", "source": "our own"},
                 "model": [{"flags": ["--model_name"], "env": ["MODEL_NAME"], "from": "file", "source": "our own"}]},
                {"id": "vllm", "source": "our own",
                 "images": [{"names": ["team-llm"], "entry": "server", "shell": false, "source": "our own"}],
                 "port": {"default": 9000, "flags": ["--port"], "source": "our own"}},
            ],
        }))
        .unwrap();
    assert!(extended.accelerator("example.com/npu") && extended.accelerator("nvidia.com/gpu"));
    assert!(
        extended.accelerator("example.com/slice-1") && !extended.accelerator("example.com/slice-0")
    );
    assert_eq!(extended.device_class("team-card"), DeviceClass::Accelerator);
    let engine = extended.workload("example.com", "Engine").unwrap();
    assert_eq!(
        engine.progress_deadline.as_ref().unwrap().to_string(),
        "spec.deadline"
    );
    assert!(extended.holds_no_pods("example.com", "Route"));
    for (line, expected) in [
        ("x/team-llm | --model m", "vllm, 9000 (default of vLLM)"),
        (
            "vllm/vllm-openai | --model m",
            "vllm, 9000 (default of vLLM)",
        ),
        (
            "x/tensorflow/serving",
            "serving, no port, bind unknown (default of TF Serving)",
        ),
        ("x/serving | --rest_api_port=1", "unknown"),
    ] {
        assert_eq!(with(&extended, line, describe), expected, "{line:?}");
    }
    let line = "MODEL_NAME=m tensorflow/serving | --rest_api_port=8501";
    with(&extended, line, |found| {
        let Recognition::Server(server) = found else {
            panic!("{found:?}")
        };
        assert_eq!(
            server.startup,
            Some(PresetHandler::Http("/v1/models/m".to_owned()))
        );
        assert_eq!(server.liveness, Some(PresetHandler::Tcp));
        assert_eq!(server.port.as_ref().map(|port| port.value), Some(8501));
    });
    assert!(!builtin.accelerator("example.com/npu"));
    assert_eq!(
        with(&builtin, "x/team-llm | --model m", describe),
        "unknown"
    );
}

proptest! {
    #[test]
    fn no_text_confuses_the_reader(
        script in "([a-z$ ={}()'\"`\\\\;&|<>#\n\u{0}0-9-]|vllm serve |if |fi|case |<<E|--port |\\$\\(P\\)|ü){0,40}",
        argument in any::<String>(),
        image in any::<String>(),
    ) {
        let command = ["sh", "-c", script.as_str(), "--", argument.as_str()].map(str::to_owned);
        let env = [("P".to_owned(), EnvValue::Literal(argument.clone()))];
        let args = [argument];
        for command in [&command[..], &[]] {
            let image = Some(image.as_str());
            let launch = Launch { image, command, args: &args, env: &env };
            let found = describe(&Knowledge::builtin().recognise(&launch));
            prop_assert!(!found.contains('\0'), "{found:?}");
        }
    }
}
