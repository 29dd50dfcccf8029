//! What an API server may ask: the cases as their owners wrote them, and objects that were drawn.

use std::sync::Arc;

use warmgate::facts::{Facts, Mode, Origin, collect};
use warmgate::manifest::Manifest;
use warmgate::review::Request;

use super::server::Answer;
use crate::cases;
use crate::generate::{create, drawn, drawn_update, draws};

/// The namespace of what names none.
pub(super) const NAMESPACE: &str = "team";

/// One question to the webhook.
pub(super) struct Review {
    /// What finds it again.
    pub(super) name: String,
    pub(super) request: Request,
    pub(super) facts: Facts,
}

impl Review {
    /// Takes the objects over as they are shown to a webhook, where they can be decoded.
    pub(super) fn arrive(&mut self, shown: &Answer) {
        let Some(object) = &shown.object else {
            return;
        };
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            namespace.clone_into(&mut self.request.namespace);
        }
        self.request.object = Some(object.clone());
        self.request.old_object.clone_from(&shown.old);
    }
}

/// Every object of every case, in both modes that patch.
pub(super) fn of_cases() -> impl Iterator<Item = Review> {
    let of_case = |(name, manifest): (String, Manifest)| of_case(&name, &manifest);
    cases::all().into_iter().flat_map(of_case)
}

fn of_case(name: &str, manifest: &Manifest) -> Vec<Review> {
    let objects = || manifest.objects.iter().map(|object| &object.value);
    let (cluster, _) = collect(objects(), NAMESPACE);
    let cluster = Arc::new(cluster);
    let mut reviews = Vec::new();
    for (number, object) in objects().enumerate() {
        let request = if object["kind"] == "AdmissionReview" {
            Request::from_value(object).unwrap_or_else(|error| panic!("{name}: {error}"))
        } else {
            create(object, NAMESPACE)
        };
        for mode in Mode::ALL.into_iter().filter(|mode| mode.edits()) {
            reviews.push(Review {
                name: format!("{name}, object {number}, mode {}", mode.word()),
                request: request.clone(),
                facts: Facts {
                    cluster: Arc::clone(&cluster),
                    ..Facts::new(mode, Origin::Admission)
                },
            });
        }
    }
    reviews
}

/// `count` drawn objects, each as it is created, and one that was mended before as it is updated.
pub(super) fn of_draws(count: usize) -> impl Iterator<Item = Review> {
    draws().take(count).enumerate().flat_map(|(number, bytes)| {
        let (drawn, update) = (drawn(&bytes), drawn_update(&bytes));
        let created = Review {
            name: format!("draw {number}, created"),
            request: drawn.create(),
            facts: drawn.admission(drawn.facts.mode.max(Mode::Fix)),
        };
        let updated = Review {
            name: format!("draw {number}, updated"),
            request: update.request(),
            facts: update.facts(),
        };
        [created, updated]
    })
}
