//! Pictures as one SVG: no script, no font and nothing else from elsewhere, light or dark as its reader likes it.

use super::columns::{Columns, Run, apart, runs};
use super::lane::{Lane, Probes};
use super::sheet::{Sheet, width};
use super::{Panel, Picture, Sign, State, axis};
use crate::kubelet::{Micros, Outcome};
use crate::words::clip;

/// Where the time axis begins and how long it is.
const LEFT: i64 = 168;
const PLOT: i64 = 768;

/// The distance from everything to the edges, and between pictures.
const MARGIN: i64 = 24;

/// The height of the bar of a container, that of a row of probes, and the distance to the next.
const BAR: i64 = 20;
const ROW: i64 = 12;
const GAP: i64 = 8;

/// The shortest distance from one tick to the next, and from one cross to the next.
const TICK: i64 = 3;
const CROSS: i64 = 10;

/// The height of a line of small text.
const LINE: i64 = 16;

/// The longest name before a sentence, in characters: the sentence must stay on the sheet.
const NAME: usize = 40;

/// One SVG with all pictures, one under the other, each on a time scale of its own.
pub fn svg(pictures: &[Picture]) -> String {
    let mut sheet = Sheet::new(LEFT + PLOT + MARGIN, MARGIN);
    for picture in pictures {
        of_picture(&mut sheet, picture);
    }
    legend(&mut sheet);
    let titles: Vec<String> = pictures.iter().map(Picture::full_title).collect();
    let title = format!("What the kubelet does to {}", titles.join(", "));
    sheet.finish(&title, &description(pictures))
}

/// What holds of every container, in words.
fn description(pictures: &[Picture]) -> String {
    let mut sentences = Vec::new();
    for picture in pictures {
        for panel in &picture.panels {
            let of = format!("{} {}", picture.full_title(), panel.heading);
            for outlook in &panel.outlooks {
                let parts = outlook.parts().join("; ");
                sentences.push(format!("{}: {}: {parts}.", of.trim_end(), outlook.name()));
            }
        }
    }
    sentences.join(" ")
}

fn of_picture(sheet: &mut Sheet, picture: &Picture) {
    sheet.line("title", &picture.full_title(), 20);
    let note = format!(
        "The kubelet, simulated {}. Taken for granted:",
        picture.phases
    );
    sheet.skip(2);
    sheet.line("faint", &note, LINE);
    for assumed in &picture.assumed {
        let parts: Vec<&str> = assumed.split(", ").collect();
        sheet.paragraph("faint", &parts, ", ", LINE);
    }
    for panel in &picture.panels {
        of_panel(sheet, panel, picture.end);
    }
    sheet.skip(MARGIN);
}

fn of_panel(sheet: &mut Sheet, panel: &Panel, end: Micros) {
    sheet.skip(12);
    if !panel.heading.is_empty() {
        sheet.line("heading", panel.heading, 18);
    }
    for outlook in &panel.outlooks {
        let class = if outlook.is_good() {
            "small good"
        } else {
            "small bad"
        };
        let [kills, serves, restarts] = outlook.parts();
        let kills = format!("{}: {kills}", clip(outlook.name(), NAME));
        sheet.paragraph(class, &[&kills, &serves, &restarts], "; ", LINE);
    }
    sheet.skip(6);
    ruler(sheet, panel, end);
    for lane in &panel.lanes {
        of_lane(sheet, lane, end);
    }
    sheet.skip(LINE);
}

/// The marks of the time axis behind the rows of a panel, with their labels below.
fn ruler(sheet: &mut Sheet, panel: &Panel, end: Micros) {
    let rows = |lane: &Lane| BAR + GAP + lane.probes.len() as i64 * (ROW + GAP);
    let height: i64 = panel.lanes.iter().map(rows).sum();
    let (top, bottom) = (sheet.y(), sheet.y() + height + 10);
    let mut path = String::new();
    for (at, label) in axis::marks(end) {
        let x = pixels(end).of(at.into()).map_or(PLOT, |x| x as i64);
        path.push_str(&format!("M{}.5 {top}v{height}", LEFT + x));
        sheet.text("faint middle", (LEFT + x, bottom), &label);
    }
    sheet.path("grid", &path, "");
}

/// The time axis, a pixel a column.
fn pixels(end: Micros) -> Columns {
    Columns {
        count: PLOT as usize,
        end,
    }
}

