//! What a suite is: a function, and what it needs.

use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;

/// One suite.
pub(crate) struct Suite {
    /// Its name; a part of it on the command line chooses it.
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    anywhere: bool,
    installed: bool,
    when_asked: bool,
}

/// What a suite runs with.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Nothing but what cargo has.
    Bare(fn()),
    /// Programs that are built from Go modules.
    Tools(fn()),
    /// Clusters of its own.
    Machine(fn()),
    /// The shared cluster, beside other suites, in an unlabelled namespace of its own.
    Shared(fn(&Cluster, &Namespace<'_>)),
    /// The shared cluster for itself, once the others are done.
    Exclusive(fn(&Cluster, &Namespace<'_>)),
}

/// What must be here for a suite, each with what stands before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Need {
    /// What cargo needs.
    Cargo,
    /// What builds programs from Go modules.
    Tools,
    /// What a cluster of our own runs on.
    Machine,
}

impl Suite {
    /// A suite that needs no more than cargo.
    pub(crate) const fn bare(name: &'static str, run: fn()) -> Self {
        Self::new(name, Run::Bare(run))
    }

    /// A suite that needs built programs, such as Helm, and no cluster.
    pub(crate) const fn tools(name: &'static str, run: fn()) -> Self {
        Self::new(name, Run::Tools(run))
    }

    /// A suite that starts clusters of its own.
    pub(crate) const fn machine(name: &'static str, run: fn()) -> Self {
        Self::new(name, Run::Machine(run))
    }

    /// A suite that minds its own namespace.
    pub(crate) const fn shared(name: &'static str, run: fn(&Cluster, &Namespace<'_>)) -> Self {
        Self::new(name, Run::Shared(run))
    }

    /// A suite that changes what others would notice.
    pub(crate) const fn exclusive(name: &'static str, run: fn(&Cluster, &Namespace<'_>)) -> Self {
        Self::new(name, Run::Exclusive(run))
    }

    /// The same, also for a cluster that is not ours.
    pub(crate) const fn anywhere(mut self) -> Self {
        self.anywhere = true;
        self
    }

    /// The same, only when it is asked for by name: it goes by the clock, so it needs a machine that does nothing else.
    pub(crate) const fn when_asked(mut self) -> Self {
        self.when_asked = true;
        self
    }

    /// The same, with warmgate installed.
    pub(crate) const fn installed(mut self) -> Self {
        self.installed = true;
        self
    }

    const fn new(name: &'static str, run: Run) -> Self {
        Self {
            name,
            run,
            anywhere: false,
            installed: false,
            when_asked: false,
        }
    }

    /// Whether it runs only when it is asked for by name.
    pub(crate) fn runs_when_asked(&self) -> bool {
        self.when_asked
    }

    /// Whether it runs on the shared cluster.
    pub(crate) fn on_shared(&self) -> bool {
        matches!(self.run, Run::Shared(_) | Run::Exclusive(_))
    }

    /// What it needs; nothing meets it where the shared cluster is a `foreign` one and it needs one of ours.
    pub(crate) fn need(&self, foreign: bool) -> Option<Need> {
        match self.run {
            Run::Bare(_) => Some(Need::Cargo),
            Run::Tools(_) => Some(Need::Tools),
            Run::Shared(_) | Run::Exclusive(_) if foreign => self.anywhere.then_some(Need::Tools),
            Run::Machine(_) if foreign => None,
            Run::Machine(_) | Run::Shared(_) | Run::Exclusive(_) => Some(Need::Machine),
        }
    }

    /// Whether warmgate must be installed.
    pub(crate) fn needs_warmgate(&self) -> bool {
        self.installed
    }
}
