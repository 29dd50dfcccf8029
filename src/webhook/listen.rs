//! Ports: bound, accepted from, and left.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use super::drain::Drain;
use super::{DrainTimes, Error, Listen};

/// Connections that the kernel holds for us: a scale-out of hundreds of pods makes the API server dial hundreds at once.
const BACKLOG: u32 = 4096;

/// How long accepting rests when the system has no file descriptor left.
const REST: Duration = Duration::from_millis(100);

/// How long connections have to finish what they are at once the time is over.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Binds a port, and says where.
pub(super) fn bind(listen: Listen) -> Result<(TcpListener, SocketAddr), Error> {
    let port = listen.port;
    let listener = match listen.address {
        Some(address) => bind_first(&[SocketAddr::new(address, port)]),
        None => bind_first(&[
            SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port),
            SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port),
        ]),
    }?;
    let address = listener.local_addr().map_err(|source| Error::Bind {
        address: SocketAddr::from(([0, 0, 0, 0], port)),
        source,
    })?;
    Ok((listener, address))
}

/// Binds the first of the addresses that can be bound.
fn bind_first(addresses: &[SocketAddr]) -> Result<TcpListener, Error> {
    let mut failure = None;
    for address in addresses {
        match bind_one(*address) {
            Ok(listener) => return Ok(listener),
            Err(source) => {
                failure.get_or_insert(Error::Bind {
                    address: *address,
                    source,
                });
            }
        }
    }
    Err(failure.expect("there is an address to bind"))
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// How many connections a port has at a time, and what becomes of one more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// It waits until another one ends: who asks for a review may have one under way on each of its connections.
    Wait(usize),
    /// The oldest one ends for it: an answer takes no time here, so what is old is held by somebody who wants no answer.
    Evict(usize),
}

impl Room {
    /// Whether one more connection is taken beside those that are open.
    fn takes(self, open: usize) -> bool {
        match self {
            Self::Wait(most) => open < most,
            Self::Evict(_) => true,
        }
    }
}

/// The connections that may have to end for others, the oldest first.
#[derive(Default)]
struct Ages(VecDeque<AbortHandle>);

impl Ages {
    /// Notes a new connection, and ends the oldest ones where that makes more than there is room for.
    fn note(&mut self, connection: AbortHandle, room: Room) {
        let Room::Evict(most) = room else { return };
        self.0.retain(|connection| !connection.is_finished());
        while self.0.len() >= most
            && let Some(oldest) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back(connection);
    }
}

/// Serves what connects and has room, until nobody is left and the server has been leaving for long enough.
pub(super) async fn accept<F, C>(
    listener: TcpListener,
    room: Room,
    drain: Drain,
    times: DrainTimes,
    serve: F,
) where
    F: Fn(TcpStream) -> C,
    C: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut ages = Ages::default();
    let mut may_leave = pin!(drain.lasted(times.lame_duck));
    let mut must_leave = pin!(drain.lasted(times.limit));
    loop {
        tokio::select! {
            biased;
            accepted = listener.accept(), if room.takes(connections.len()) => match accepted {
                Ok((stream, _)) => {
                    // An answer is one write; waiting to join it with the next only delays it.
                    let _ = stream.set_nodelay(true);
                    ages.note(connections.spawn(serve(stream)), room);
                }
                Err(error) => rest(&error).await,
            },
            _ = connections.join_next(), if !connections.is_empty() => {}
            () = &mut may_leave, if connections.is_empty() => return,
            () = &mut must_leave => break,
        }
        while connections.try_join_next().is_some() {}
    }
    // The connections have heard the call as well and finish the request they are at.
    let finished = async { while connections.join_next().await.is_some() {} };
    drop(tokio::time::timeout(LAST_CALL, finished).await);
}

/// A caller that is gone again costs nothing; anything else is a shortage, and trying again at once would only burn time.
async fn rest(error: &io::Error) {
    if !matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    ) {
        tracing::warn!(%error, "cannot accept connections");
        sleep(REST).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_next_address_is_taken_where_the_first_cannot_be() {
        // 192.0.2.1 is for documentation (RFC 5737): no machine has it.
        let addresses = ["192.0.2.1:0", "127.0.0.1:0"].map(|text| text.parse().unwrap());
        let listener = bind_first(&addresses).unwrap();
        assert_eq!(listener.local_addr().unwrap().ip(), Ipv4Addr::LOCALHOST);
        assert!(matches!(
            bind_first(&addresses[..1]),
            Err(Error::Bind { .. })
        ));
    }
}
