//! What is logged, and what never is.

use std::io::{self, Write};
use std::panic;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use warmgate::webhook::{Format, init_log};

use super::{Fixture, review};

/// An output that a test can read.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().expect("nobody panicked with it");
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_decision_is_one_line_that_quotes_nothing() {
    let output = Output::default();
    // The other tests of this process still say why they fail.
    let hook = panic::take_hook();
    let flush = init_log(Format::Json, "info", output.clone()).unwrap();
    panic::set_hook(hook);
    assert!(init_log(Format::Json, "info", io::sink()).is_err());
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for (name, dry_run) in [
        ("find", false),
        ("refuse", true),
        ("skip", false),
        ("forged\nline", false),
    ] {
        let mut review = review(name);
        review["request"]["namespace"] = json!("log-test");
        review["request"]["dryRun"] = json!(dry_run);
        review["request"]["object"]["spec"]["secret"] = json!("hunter2");
        if name.starts_with("forged") {
            review["apiVersion"] = json!("v9");
        }
        client
            .post("/validate/enforce", review.to_string())
            .await
            .unwrap();
    }
    let mut generated = review("");
    generated["request"]["namespace"] = json!("log-test");
    generated["request"]["object"]["metadata"] = json!({"generateName": "llm-"});
    generated["request"]["operation"] = json!("PATCH");
    client
        .post("/validate/enforce", generated.to_string())
        .await
        .unwrap();
    drop(flush);
    let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .filter(|line: &Value| {
            line["object"]
                .as_str()
                .is_some_and(|name| name.starts_with("log-test/"))
        })
        .collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_eq!(lines[0]["object"], "log-test/find");
    assert_eq!(lines[0]["message"], "findings");
    assert_eq!(lines[0]["rules"], "no-probes");
    assert_eq!(lines[0]["mode"], "enforce");
    assert_eq!(lines[1]["object"], "log-test/forged line");
    assert_eq!(lines[1]["message"], "not understood");
    assert_eq!(lines[2]["object"], "log-test/*");
}
