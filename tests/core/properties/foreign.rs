//! What is told early of an object is what a judgement makes of it, whatever else is known.

use std::cell::Cell;
use std::sync::Arc;

use warmgate::admit::{admit, settled};
use warmgate::facts::{Cluster, Facts};
use warmgate::intent;
use warmgate::plan::{self, Write};
use warmgate::rules::{self, Case};
use warmgate::subject::Subject;

use super::{ensure, holds};
use crate::generate::drawn;

#[test]
fn a_foreign_object_is_one_that_a_judgement_skips_and_says_nothing_of() {
    let seen = Cell::new(0);
    holds(|bytes| {
        let drawn = drawn(bytes);
        let facts = &drawn.facts;
        let Ok(subject) = Subject::read(&drawn.object, drawn.namespace, &facts.knowledge) else {
            return Ok(());
        };
        let Some(skip) = intent::foreign(&subject, facts) else {
            return Ok(());
        };
        seen.set(seen.get() + 1);
        let intent = intent::resolve(&subject, facts, rules::ids());
        let plan = plan::make(&subject, &intent, facts, Write::Create, rules::ids());
        let findings = rules::run(&Case {
            subject: &subject,
            intent: &intent,
            plan: &plan,
            facts,
            write: Write::Create,
        });
        let same = intent.skip.as_ref() == Some(&skip)
            && intent.mode == facts.mode
            && plan.edits.is_empty()
            && plan.withheld.is_empty()
            && plan.patch.0.is_empty()
            && plan.left_alone.is_none()
            && findings.is_empty();
        ensure(same, || {
            format!(
                "{skip:?} early, then {:?}, {plan:?}, {findings:?} of {}",
                intent.skip, drawn.object
            )
        })
    });
    assert!(seen.get() > 10, "only {} were foreign", seen.get());
}

#[test]
fn what_is_settled_stays_so_whatever_else_is_known() {
    let seen = Cell::new(0);
    holds(|bytes| {
        let drawn = drawn(bytes);
        let request = drawn.create();
        let alone = Facts {
            cluster: Arc::new(Cluster::default()),
            neighbours: None,
            ..drawn.facts.clone()
        };
        let Some(early) = settled(&request, &alone) else {
            return Ok(());
        };
        seen.set(seen.get() + 1);
        let (early, late) = (
            format!("{early:?}"),
            format!("{:?}", admit(&request, &drawn.facts)),
        );
        ensure(early == late, || {
            format!("{early} early, then {late} of {}", drawn.object)
        })
    });
    assert!(seen.get() > 10, "only {} were settled", seen.get());
}
