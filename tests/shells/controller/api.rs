//! An API server in memory, as far as the controller can tell.
//!
//! It keeps objects by path, refuses writes of other versions, applies and merges, and streams the changes of namespaces.
//! Who owns a field it does not know: that is for the real one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::{Method, Request, Response, StatusCode};
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The server. Clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Api(Arc<Mutex<Inner>>);

/// What becomes of a call on its way to the server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// It gets there.
    Open,
    /// The client's own code panics.
    Panic,
    /// It gets no answer, ever.
    Silence,
}

/// Says whether a call fails, by method and path. The method of a watch is `WATCH`.
type Fault = Box<dyn Fn(&str, &str) -> Option<u16> + Send>;

#[derive(Default)]
struct Inner {
    objects: BTreeMap<String, Value>,
    version: u64,
    /// What happened to namespaces, each with its version.
    changes: Vec<(u64, Value)>,
    watchers: Vec<mpsc::UnboundedSender<Value>>,
    /// Every call: method and path.
    calls: Vec<(String, String)>,
    fault: Option<Fault>,
}

impl Api {
    /// A client of this server.
    pub(super) fn client(&self) -> Client {
        self.client_by(|| Way::Open)
    }

    /// A client of this server with calls that fare as `way` says.
    pub(super) fn client_by(&self, way: impl Fn() -> Way + Clone + Send + 'static) -> Client {
        let api = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let (api, way) = (api.clone(), way.clone());
            async move {
                let way = way();
                match way {
                    Way::Open => {}
                    Way::Panic => panic!("a bug of ours"),
                    Way::Silence => std::future::pending().await,
                }
                Ok::<_, Infallible>(api.answer(request).await)
            }
        });
        Client::new(service, "default")
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no test panics in here")
    }

    /// The object at a path.
    pub(super) fn get(&self, path: &str) -> Option<Value> {
        self.inner().objects.get(path).cloned()
    }

    /// All objects whose path begins so.
    pub(super) fn below(&self, path: &str) -> Vec<Value> {
        let inner = self.inner();
        let below = inner
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(path));
        below.map(|(_, object)| object.clone()).collect()
    }

    /// Puts an object at a path, as somebody else would.
    pub(super) fn put(&self, path: &str, object: Value) {
        self.inner().store(path, object);
    }

    /// Changes the object at a path, as somebody else would.
    pub(super) fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut inner = self.inner();
        let mut object = inner.objects[path].clone();
        change(&mut object);
        inner.store(path, object);
    }

    /// Deletes the object at a path, as somebody else would.
    pub(super) fn delete(&self, path: &str) {
        self.inner().remove(path).expect("it is there");
    }

    /// Lets calls fail from now on.
    pub(super) fn fail(&self, fault: impl Fn(&str, &str) -> Option<u16> + Send + 'static) {
        self.inner().fault = Some(Box::new(fault));
    }

    /// Lets calls succeed again.
    pub(super) fn recover(&self) {
        self.inner().fault = None;
    }

    /// Ends all watches, as a server does from time to time.
    pub(super) fn hang_up(&self) {
        self.inner().watchers.clear();
    }

    /// Every call so far: method and path.
    pub(super) fn calls(&self) -> Vec<(String, String)> {
        self.inner().calls.clone()
    }

    async fn answer(&self, request: Request<kube::client::Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("the request has a body");
        let path = head.uri.path().to_owned();
        let query = head.uri.query().unwrap_or_default().to_owned();
        let mut inner = self.inner();
        inner.calls.push((head.method.to_string(), path.clone()));
        let watches = query.contains("watch=true");
        let method = if watches {
            "WATCH"
        } else {
            head.method.as_str()
        };
        let fault = inner.fault.as_ref();
        if let Some(code) = fault.and_then(|fault| fault(method, &path)) {
            return status(code, "it is told to fail");
        }
        let applies = head
            .headers
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/apply"));
        let body = serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null);
        match head.method {
            Method::GET if path == "/version" => json_response(200, &version()),
            Method::GET if watches => inner.watch(&query),
            Method::GET if is_collection(&path) => json_response(200, &inner.list(&path)),
            Method::GET => found(inner.objects.get(&path).cloned()),
            Method::POST => inner.create(&path, body),
            Method::PUT => inner.replace(&path, body),
            Method::PATCH => inner.patch(&path, body, applies),
            Method::DELETE => found(inner.remove(&path)),
            _ => status(405, "not this"),
        }
    }
}

