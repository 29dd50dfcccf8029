//! Tests of the core: no server, no cluster.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read the files they judge, and the variables that bless or lengthen them"
)]

mod annotations;
mod answered;
mod calls;
mod cases;
mod chart;
mod configuration;
#[path = "../conformance/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "who has a cluster uses more of it"
)]
mod conformance;
mod conformance_page;
mod conformance_sample;
mod edits;
mod explained;
mod forged;
#[path = "../generate/mod.rs"]
mod generate;
mod generate_coverage;
mod knowledge;
mod knowledge_data;
mod kubelet;
mod kubelet_bounds;
mod kubelet_law;
mod kubelet_mutants;
mod kubelet_pods;
mod kubelet_random;
mod kubelet_recorded;
mod lawful;
mod layers;
mod manifest_edit;
mod manifest_props;
mod manifest_read;
mod mended_text;
mod opted_out;
mod properties;
mod reasons;
mod registration;
mod review;
mod rules;
mod rules_ends;
mod rules_page;
mod rules_rollouts;
mod rules_rows;
mod rules_starts;
mod rules_triggers;
mod rules_words;
mod shown;
mod tokens;
mod told;
mod undo;
mod updates;
