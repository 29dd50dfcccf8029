//! The namespaces of the cluster, watched.

use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PartialObjectMeta;
use kube::runtime::reflector::{Store, store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::annotations::{MODE, is_ours};

use super::course::{Course, Unwatched};
use super::facts;

/// What is known of the namespaces so far.
#[derive(Clone)]
pub(super) struct Namespaces {
    store: Store<PartialObjectMeta<Namespace>>,
    course: Arc<watch::Sender<Course>>,
    changed: Arc<Notify>,
}

impl Namespaces {
    /// What is known, and the watch that keeps it so for as long as it is polled.
    pub(super) fn watch(client: Client) -> (Self, impl Future<Output = ()>) {
        let (store, writer) = store();
        let namespaces = Self {
            store,
            course: Arc::new(watch::Sender::new(Course::begun(Instant::now()))),
            changed: Arc::new(Notify::new()),
        };
        let api = Api::<PartialObjectMeta<Namespace>>::all(client);
        let events = watcher(api, watcher::Config::default())
            .default_backoff()
            .modify(shrink)
            .reflect(writer);
        let follow = namespaces.clone().follow(events);
        (namespaces, follow)
    }

    async fn follow(self, events: impl Stream<Item = watcher::Result<Event>>) {
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            match event {
                // A list that is begun is none yet.
                Ok(watcher::Event::Init | watcher::Event::InitApply(_)) => {}
                Ok(watcher::Event::InitDone) => {
                    self.course.send_modify(Course::listed);
                    self.changed.notify_one();
                }
                Ok(watcher::Event::Apply(_) | watcher::Event::Delete(_)) => {
                    self.course.send_modify(Course::heard);
                    self.changed.notify_one();
                }
                Err(error) => {
                    tracing::debug!(%error, "the watch of namespaces is begun again");
                    let (error, now) = (error.to_string(), Instant::now());
                    self.course.send_modify(|course| course.failed(error, now));
                }
            }
        }
    }

    /// Waits until something has changed since the last wait.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Whether the watch keeps what is known as it is in the cluster.
    pub(super) fn watched(&self) -> Result<(), Unwatched> {
        self.course.borrow().watched(Instant::now())
    }

    /// All namespaces, or nothing before they have been listed.
    pub(super) fn all(&self) -> Option<Vec<facts::Namespace>> {
        let listed = self.course.borrow().is_listed();
        listed.then(|| {
            self.store
                .state()
                .iter()
                .map(|found| facts::Namespace {
                    name: found.name_any(),
                    labelled: found.labels().contains_key(MODE),
                    annotations: found.annotations().clone(),
                })
                .collect()
        })
    }
}

type Event = watcher::Event<PartialObjectMeta<Namespace>>;

/// Keeps in memory what is read.
fn shrink(namespace: &mut PartialObjectMeta<Namespace>) {
    namespace.managed_fields_mut().clear();
    namespace.annotations_mut().retain(|key, _| is_ours(key));
    namespace.labels_mut().retain(|key, _| key == MODE);
}
