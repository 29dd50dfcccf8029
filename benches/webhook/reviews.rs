//! The reviews: as an API server sends them, with managedFields and every default filled in. They are kept readable in
//! `reviews/` and sent as compact as the API server writes them.

use std::sync::Arc;

use serde_json::Value;

use super::process::Program;
use super::wire;

const POD: &str = include_str!("reviews/pod-of-a-shop.json");
const GPU_POD: &str = include_str!("reviews/pod-with-gpus.json");
const DEPLOYMENT: &str = include_str!("reviews/deployment-of-a-shop.json");
const GPU_DEPLOYMENT: &str = include_str!("reviews/deployment-with-gpus.json");

/// What must come of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It is allowed, and that is all.
    Nothing,
    /// It is allowed and patched.
    Patch,
    /// It is allowed; warnings may stand beside it.
    Allowed,
}

/// What is asked.
pub(crate) struct Review {
    /// What it is, in the words of the page.
    pub(crate) name: &'static str,
    /// The path that warmgate is asked at.
    path: &'static str,
    /// Whether the Go webhook is asked too: it knows pods and mutates.
    pub(crate) in_go: bool,
    pub(crate) expected: Expected,
    pub(crate) text: String,
}

impl Review {
    /// The request for a program.
    pub(crate) fn request(&self, program: Program) -> Arc<[u8]> {
        let path = match program {
            Program::Nothing => "/nothing",
            Program::Warmgate => self.path,
            Program::Go => "/mutate",
        };
        wire::request(path, self.text.as_bytes()).into()
    }

    /// The programs that are asked.
    pub(crate) fn programs(&self, go: bool) -> Vec<Program> {
        let mut programs = vec![Program::Nothing, Program::Warmgate];
        if go && self.in_go {
            programs.push(Program::Go);
        }
        programs
    }
}

/// The reviews of an object that is to be stored, before it is mended.
pub(crate) fn mutating() -> Vec<Review> {
    let review = |name, text, expected| Review {
        name,
        path: "/mutate/fix",
        in_go: name != OTHER_DEPLOYMENT && name != MENDED_DEPLOYMENT,
        expected,
        text: compact(&read(text)),
    };
    vec![
        review(
            "(b) `/mutate`, Pod that is not ours",
            POD,
            Expected::Nothing,
        ),
        review(MENDED_POD, GPU_POD, Expected::Patch),
        review(OTHER_DEPLOYMENT, DEPLOYMENT, Expected::Nothing),
        review(MENDED_DEPLOYMENT, GPU_DEPLOYMENT, Expected::Patch),
    ]
}

/// The pod with GPUs, which is mended.
pub(crate) const MENDED_POD: &str = "(c) `/mutate`, GPU Pod";
const OTHER_DEPLOYMENT: &str = "(b) `/mutate`, Deployment that is not ours";
const MENDED_DEPLOYMENT: &str = "(c) `/mutate`, GPU Deployment";

/// The same object once more, mended, as the validating webhook sees it.
pub(crate) fn validating(review: &Review, object: Value) -> Review {
    let mut mended = read(&review.text);
    mended["request"]["object"] = object;
    Review {
        name: match review.name {
            MENDED_POD => "(d) `/validate`, the mended Pod",
            _ => "(d) `/validate`, the mended Deployment",
        },
        path: "/validate/fix",
        in_go: false,
        expected: Expected::Allowed,
        text: compact(&mended),
    }
}

/// The object of a review.
pub(crate) fn object(review: &Review) -> Value {
    read(&review.text)["request"]["object"].take()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a review is JSON")
}

fn compact(review: &Value) -> String {
    review.to_string()
}
