//! Files that change while the server runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use warmgate::facts::Version;
use warmgate::webhook::{Certificate, Server, Settings};

use super::certificates::{Authority, Pair};
use super::client::{Client, Tls};
use super::{Fixture, body, judge, on_loopback};

/// A folder as the kubelet mounts a Secret: the names are links into `..data`, which is a link to a folder.
struct Volume(TempDir);

impl Volume {
    fn new(files: &[(&str, &str)]) -> Self {
        let volume = Self(TempDir::new().expect("there is a folder"));
        volume.swap("..1", files);
        for (name, _) in files {
            symlink(Path::new("..data").join(name), volume.path().join(name))
                .expect("files can be written");
        }
        volume
    }

    fn of(pair: &Pair) -> Self {
        Self::new(&[("tls.crt", &pair.chain), ("tls.key", &pair.key)])
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a new version in place of the old one, in one step (`pkg/volume/util/atomic_writer.go` of the kubelet).
    fn swap(&self, version: &str, files: &[(&str, &str)]) {
        let folder = self.path().join(version);
        fs::create_dir(&folder).expect("files can be written");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("files can be written");
        }
        symlink(version, self.path().join("..data_tmp")).expect("files can be written");
        fs::rename(self.path().join("..data_tmp"), self.path().join("..data"))
            .expect("files can be written");
    }

    fn swap_pair(&self, version: &str, pair: &Pair) {
        self.swap(version, &[("tls.crt", &pair.chain), ("tls.key", &pair.key)]);
    }

    fn settings(&self) -> Settings {
        on_loopback(Certificate::Files {
            chain: self.path().join("tls.crt"),
            key: self.path().join("tls.key"),
        })
    }
}

