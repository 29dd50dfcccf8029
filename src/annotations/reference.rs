//! The reference of the annotations, made from the table.

use std::fmt::Write as _;

use super::table::TABLE;

/// What stands before the table.
const HEAD: &str = "\
<!-- Made from the table in src/annotations/table.rs; `WARMGATE_BLESS=1 cargo test --test core annotations` writes it anew. -->

# Annotations

An owner says with annotations what a manifest cannot: how long the model takes to load, what to ask, how long requests last.
An annotation fills what is absent and never overrides a value that is written in the spec (`probe-timeout` is a floor, and so
is `max-startup-time` in a pod that a controller owns).

| key | value | meaning |
| --- | --- | --- |
";

/// What stands behind the table.
const TAIL: &str = "
## Where they are read

On the pod template, because a pod sees nothing else. On the metadata of a workload they count too, and are written into its
template together with the other edits; `rollout` is read on the metadata and stays there. What is said nowhere on the object is
taken from the same annotations of its namespace, else from the built-in defaults. On labels they do nothing.

`max-startup-time`, `startup-probe` and `accelerator: \"true\"` opt an object in that asks for no accelerator; no other key does,
and none does on a namespace.

## Durations

Whole seconds (`900`), or hours, minutes and seconds in that order: `h`, `m` or `min`, `s` or `sec`, blanks allowed (`1h30m`,
`15 min`). From 1 s to 24 h.

## One container

`NAME=` before a value addresses one container. A value without it holds for every serving container that has none of its own:
`15m,proxy=20s` gives `proxy` 20 s and the others 15 m. At most one value stands without a name, and no name stands twice. A
container that is named serves.

Handlers of `startup-probe` stand one a line:

```yaml
metadata:
  annotations:
    warmgate.io/startup-probe: |
      engine=http://:8000/health
      router=exec:cat /tmp/ready
```

`exec:` is split into words like a line of a shell, but no shell runs it; write `exec:sh -c '...'` where one is needed. A JSON
array (`exec:[\"cat\", \"/tmp/ready\"]`) is taken as it is.

## Reasons

A reason is read by people. Empty ones and `true`, `false`, `yes`, `no`, `on`, `off`, `0`, `1` are malformed.

## What cannot be read

A malformed value is a finding of severity deny (`malformed-annotation`). In files and in mode `enforce` the object is then left
alone; in mode `fix`, and on pods that a controller owns, that one value counts as absent and the rest is done. A key or a rule that
does not exist, and a key that stands as a label, is a warning with the nearest real one (`unknown-annotation`).
";

/// The page `docs/annotations.md`.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for row in TABLE {
        let mut meaning = row.meaning.to_owned();
        if !row.example.is_empty() {
            write!(meaning, " Example: `{}`", row.example).expect("a String takes every write");
        }
        writeln!(page, "| `{}` | {} | {meaning} |", row.key, row.value)
            .expect("a String takes every write");
    }
    page.push_str(TAIL);
    page
}