impl Inner {
    fn store(&mut self, path: &str, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        if object["metadata"].get("uid").is_none() {
            object["metadata"]["uid"] = json!(format!("uid-{}", self.version));
        }
        let known = self.objects.insert(path.to_owned(), object.clone());
        let change = if known.is_some() { "MODIFIED" } else { "ADDED" };
        self.tell(path, change, &object);
        object
    }

    fn remove(&mut self, path: &str) -> Option<Value> {
        let object = self.objects.remove(path)?;
        self.version += 1;
        self.tell(path, "DELETED", &object);
        Some(object)
    }

    fn tell(&mut self, path: &str, change: &str, object: &Value) {
        if !path.starts_with("/api/v1/namespaces/") || path.matches('/').count() != 4 {
            return;
        }
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let event = json!({"type": change, "object": object});
        self.watchers
            .retain(|watcher| watcher.send(event.clone()).is_ok());
        self.changes.push((self.version, event));
    }

    fn watch(&mut self, query: &str) -> Response<Body> {
        let since = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("resourceVersion="))
            .and_then(|version| version.parse().ok())
            .unwrap_or(0);
        let (sender, receiver) = mpsc::unbounded_channel();
        for (version, event) in &self.changes {
            if *version > since {
                sender.send(event.clone()).expect("the watcher is there");
            }
        }
        self.watchers.push(sender);
        let events = stream::unfold(receiver, |mut receiver| async move {
            Some((receiver.recv().await?, receiver))
        });
        let lines = events.map(|event| Ok::<_, Infallible>(format!("{event}\n")));
        Response::new(Body::from_stream(lines))
    }

    fn list(&self, path: &str) -> Value {
        let below = format!("{path}/");
        let items: Vec<_> = self
            .objects
            .iter()
            .filter(|(key, _)| {
                key.strip_prefix(&below)
                    .is_some_and(|name| !name.contains('/'))
            })
            .map(|(_, object)| object)
            .collect();
        json!({
            "apiVersion": "v1",
            "kind": "List",
            "metadata": {"resourceVersion": self.version.to_string()},
            "items": items,
        })
    }

    fn create(&mut self, path: &str, object: Value) -> Response<Body> {
        let name = object["metadata"]["name"].as_str().expect("it has a name");
        let path = format!("{path}/{name}");
        if self.objects.contains_key(&path) {
            return status(409, "it is there already");
        }
        json_response(201, &self.store(&path, object))
    }

    fn replace(&mut self, path: &str, object: Value) -> Response<Body> {
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        match self.objects.get(path) {
            None => status(404, "it is not there"),
            Some(found) if version(found) != version(&object) => status(409, "it has changed"),
            Some(_) => json_response(200, &self.store(path, object)),
        }
    }

    fn patch(&mut self, path: &str, patch: Value, applies: bool) -> Response<Body> {
        let mut object = match self.objects.get(path) {
            Some(object) => object.clone(),
            None if applies => json!({}),
            None => return status(404, "it is not there"),
        };
        merge(&mut object, patch);
        json_response(200, &self.store(path, object))
    }
}

/// Merges maps by key, and lists of objects by what names them.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(from)) => {
            for item in from {
                let key = if item.get("uid").is_some() {
                    "uid"
                } else {
                    "name"
                };
                match into.iter_mut().find(|known| known[key] == item[key]) {
                    Some(known) => merge(known, item),
                    None => into.push(item),
                }
            }
        }
        (into, from) => *into = from,
    }
}

/// Whether a path is that of objects and not of one.
fn is_collection(path: &str) -> bool {
    let before = if path.starts_with("/api/") { 2 } else { 3 };
    path.trim_start_matches('/')
        .split('/')
        .count()
        .abs_diff(before)
        % 2
        == 1
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": "v1.36.4", "gitCommit": "", "gitTreeState": "",
        "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
    })
}

fn found(object: Option<Value>) -> Response<Body> {
    match object {
        Some(object) => json_response(200, &object),
        None => status(404, "it is not there"),
    }
}

fn status(code: u16, message: &str) -> Response<Body> {
    let reason = match code {
        404 => "NotFound",
        409 => "Conflict",
        _ => "Failure",
    };
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message,
    });
    json_response(code, &status)
}

fn json_response(code: u16, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = StatusCode::from_u16(code).expect("it is a status code");
    response
}