/// Looks until something is so.
pub(super) async fn until<F: Future<Output = bool>>(what: &str, mut so: impl FnMut() -> F) {
    let looks = async {
        while !so().await {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(20), looks).await.expect(what);
}

async fn start(authority: Authority, settings: Settings) -> Fixture {
    let server = Server::start_with(settings, judge).await;
    Fixture {
        server: server.expect("the server starts"),
        authority,
    }
}

async fn shows(fixture: &Fixture, name: &str) -> bool {
    fixture.connect().await.common_name() == name
}

#[tokio::test]
async fn a_new_certificate_is_shown_and_old_connections_live_on() {
    let authority = Authority::new();
    let volume = Volume::of(&authority.pair("one"));
    let fixture = start(authority, volume.settings()).await;
    let mut old = fixture.connect().await;
    assert_eq!(old.common_name(), "one");
    volume.swap_pair("..2", &fixture.authority.pair("two"));
    until("the new certificate is shown", || shows(&fixture, "two")).await;
    assert_eq!(
        old.post("/validate/fix", body("llm")).await.unwrap().status,
        200
    );
    let metrics = fixture.metrics().await;
    assert!(
        metrics.contains(r#"warmgate_reloads_total{file="certificate",result="ok"} 2"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn a_bad_certificate_is_counted_once_and_the_last_good_one_stays() {
    let authority = Authority::new();
    let (one, two) = (authority.pair("one"), authority.pair("two"));
    let volume = Volume::of(&one);
    let fixture = start(authority, volume.settings()).await;
    let bad = [
        Pair {
            chain: "torn".to_owned(),
            ..one.clone()
        },
        Pair {
            chain: two.chain.clone(),
            ..one.clone()
        },
        Pair {
            key: String::new(),
            ..two.clone()
        },
    ];
    for (number, pair) in (1..).zip(&bad) {
        volume.swap_pair(&format!("..bad{number}"), pair);
        let count =
            format!(r#"warmgate_reloads_total{{file="certificate",result="error"}} {number}"#);
        until("the bad certificate is counted", async || {
            fixture.metrics().await.contains(&count)
        })
        .await;
        assert!(shows(&fixture, "one").await);
    }
    volume.swap_pair("..good", &two);
    until("the good one is shown", || shows(&fixture, "two")).await;
}

#[tokio::test]
async fn without_a_certificate_it_waits_and_is_not_ready() {
    let authority = Authority::new();
    let volume = Volume::new(&[]);
    let pair = authority.pair("one");
    let fixture = start(authority, volume.settings()).await;
    let mut health = Client::plain(fixture.server.health_address()).await;
    assert_eq!(health.get("/livez").await.unwrap().status, 200);
    assert_eq!(health.get("/readyz").await.unwrap().status, 503);
    let address = fixture.server.admission_address();
    assert!(Tls::new(&fixture.authority).connect(address).await.is_err());
    fs::write(volume.path().join("tls.crt"), &pair.chain).unwrap();
    fs::write(volume.path().join("tls.key"), &pair.key).unwrap();
    until("it becomes ready", async || {
        let mut health = Client::plain(fixture.server.health_address()).await;
        health.get("/readyz").await.unwrap().status == 200
    })
    .await;
    assert!(shows(&fixture, "one").await);
    // A Secret that is deleted takes nothing away.
    fs::remove_file(volume.path().join("tls.key")).unwrap();
    let missing = r#"warmgate_reloads_total{file="certificate",result="missing"} 2"#;
    until("it is missed", async || {
        fixture.metrics().await.contains(missing)
    })
    .await;
    assert!(shows(&fixture, "one").await);
}

#[tokio::test]
async fn facts_and_config_are_learned_and_bad_ones_are_not() {
    let authority = Authority::new();
    let volume = Volume::of(&authority.pair("one"));
    let (facts, config) = (volume.path().join("facts"), volume.path().join("config"));
    fs::write(&facts, "kubernetesVersion: '1.31'\n").unwrap();
    let mut settings = volume.settings();
    (settings.facts, settings.config) = (Some(facts.clone()), Some(config.clone()));
    let seen = Arc::new(Mutex::new(None));
    let recorder = Arc::clone(&seen);
    let server = Server::start_with(settings, move |request, facts| {
        *recorder.lock().unwrap() = Some(facts.clone());
        judge(request, facts)
    });
    let server = server.await.unwrap();
    let fixture = Fixture { server, authority };
    let known = async || {
        fixture
            .connect()
            .await
            .post("/validate/warn", body("llm"))
            .await
            .unwrap();
        let facts = seen.lock().unwrap().clone().unwrap();
        (facts.kubernetes.minor, facts.config.limits.max_grace)
    };
    let reloads = async |line: &str| {
        fixture
            .metrics()
            .await
            .contains(&format!("warmgate_reloads_total{{{line}"))
    };
    assert_eq!(known().await, (31, 600));
    fs::write(&config, r#"{"limits": {"maxGrace": 60}}"#).unwrap();
    until("the config is learned", async || known().await == (31, 60)).await;
    fs::write(
        &facts,
        r#"{"kubernetesVersion": "1.30", "namespaces": {"a": {"b": "c"}}}"#,
    )
    .unwrap();
    until("the facts are learned", async || known().await == (30, 60)).await;
    for (number, bad) in (1..).zip([r#"{"kubernetesVersion": "two"}"#, r#"{"typo": 1}"#, "{"]) {
        fs::write(&facts, bad).unwrap();
        let count = format!(r#"file="facts",result="error"}} {number}"#);
        until("bad facts are counted", async || reloads(&count).await).await;
        assert_eq!(known().await, (30, 60));
    }
    fs::write(&config, r#"{"limits": {"maxGrace": "long"}}"#).unwrap();
    until("a bad config is counted", async || {
        reloads(r#"file="config",result="error"} 1"#).await
    })
    .await;
    assert_eq!(known().await, (30, 60));
    fs::write(&facts, "{}").unwrap();
    until("good facts are learned again", async || {
        known().await == (Version::NEWEST.minor, 60)
    })
    .await;
}
