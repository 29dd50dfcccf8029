//! Answers over gRPC.

use hyper::Request;
use hyper::body::Bytes;

use super::connect;

/// The status of the service `engine`, with the trailer that says whether the call itself went well.
async fn health(flags: &str) -> (u8, String) {
    let (stream, seen, served) = connect(flags).await;
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post("http://x/grpc.health.v1.Health/Check")
        .body(())
        .unwrap();
    let (answer, mut stream) = client.send_request(request, false).unwrap();
    let question = [&[0, 0, 0, 0, 8, 0x0a, 6][..], b"engine"].concat();
    stream.send_data(Bytes::from(question), true).unwrap();
    let answer = answer.await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/grpc");
    let mut body = answer.into_body();
    let data = body.data().await.unwrap().unwrap();
    let trailers = body.trailers().await.unwrap().unwrap();
    assert_eq!(&data[..6], &[0, 0, 0, 0, 2, 8]);
    assert_eq!(seen.event("request")["service"], "engine");
    drop((client, body, stream));
    connection.await.unwrap().unwrap();
    served.await.unwrap();
    (
        data[6],
        trailers["grpc-status"].to_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn grpc_health_serves_or_not() {
    for (flags, status) in [
        ("", 1),
        ("--ready-after 3600", 2),
        ("--ready-after 3600 --while-loading 200", 1),
        ("--ready-after 0.2 --while-loading hang", 1),
        ("--ready-after 0.2 --while-loading stall", 1),
        ("--ready-after 3600 --answers-in 0.2", 2),
        ("--stall 0=0.2", 1),
    ] {
        let answer = health(&format!("--grpc 1 {flags}")).await;
        assert_eq!(answer, (status, "0".to_owned()), "{flags}");
    }
}

#[tokio::test]
async fn a_call_that_waits_ends_with_its_client() {
    for flags in [
        "--ready-after 3600 --while-loading hang",
        "--ready-after 3600 --while-loading stall",
        "--stall 0=3600",
    ] {
        let (stream, seen, served) = connect(&format!("--grpc 1 {flags}")).await;
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let request = Request::post("http://x/").body(()).unwrap();
        let (answer, stream) = client.send_request(request, true).unwrap();
        seen.wait_for("request").await;
        drop((answer, stream, client));
        connection.await.unwrap().unwrap();
        served.await.unwrap();
        seen.wait_for("abandoned").await;
        assert_eq!(seen.find("answer"), None);
    }
}
