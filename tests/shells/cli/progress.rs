//! What a long run shows on a terminal.

use std::fs::File;
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

use super::{CONFIG_MAP, Folder, denied, warmgate};

/// How long nothing may come from a terminal.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal: its own end, and what programs write to it.
fn terminal() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let screen = openpt(flags).expect("a terminal can be had");
    unlockpt(&screen).expect("it can be used");
    let inside = ioctl_tiocgptpeer(&screen, flags).expect("its other end can be opened");
    (File::from(screen), File::from(inside))
}

/// What is written to a terminal, piece by piece, until nobody has it open any more.
fn written(mut screen: File) -> Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = [0; 4096];
        // Linux answers with an error once the last program has closed its end.
        while let Ok(length @ 1..) = screen.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}

/// A run that lasts until its standard input ends.
fn begun(args: &[&str], stderr: impl Into<Stdio>) -> Child {
    let mut command: Command = warmgate(args);
    command.env("TERM", "xterm").stdin(Stdio::piped());
    command.stderr(stderr).spawn().expect("the binary runs")
}

#[test]
fn a_long_run_is_shown_on_a_terminal_alone_and_leaves_nothing_there() {
    let folder = Folder::with(&[("a.yaml", &denied("a")), ("b.yaml", CONFIG_MAP)]);
    let args = ["check", &folder.text(""), "-"];
    let (screen, inside) = terminal();
    // Both wait for their input; the one without a terminal has been at it for longer once the other shows something.
    let silent = begun(&args, Stdio::piped());
    let mut shown = begun(&args, inside);
    let pieces = written(screen);
    let mut text = String::new();
    let more = || {
        let piece = pieces.recv_timeout(PATIENCE);
        piece.map(|piece| String::from_utf8_lossy(&piece).into_owned())
    };
    while !text.contains("reading [################--------] 2 of 3 files") {
        text.push_str(&more().expect("a terminal shows how far a run is"));
    }
    let mut input = shown.stdin.take().expect("its input is a pipe");
    input.write_all(CONFIG_MAP.as_bytes()).expect("it reads");
    drop(input);
    let shown = shown.wait_with_output().expect("the binary ends");
    while let Ok(piece) = more() {
        text.push_str(&piece);
    }
    let silent = silent.wait_with_output().expect("the binary ends");

    assert!(text.ends_with("\r\x1b[K"), "{text:?}");
    assert_eq!(
        (shown.status.code(), silent.status.code()),
        (Some(1), Some(1))
    );
    let out = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(out.contains("1 object judged; 1 denied"), "{out}");
    assert!(!out.contains('\r') && !out.contains('\x1b'), "{out}");
    assert_eq!(String::from_utf8_lossy(&silent.stderr), "");
}
