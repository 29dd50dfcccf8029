//! What must hold on a real Kubernetes. A suite is a function; this list is all there is to registering one.

mod helpers;
mod image;
mod slowboot;
mod slowserver;
mod teardown;
mod two_clusters;

use crate::suite::Suite;

/// Every suite, in the order in which they start.
pub(crate) const ALL: &[Suite] = &[
    Suite::bare(
        "image_holds_what_the_dockerfile_says",
        image::holds_what_the_dockerfile_says,
    ),
    Suite::shared(
        "slowboot_crash_loops_where_nobody_helps",
        slowboot::crash_loops,
    )
    .anywhere(),
    Suite::shared(
        "slowserver_passes_every_kind_of_probe",
        slowserver::passes_every_kind_of_probe,
    )
    .anywhere(),
    Suite::shared(
        "slowserver_is_restarted_while_it_loads",
        slowserver::is_restarted_while_it_loads,
    )
    .anywhere(),
    Suite::shared("both_helms_install_and_remove", helpers::helm_installs).anywhere(),
    Suite::shared(
        "audit_records_warnings_and_refusals_are_seen",
        helpers::answers_are_seen,
    ),
    Suite::shared(
        "two_clusters_do_not_disturb_each_other",
        two_clusters::do_not_disturb,
    ),
    Suite::machine("teardown_leaves_nothing", teardown::leaves_nothing),
];
