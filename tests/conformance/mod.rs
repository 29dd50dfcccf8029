//! The simulator held against a real kubelet: pods with servers of which everything is known, what a kubelet did with them,
//! and how closely the simulator says the same. Nothing in here needs a cluster; who has one observes, everybody compares.

pub(crate) mod broken;

mod case;
mod compare;
mod draw;
mod guard;
mod judge;
mod klog;
mod observed;
mod page;
mod prediction;
mod random;
mod recorded;
mod seen;
mod server;
mod summary;
mod telling;

pub(crate) use broken::{BROKEN, REAL, Simulator};
pub(crate) use case::{Case, Removal};
pub(crate) use compare::{TOLERANCE, compare};
pub(crate) use draw::{Class, draw};
pub(crate) use judge::{Judgement, judge};
pub(crate) use klog::{Line, days_since_epoch};
pub(crate) use observed::{Life, Observed};
pub(crate) use page::{page, unexplained};
pub(crate) use prediction::Outcome;
pub(crate) use random::Random;
pub(crate) use recorded::Recorded;
pub(crate) use seen::{Seen, Sight, telling};
pub(crate) use server::{Loading, OnTerm, Server};
pub(crate) use summary::{Collection, Deviation, Race, Share, Summary, read_summaries};
pub(crate) use telling::{BY_CHANCE, SHORT_BACK_OFF, Telling, read_runs, telling_runs};
