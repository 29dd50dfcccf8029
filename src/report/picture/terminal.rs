//! A picture in a terminal: a character a column.

use anstyle::Style;

use super::columns::{Columns, runs};
use super::lane::{Lane, Probes};
use super::{Picture, Sign, State, axis};
use crate::kubelet::Outcome;
use crate::report::page::Page;
use crate::report::style::{BAD, FAINT, GOOD, ODD, SOON, WARNING, paint};

/// Steps of the page before a row.
const DEPTH: usize = 3;

/// Blanks between a label and its columns.
const GAP: usize = 2;

/// What stands between two meanings of the legend.
const BETWEEN: &str = "   ";

/// The fewest columns, however narrow the terminal.
const FEWEST: usize = 20;

/// Draws a picture in lines of `width` characters, or more where that leaves too few columns.
pub(in crate::report) fn terminal(page: &mut Page, picture: &Picture, width: usize) {
    let labels = label_width(picture);
    let room = width.saturating_sub(2 * DEPTH + labels + GAP);
    let columns = Columns {
        count: room.max(FEWEST),
        end: picture.end,
    };
    if let Some(part) = picture.part {
        page.line(DEPTH - 1, format!("{part} pods"));
    }
    let gap = " ".repeat(GAP);
    let mut drawn = Vec::new();
    for panel in &picture.panels {
        if !panel.heading.is_empty() {
            page.line(DEPTH - 1, panel.heading);
        }
        for lane in &panel.lanes {
            for (label, cells) in rows(lane, columns) {
                let row = format!("{label:<labels$}{gap}{}", painted(&cells));
                page.line(DEPTH, row.trim_end());
                drawn.extend(cells.into_iter().flatten());
            }
        }
    }
    let blank = " ".repeat(labels + GAP);
    page.line(DEPTH, format!("{blank}{}", paint(FAINT, &ruler(columns))));
    for line in legend(&drawn, width.saturating_sub(2 * DEPTH)) {
        page.line(DEPTH, line);
    }
}

/// The rows of a container, each with its label and what each column shows.
fn rows(lane: &Lane, columns: Columns) -> Vec<(String, Vec<Option<Sign>>)> {
    let states = columns.states(&lane.spans).into_iter();
    let mut states: Vec<Option<Sign>> = states.map(|state| state.map(Sign::State)).collect();
    for column in lane.kills.iter().filter_map(|at| columns.of(*at)) {
        states[column] = Some(Sign::Killed);
    }
    let mut rows = vec![(lane.name.clone(), states)];
    for probes in &lane.probes {
        let outcomes = columns.outcomes(&probes.ends).into_iter();
        let outcomes = outcomes.map(|outcome| outcome.map(Sign::Probe));
        rows.push((label(probes), outcomes.collect()));
    }
    rows
}

fn label(probes: &Probes) -> String {
    format!("  {}", probes.role.field())
}

fn label_width(picture: &Picture) -> usize {
    let lanes = picture.panels.iter().flat_map(|panel| &panel.lanes);
    let labels = lanes.flat_map(|lane| {
        let probes = lane.probes.iter().map(label);
        std::iter::once(lane.name.clone()).chain(probes)
    });
    let widths = labels.map(|label| label.chars().count());
    widths.max().unwrap_or(0)
}

/// The columns as text, without blanks behind the last one that shows something.
fn painted(cells: &[Option<Sign>]) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for run in runs(cells) {
        let (character, style) = look(run.what);
        text.push_str(&" ".repeat(run.from - end));
        let same = character.to_string().repeat(run.to - run.from);
        text.push_str(&paint(style, &same));
        end = run.to;
    }
    text
}

/// How a sign looks: the fuller a column, the nearer is the container to serving.
fn look(sign: Sign) -> (char, Style) {
    match sign {
        Sign::State(State::Loads) => ('░', WARNING),
        Sign::State(State::Early) => ('▒', ODD),
        Sign::State(State::Loaded) => ('▓', SOON),
        Sign::State(State::Ready) => ('█', GOOD),
        Sign::State(State::Ends) => ('▂', BAD),
        Sign::State(State::BackOff) => ('┄', FAINT),
        Sign::Killed => ('†', BAD),
        Sign::Probe(Outcome::Success) => ('✓', GOOD),
        Sign::Probe(Outcome::Failure) => ('×', WARNING),
        Sign::Probe(Outcome::Error) => ('?', ODD),
    }
}

