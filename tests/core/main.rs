//! Tests of the core: no server, no cluster.
