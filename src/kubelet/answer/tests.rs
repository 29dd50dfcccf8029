//! What a probe finds, case by case.

use super::*;
use crate::kubelet::{Kubelet, Stall};
use crate::subject::Port;

const SECOND: i64 = 1_000_000;

fn endpoint(listens: i64, ready: i64, while_loading: Loading) -> Endpoint {
    Endpoint {
        listens_at: Micros::secs(listens),
        ready_at: Micros::secs(ready),
        while_loading,
        ..Endpoint::AT_ONCE
    }
}

fn in_seconds(answer: Answer) -> (Outcome, i64) {
    (answer.outcome, answer.took.0 / SECOND)
}

#[test]
fn grpc_dials_again_until_the_timeout() {
    let timeout = Micros::secs(6);
    let ask = |listens| {
        let endpoint = endpoint(listens, listens, Loading::Hang);
        grpc::<Kubelet>(&endpoint, Micros::ZERO, timeout)
    };
    // It dials at 0, 1, 2.6 and 5.16.
    assert_eq!(in_seconds(ask(1)), (Outcome::Success, 1));
    assert_eq!(ask(2).took, Micros::millis(2600));
    assert_eq!(in_seconds(ask(5)), (Outcome::Success, 5));
    assert_eq!(in_seconds(ask(6)), (Outcome::Failure, 6));
    assert_eq!(in_seconds(ask(100)), (Outcome::Failure, 6));
}

#[test]
fn a_body_is_tried_three_times() {
    let timeout = Micros::secs(4);
    let ask = |ready| {
        let endpoint = endpoint(0, ready, Loading::HeadersThenStall);
        in_seconds(http(&endpoint, Micros::ZERO, timeout))
    };
    assert_eq!(ask(3), (Outcome::Success, 3));
    assert_eq!(ask(11), (Outcome::Success, 11));
    assert_eq!(ask(13), (Outcome::Error, 12));
}

#[test]
fn a_command_takes_as_long_as_the_answer_it_gets() {
    let timeout = Micros::secs(10);
    let ask = |while_loading, at| {
        let mut endpoint = endpoint(2, 8, while_loading);
        endpoint.answers_in = Micros::secs(3);
        in_seconds(exec(&endpoint, Micros::secs(at), timeout))
    };
    let (passes, fails) = (Outcome::Success, Outcome::Failure);
    assert_eq!(ask(Loading::Refused, 7), (fails, 0));
    assert_eq!(ask(Loading::Refused, 8), (passes, 3));
    assert_eq!(ask(Loading::Hang, 1), (fails, 0));
    assert_eq!(ask(Loading::Hang, 2), (passes, 9));
    assert_eq!(ask(Loading::HeadersThenStall, 5), (passes, 6));
    assert_eq!(ask(Loading::Status503, 5), (fails, 3));
    assert_eq!(ask(Loading::Status200, 5), (passes, 3));
}

#[test]
fn a_stall_delays_what_falls_into_it() {
    let mut endpoint = endpoint(0, 0, Loading::Refused);
    endpoint.answers_in = Micros::secs(2);
    endpoint.stalls.push(Stall {
        from: Micros::secs(10),
        to: Micros::secs(15),
    });
    let done = |from| worked(&endpoint, Micros::secs(from)).whole_seconds();
    assert_eq!(
        [done(8), done(9), done(10), done(14), done(15)],
        [10, 16, 17, 17, 17]
    );
}

#[test]
fn the_end_of_the_process_ends_the_probe() {
    let life = Life::loading(Micros::NEVER, Loading::Hang);
    let probe = Probe {
        handler: Handler::Grpc {
            port: 9000,
            service: String::new(),
        },
        initial_delay: 0,
        period: 10,
        timeout: 8,
        failure_threshold: 3,
        success_threshold: 1,
        termination_grace: None,
    };
    let target = Target {
        life: &life,
        started: Micros::ZERO,
        ends: Micros::secs(23),
    };
    let answer = ask::<Kubelet>(
        &probe,
        Role::Liveness,
        Some(target),
        &Latency::NONE,
        Micros::secs(20),
    );
    assert_eq!(in_seconds(answer), (Outcome::Failure, 3));
    let answer = ask::<Kubelet>(
        &probe,
        Role::Liveness,
        None,
        &Latency::NONE,
        Micros::secs(30),
    );
    assert_eq!(in_seconds(answer), (Outcome::Failure, 8));
}

#[test]
fn a_body_that_breaks_off_is_asked_for_again() {
    let life = Life::loading(Micros::NEVER, Loading::HeadersThenStall);
    let probe = Probe {
        handler: Handler::Http {
            host: None,
            path: "/health".to_owned(),
            port: Port::Number(8000),
            https: false,
            headers: Vec::new(),
        },
        initial_delay: 0,
        period: 10,
        timeout: 4,
        failure_threshold: 3,
        success_threshold: 1,
        termination_grace: None,
    };
    let ask = |ends: i64| {
        let target = Target {
            life: &life,
            started: Micros::ZERO,
            ends: Micros::secs(ends),
        };
        let now = Micros::secs(20);
        in_seconds(ask::<Kubelet>(
            &probe,
            Role::Startup,
            Some(target),
            &Latency::NONE,
            now,
        ))
    };
    // The first, the second and the last try.
    assert_eq!(ask(23), (Outcome::Failure, 3));
    assert_eq!(ask(27), (Outcome::Failure, 7));
    assert_eq!(ask(29), (Outcome::Error, 9));
}