/// The marks of the axis, each with its label behind it.
fn ruler(columns: Columns) -> String {
    let mut text = String::new();
    for (at, label) in axis::marks(columns.end) {
        let column = columns.of(at.into()).unwrap_or(columns.count);
        let used = text.chars().count();
        // A label that does not fit behind the one before it, or before the end, is left out with its mark.
        if column >= used && column + label.len() < columns.count {
            text.push_str(&" ".repeat(column - used));
            text.push_str(&format!("╵{label}"));
        }
    }
    text
}

/// What each sign that is drawn means, in lines of at most `width` characters.
fn legend(drawn: &[Sign], width: usize) -> Vec<String> {
    let (mut lines, mut used) = (Vec::<String>::new(), width);
    for sign in Sign::ALL.into_iter().filter(|sign| drawn.contains(sign)) {
        let (character, style) = look(sign);
        let one = format!("{} {}", paint(style, &character.to_string()), sign.word());
        let long = BETWEEN.len() + 2 + sign.word().len();
        match lines.last_mut().filter(|_| used + long <= width) {
            Some(line) => {
                line.push_str(&format!("{BETWEEN}{one}"));
                used += long;
            }
            None => {
                lines.push(one);
                used = long - BETWEEN.len();
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::lane::Span;
    use super::super::{Panel, Picture};
    use super::*;
    use crate::kubelet::Micros;
    use crate::subject::Role;

    /// One container, a second a column.
    fn picture() -> Picture {
        let span = |(from, to, state)| Span {
            from: Micros::secs(from),
            to: Micros::secs(to),
            state,
        };
        let ends = [
            (3, Outcome::Failure),
            (4, Outcome::Failure),
            (14, Outcome::Success),
            (16, Outcome::Error),
        ];
        let lane = Lane {
            name: "engine".to_owned(),
            spans: [
                (0, 5, State::Loads),
                (5, 7, State::Ends),
                (7, 12, State::BackOff),
                (12, 15, State::Loads),
                (15, 16, State::Early),
                (16, 40, State::Ready),
            ]
            .map(span)
            .to_vec(),
            kills: vec![Micros::secs(5)],
            probes: vec![Probes {
                role: Role::Liveness,
                ends: ends.map(|(at, of)| (Micros::secs(at), of)).to_vec(),
            }],
        };
        Picture {
            title: "Pod a".to_owned(),
            part: Some("leader"),
            phases: String::new(),
            assumed: Vec::new(),
            panels: vec![Panel {
                heading: "after the fix",
                outlooks: Vec::new(),
                lanes: vec![lane],
            }],
            end: Micros::secs(20),
        }
    }

    fn drawn(width: usize) -> String {
        let mut page = Page::default();
        terminal(&mut page, &picture(), width);
        page.0
    }

    #[test]
    fn a_character_shows_a_column() {
        let wanted = "    leader pods
    after the fix
      engine           ░░░░░†▂┄┄┄┄┄░░░▒████
        livenessProbe     ××         ✓ ?
                       ╵0   ╵5s  ╵10s ╵15s
      ░ loads
      ▒ counts as ready, not loaded
      █ ready   ▂ ends   ┄ CrashLoopBackOff
      † killed   ✓ probe passes
      × probe fails   ? probe errs
";
        let text = anstream::adapter::strip_str(&drawn(6 + 15 + 2 + 20)).to_string();
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_picture_is_as_wide_as_is_wanted() {
        for width in [60, 100, 160] {
            let text = anstream::adapter::strip_str(&drawn(width)).to_string();
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert_eq!(widest, Some(width), "{text}");
        }
    }

    #[test]
    fn what_ends_badly_is_red() {
        let text = drawn(80);
        let killed = paint(BAD, "†");
        assert!(text.contains(&killed), "{text}");
        assert!(text.contains(&paint(GOOD, "✓")), "{text}");
    }
}
