//! What must hold on a real Kubernetes. A suite is a function; this list is all there is to registering one.

mod applies;
mod batch;
mod certificates;
mod chart;
mod conditions;
mod creations;
mod definitions;
mod engine;
mod facts;
mod helpers;
mod image;
mod judgement;
mod kinds;
mod kubelet;
mod leader_worker_set;
mod lease;
mod lifecycle;
mod manifest;
mod mesh;
mod modes;
mod outage;
mod owned;
mod owners_word;
mod patches;
mod reader;
mod readme;
mod registered;
mod renewal;
mod restart;
mod rollouts;
mod said;
mod slowboot;
mod slowserver;
mod stored;
mod teardown;
mod trust;
mod two_clusters;
mod undo;
mod writes;

use crate::suite::Suite;

/// Every suite, in the order in which they start.
pub(crate) const ALL: &[Suite] = &[
    Suite::bare(
        "image_holds_what_the_dockerfile_says",
        image::holds_what_the_dockerfile_says,
    ),
    Suite::bare(
        "image_is_whole_while_it_is_written",
        image::is_whole_while_it_is_written,
    ),
    // These take longest.
    Suite::machine(
        "certificates_of_others_are_served",
        certificates::of_others_are_served,
    ),
    Suite::machine("lifecycle_leaves_nothing", lifecycle::leaves_nothing),
    Suite::tools(
        "patches_are_what_an_api_server_takes",
        patches::are_what_an_api_server_takes,
    ),
    Suite::tools(
        "chart_is_the_same_every_time",
        chart::is_the_same_every_time,
    ),
    Suite::tools(
        "chart_grants_are_those_that_are_listed",
        chart::grants::are_those_that_are_listed,
    ),
    Suite::tools(
        "chart_grants_are_the_controllers_alone",
        chart::grants::are_the_controllers_alone,
    ),
    Suite::tools(
        "chart_refusals_name_unknown_values",
        chart::refusals::name_unknown_values,
    ),
    Suite::tools(
        "chart_refusals_name_what_would_hurt",
        chart::refusals::name_what_would_hurt,
    ),
    Suite::tools("chart_pods_are_restricted", chart::pods::are_restricted),
    Suite::tools(
        "chart_pods_are_started_as_the_program_expects",
        chart::pods::are_started_as_the_program_expects,
    ),
    Suite::tools(
        "chart_pods_leave_one_after_the_other",
        chart::pods::leave_one_after_the_other,
    ),
    Suite::tools(
        "chart_pods_need_a_certificate_and_nobody",
        chart::pods::need_a_certificate_and_nobody,
    ),
    Suite::tools(
        "chart_pods_spread_as_they_are_told",
        chart::pods::spread_as_they_are_told,
    ),
    Suite::tools(
        "chart_entries_keep_their_names",
        chart::entries::keep_their_names,
    ),
    Suite::tools(
        "chart_entries_are_complete_and_fail_open",
        chart::entries::are_complete_and_fail_open,
    ),
    Suite::tools(
        "chart_entries_match_the_modes",
        chart::entries::match_the_modes,
    ),
    Suite::tools(
        "chart_entries_follow_the_values",
        chart::entries::follow_the_values,
    ),
    Suite::tools(
        "chart_values_reach_the_judgement",
        chart::values::reach_the_judgement,
    ),
    Suite::tools(
        "chart_knowledge_reaches_the_judgement",
        chart::knowledge::reaches_the_judgement,
    ),
    Suite::tools(
        "chart_knowledge_agrees_with_the_conditions",
        chart::knowledge::agrees_with_the_conditions,
    ),
    Suite::tools(
        "chart_knowledge_takes_the_form_of_the_files",
        chart::knowledge::takes_the_form_of_the_files,
    ),
    Suite::tools(
        "chart_values_restart_the_webhook_where_they_must",
        chart::values::restart_the_webhook_where_they_must,
    ),
    Suite::tools(
        "chart_values_choose_who_makes_the_certificate",
        chart::values::choose_who_makes_the_certificate,
    ),
    Suite::tools(
        "chart_values_tell_prometheus_where_to_scrape",
        chart::values::tell_prometheus_where_to_scrape,
    ),
    Suite::machine(
        "kubelet_point_03_long_lives_never_wait",
        kubelet::restarts::long_lives_never_wait,
    )
    .when_asked(),
    Suite::shared(
        "slowboot_crash_loops_where_nobody_helps",
        slowboot::crash_loops,
    )
    .anywhere(),
    Suite::shared("slowboot_is_mended", slowboot::is_mended)
        .installed()
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
    Suite::shared(
        "kubelet_point_01_runs_survive_a_crash",
        kubelet::counting::runs_survive_a_crash,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_02_last_container_ignores_the_probes_grace",
        kubelet::termination::of_the_last_container,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_04_stalled_body_never_counts",
        kubelet::counting::stalled_body_never_counts,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_05_missing_things_never_kill",
        kubelet::counting::missing_things_never_kill,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_06_refused_grpc_takes_its_timeout",
        kubelet::cadence::refused_grpc_takes_its_timeout,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_07_slow_probes_keep_the_grid",
        kubelet::cadence::slow_probes_keep_the_grid,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_08_delay_counts_from_the_whole_second",
        kubelet::cadence::delay_counts_from_the_whole_second,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_09_first_probe_waits_for_others",
        kubelet::cadence::first_probe_waits_for_others,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_10_clean_end_in_back_off_is_the_last",
        kubelet::restarts::clean_end_in_back_off_is_the_last,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_point_11_patch_that_does_not_apply_is_not_ignored",
        kubelet::patch::that_does_not_apply_is_not_ignored,
    ),
    Suite::shared(
        "kubelet_termination_of_deleted_pods",
        kubelet::termination::of_deleted_pods,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_termination_endpoints_go_before_a_hook_is_over",
        kubelet::endpoints::go_before_a_hook_is_over,
    ),
    Suite::shared(
        "kubelet_termination_of_killed_containers",
        kubelet::termination::of_killed_containers,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_termination_of_sidecars",
        kubelet::termination::of_sidecars,
    )
    .when_asked(),
    Suite::shared(
        "kubelet_termination_while_a_probe_kills",
        kubelet::termination::of_a_pod_while_a_probe_kills,
    )
    .when_asked(),
    Suite::shared(
        "conditions_hide_nothing_that_concerns_us",
        conditions::hide_nothing_that_concerns_us,
    )
    .installed(),
    Suite::shared("rollouts_mend_once", rollouts::mend_once).installed(),
    Suite::shared("rollouts_undo_works_in_enforce", rollouts::undo_works).installed(),
    Suite::shared(
        "rollouts_undo_of_others_works_in_enforce",
        rollouts::undo_of_others_works,
    )
    .installed(),
    Suite::shared(
        "undo_takes_back_what_was_written",
        undo::takes_back_what_was_written,
    )
    .installed()
    .anywhere(),
    Suite::shared("undo_takes_back_a_pod", undo::takes_back_a_pod)
        .installed()
        .anywhere(),
    Suite::shared(
        "undo_leaves_what_is_the_owners",
        undo::leaves_what_is_the_owners,
    )
    .installed()
    .anywhere(),
    Suite::shared("owners_word_moves_the_port", owners_word::moves_the_port).installed(),
    Suite::shared("owners_word_stands_alone", owners_word::stands_alone).installed(),
    Suite::shared(
        "owners_word_changes_the_time",
        owners_word::changes_the_time,
    )
    .installed(),
    Suite::shared("modes_enforce_refuses", modes::enforce_refuses).installed(),
    Suite::shared("modes_warn_only_warns", modes::warn_only_warns).installed(),
    Suite::shared("modes_fix_mends", modes::fix_mends).installed(),
    Suite::shared("modes_audit_is_silent", modes::audit_is_silent).installed(),
    Suite::shared("modes_unknown_label_is_told", modes::unknown_label_is_told).installed(),
    Suite::shared("modes_step_down_only", modes::step_down_only).installed(),
    Suite::shared("readme_shows_what_happens", readme::shows_what_happens).installed(),
    Suite::shared("writes_create_and_replace", writes::creates_and_replaces)
        .installed()
        .anywhere(),
    Suite::shared("writes_patch", writes::patches)
        .installed()
        .anywhere(),
    Suite::shared("writes_dry_run", writes::dry_runs).installed(),
    Suite::shared("writes_generate_names", writes::generate_names)
        .installed()
        .anywhere(),
    Suite::shared("applies_do_not_drift", applies::do_not_drift)
        .installed()
        .anywhere(),
    Suite::shared("applies_keep_what_they_name", applies::keep_what_they_name)
        .installed()
        .anywhere(),
    Suite::shared("batch_leaves_jobs_alone", batch::leaves_jobs_alone).installed(),
    Suite::shared("batch_mends_jobs_that_ask", batch::mends_jobs_that_ask)
        .installed()
        .anywhere(),
    Suite::shared(
        "batch_leaves_cron_jobs_alone",
        batch::leaves_cron_jobs_alone,
    )
    .installed()
    .anywhere(),
    Suite::shared("kinds_stateful_set", kinds::stateful_set).installed(),
    Suite::shared("kinds_daemon_set", kinds::daemon_set).installed(),
    Suite::shared("kinds_native_sidecar", kinds::native_sidecar).installed(),
    Suite::shared(
        "leader_worker_set_is_mended",
        leader_worker_set::leader_is_mended,
    )
    .installed(),
    Suite::shared(
        "leader_worker_set_leader_ready",
        leader_worker_set::leader_ready,
    )
    .installed(),
    Suite::shared(
        "leader_worker_set_of_one_template",
        leader_worker_set::one_template,
    )
    .installed(),
    Suite::shared("facts_reach_the_webhook", facts::reach_the_webhook).installed(),
    Suite::shared("mesh_comes_before_or_after", mesh::comes_before_or_after).installed(),
    Suite::shared("owned_deployment", owned::deployment)
        .installed()
        .anywhere(),
    Suite::shared("owned_pod_is_never_refused", owned::never_refused)
        .installed()
        .anywhere(),
    Suite::shared("owned_mirror_pod", owned::mirror_pod).installed(),
    Suite::exclusive(
        "conditions_keep_other_pods_away",
        conditions::keep_other_pods_away,
    )
    .installed(),
    Suite::exclusive(
        "modes_enforce_without_mutating_refuses_nothing_curable",
        modes::enforce_without_mutating,
    )
    .installed(),
    Suite::exclusive(
        "outage_lets_pods_through_unmended",
        outage::lets_pods_through,
    )
    .installed(),
    Suite::exclusive(
        "outage_of_webhooks_that_hang_ends_in_time",
        outage::of_webhooks_that_hang,
    )
    .installed(),
    Suite::exclusive(
        "outage_where_the_policy_is_to_fail",
        outage::where_the_policy_is_to_fail,
    )
    .installed(),
    Suite::exclusive("renewal_loses_nothing", renewal::loses_nothing).installed(),
    Suite::exclusive("restart_loses_nothing", restart::loses_nothing).installed(),
    Suite::exclusive("trust_comes_back", trust::comes_back).installed(),
    Suite::exclusive("lease_outlives_its_leader", lease::outlives_its_leader).installed(),
    // These go by the clock.
    Suite::exclusive("kubelet_agrees_with_the_simulator", kubelet::sample::agrees),
    Suite::exclusive("reader_is_told_what_happens", reader::is_told_what_happens),
    Suite::machine("teardown_leaves_nothing", teardown::leaves_nothing),
];
