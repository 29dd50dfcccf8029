//! Patches, applied as an API server applies them: with its JSON patch library, its decoder, its defaults and its validation.

mod faulty;
mod reviews;
mod server;

use json_patch::Patch;
use serde_json::json;
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::Facts;
use warmgate::review::Request;

use reviews::Review;
use server::{Answer, Question, Server};

/// So many objects are drawn, each to be created and to be updated.
const DRAWS: usize = 20_000;

/// So many reviews are held in memory.
const AT_ONCE: usize = 5_000;

/// So many failures are shown.
const SHOWN: usize = 5;

/// Every patch applies; what it makes is of its kind, as valid as what it was made from, and not patched again.
pub(super) fn are_what_an_api_server_takes() {
    let server = Server::build();
    faulty::are_told(&server);
    let cases = judge(&server, "cases", reviews::of_cases());
    assert!(cases.patched > 300 && cases.valid > 300, "{cases:?}");
    let draws = judge(&server, "draws", reviews::of_draws(DRAWS));
    assert!(draws.patched > 2_000 && draws.valid > 1_000, "{draws:?}");
}

fn judge(server: &Server, what: &str, mut reviews: impl Iterator<Item = Review>) -> Tally {
    let mut tally = Tally::default();
    loop {
        let some: Vec<_> = reviews.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        tally.add(server, some, mutated);
    }
    println!(
        "patches of {what}: {} reviews, {} objects decoded, {} patched, {} of these valid before, {} failures",
        tally.reviews,
        tally.decoded,
        tally.patched,
        tally.valid,
        tally.failures.len()
    );
    let shown: Vec<_> = tally.failures.iter().take(SHOWN).cloned().collect();
    assert!(shown.is_empty(), "{}", shown.join("\n\n"));
    tally
}

/// What warmgate answers.
fn mutated(request: &Request, facts: &Facts) -> Patch {
    admit(request, facts).response(Endpoint::Mutate).patch
}

/// What was done, and what went wrong.
#[derive(Debug, Default)]
struct Tally {
    reviews: usize,
    /// Those whose object an API server can decode.
    decoded: usize,
    patched: usize,
    /// Those of the patched whose object would be stored as it was.
    valid: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Puts reviews to a webhook as an API server does, and applies its answers.
    fn add(
        &mut self,
        server: &Server,
        reviews: Vec<Review>,
        webhook: impl Fn(&Request, &Facts) -> Patch,
    ) {
        let shown = server.ask(reviews.iter().map(|review| Question::of(review, None)));
        self.reviews += reviews.len();
        let mut patched = Vec::new();
        for (mut review, shown) in reviews.into_iter().zip(shown) {
            self.decoded += usize::from(shown.is_decoded());
            review.arrive(&shown);
            let patch = webhook(&review.request, &review.facts);
            if !patch.0.is_empty() {
                self.valid += usize::from(shown.is_valid());
                patched.push((review, patch, shown));
            }
        }
        self.patched += patched.len();
        let applied = server.ask(
            patched
                .iter()
                .map(|(review, patch, _)| Question::of(review, Some(patch))),
        );
        for ((mut review, patch, before), after) in patched.into_iter().zip(applied) {
            let object = json!(review.request.object);
            let objection = objection(&before, &after).or_else(|| {
                review.arrive(&after);
                let again = webhook(&review.request, &review.facts);
                let is_again = before.is_decoded() && !again.0.is_empty();
                is_again.then(|| format!("it is patched again: {}", json!(again)))
            });
            if let Some(objection) = objection {
                let name = &review.name;
                let patch = json!(patch);
                self.failures.push(format!(
                    "{name}: {objection}\nobject {object}\npatch {patch}"
                ));
            }
        }
    }
}

/// Why an API server does not take what a patch made, where it would have taken the object as it was.
fn objection(before: &Answer, after: &Answer) -> Option<String> {
    if !after.applied {
        return after.refused.clone();
    }
    if !before.is_decoded() {
        return None;
    }
    if let Some(why) = &after.refused {
        return Some(format!("it cannot be decoded: {why}"));
    }
    let is_new = |field: &&String| !before.unknown.contains(*field);
    if let Some(field) = after.unknown.iter().find(is_new) {
        return Some(field.clone());
    }
    let why = after.invalid.as_ref().filter(|_| before.is_valid())?;
    Some(format!("it is not valid any more: {why}"))
}