fn of_lane(sheet: &mut Sheet, lane: &Lane, end: Micros) {
    sheet.text("name", (MARGIN, sheet.y() + 14), &lane.name);
    let kills: Vec<i64> = lane
        .kills
        .iter()
        .filter_map(|at| pixels(end).of(*at))
        .map(|x| LEFT + x as i64)
        .collect();
    for run in runs(&pixels(end).states(&lane.spans)) {
        bar(sheet, run, &kills);
    }
    crosses(sheet, &lane.name, &kills);
    sheet.skip(BAR + GAP);
    for probes in &lane.probes {
        ticks(sheet, probes, end);
        sheet.skip(ROW + GAP);
    }
}

/// A time in one state, with its name inside where there is room between the crosses.
fn bar(sheet: &mut Sheet, run: Run<State>, kills: &[i64]) {
    let (from, to) = (LEFT + run.from as i64, LEFT + run.to as i64);
    let (sign, top) = (Sign::State(run.what), sheet.y());
    sheet.bar(class(sign), (from, top), (to - from, BAR));
    let (room, middle) = (width(sign.word()) + CROSS, (from + to) / 2);
    let crossed = |x: &i64| 2 * (x - middle).abs() < room + CROSS;
    if to - from > room && !kills.iter().any(crossed) {
        sheet.text("small middle", (middle, top + 14), sign.word());
    }
}

/// The kills of a container: of those that would touch each other the first.
fn crosses(sheet: &mut Sheet, name: &str, kills: &[i64]) {
    let (mut path, mut free) = (String::new(), 0);
    for x in kills {
        if *x >= free {
            path.push_str(&cross(*x, sheet.y() + BAR / 2));
            free = x + CROSS;
        }
    }
    sheet.path("halo", &path, "");
    let title = format!("{name} is killed {}", times(kills.len()));
    sheet.path(class(Sign::Killed), &path, &title);
}

fn cross(x: i64, y: i64) -> String {
    format!("M{} {}l8 8m0-8l-8 8", x - 4, y - 4)
}

/// A row of probes: a failure is a whole tick, what passes the lower half of one, an error the upper half.
fn ticks(sheet: &mut Sheet, probes: &Probes, end: Micros) {
    let (top, role) = (sheet.y(), probes.role.field());
    sheet.text("faint", (MARGIN + 12, top + 10), role);
    let base = format!("M{LEFT} {}.5h{PLOT}", top + ROW);
    sheet.path("base", &base, "");
    let all = apart(&pixels(end).outcomes(&probes.ends), TICK as usize);
    for outcome in [Outcome::Success, Outcome::Failure, Outcome::Error] {
        let sign = Sign::Probe(outcome);
        let ticks = all.iter().filter(|(_, of)| *of == outcome);
        let path: String = ticks
            .map(|(x, _)| tick(LEFT + *x as i64, top, outcome))
            .collect();
        let count = times(probes.count(outcome, end));
        sheet.path(
            class(sign),
            &path,
            &format!("{role} {} {count}", class(sign)),
        );
    }
}

fn tick(x: i64, top: i64, outcome: Outcome) -> String {
    let half = ROW / 2;
    match outcome {
        Outcome::Error => format!("M{x} {top}v{half}"),
        Outcome::Failure => format!("M{x} {top}v{ROW}"),
        Outcome::Success => format!("M{x} {}v{half}", top + half),
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// What is drawn, with its meaning.
fn legend(sheet: &mut Sheet) {
    let mut x = MARGIN;
    let drawn = Sign::ALL.map(|sign| sheet.holds(class(sign)).then_some(sign));
    for sign in drawn.into_iter().flatten() {
        let whole = 22 + width(sign.word()) + 16;
        if x + whole > LEFT + PLOT {
            x = MARGIN;
            sheet.skip(ROW + GAP);
        }
        let top = sheet.y();
        match sign {
            Sign::State(_) => sheet.bar(class(sign), (x, top), (16, ROW)),
            Sign::Killed => sheet.path(class(sign), &cross(x + 8, top + ROW / 2), ""),
            Sign::Probe(outcome) => {
                let ticks = [5, 8, 11].map(|at| tick(x + at, top, outcome));
                sheet.path(class(sign), &ticks.concat(), "");
            }
        }
        sheet.text("faint", (x + 22, top + 10), sign.word());
        x += whole;
    }
    sheet.skip(ROW);
}

/// The class of a sign in the style sheet.
fn class(sign: Sign) -> &'static str {
    match sign {
        Sign::State(State::Loads) => "loads",
        Sign::State(State::Early) => "early",
        Sign::State(State::Loaded) => "loaded",
        Sign::State(State::Ready) => "ready",
        Sign::State(State::Ends) => "ends",
        Sign::State(State::BackOff) => "waits",
        Sign::Killed => "killed",
        Sign::Probe(Outcome::Success) => "passes",
        Sign::Probe(Outcome::Failure) => "fails",
        Sign::Probe(Outcome::Error) => "errs",
    }
}
