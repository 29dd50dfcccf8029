//! Random manifests in random style, and random patches on them.
//!
//! A generator writes a text and the value it must read as, both from one tape of random bytes, so that a failing case
//! shrinks with its tape.

use std::fmt::Write;

use json_patch::Patch;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use warmgate::manifest::{EditError, Manifest};
use warmgate::words::FieldPath;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::properties::cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_edit_says_what_the_patch_says_and_nothing_else(tape in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut tape = Tape::new(tape);
        let (text, expected) = stream(&mut tape);
        let manifest = Manifest::read("a.yaml", &text);
        prop_assert_eq!(&manifest.errors, &vec![], "{}", text);
        let values: Vec<&Value> = manifest.objects.iter().map(|object| &object.value).collect();
        prop_assert_eq!(values, expected.iter().collect::<Vec<_>>(), "{}", text);
        prop_assert_eq!(manifest.edit(&[]).expect("nothing to edit"), text.clone());

        let mut wanted = expected;
        let mut patches = Vec::new();
        let mut gentle = true;
        let mut adds_only = true;
        for (index, value) in wanted.iter_mut().enumerate() {
            let made = steps(&mut tape, value);
            gentle &= made.gentle;
            adds_only &= made.adds_only;
            patches.push((index, made.patch));
        }
        let patches: Vec<(usize, &Patch)> = patches.iter().map(|(index, patch)| (*index, patch)).collect();
        let edited = match manifest.edit(&patches) {
            Ok(edited) => edited,
            // What goes, a merge that may bring nothing any more too, may leave a comment behind a block scalar that would
            // become part of it.
            Err(EditError::Differs) if !adds_only || text.contains("<<") => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error}:\n{text}\n{patches:?}"))),
        };
        let again = Manifest::read("a.yaml", &edited);
        let values: Vec<&Value> = again.objects.iter().map(|object| &object.value).collect();
        prop_assert_eq!(values, wanted.iter().collect::<Vec<_>>(), "{}\n{:?}\n{}", text, patches, edited);
        if adds_only {
            let lone = |text: &str| text.replace("\r\n", "").contains('\n');
            prop_assert!(lone(&text) || !text.contains('\n') || !lone(&edited), "{}", edited);
            prop_assert_eq!(edited.ends_with('\n'), text.ends_with('\n'), "{}\n{:?}\n{}", text, patches, edited);
        }
        // A merge that may bring nothing any more goes with its line.
        if gentle && !text.contains("<<") {
            for number in 0..tape.comments {
                let comment = format!("# c{number}.");
                prop_assert_eq!(edited.matches(&comment).count(), 1, "{}\n{:?}\n{}", text, patches, edited);
            }
        }
        if gentle && adds_only && tape.anchors.is_empty() {
            prop_assert!(holds(&edited, &text), "{}\n{:?}\n{}", text, patches, edited);
        }
        let settled = patches.iter().all(|&(index, patch)| {
            let mut value = wanted[index].clone();
            json_patch::patch(&mut value, patch).is_ok() && value == wanted[index]
        });
        if settled {
            prop_assert_eq!(again.edit(&patches).expect("edited once"), edited);
        }
    }

    #[test]
    fn no_text_breaks_the_reader(pieces in prop::collection::vec(0..PIECES.len(), 0..60), other in any::<String>()) {
        let mut text: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
        if pieces.len() % 5 == 0 {
            text.push_str(&other);
        }
        let manifest = Manifest::read("a.yaml", &text);
        let patch: Patch = serde_json::from_value(json!([
            {"op": "add", "path": "/a", "value": {"b": [1, {"c": "d"}]}},
            {"op": "add", "path": "/x", "value": "y"}
        ])).expect("a patch");
        for (index, object) in manifest.objects.iter().enumerate() {
            let (line, column) = manifest.position(object, &FieldPath::of(&["a", "b"]));
            prop_assert!(line >= 1 && column >= 1);
            match manifest.edit(&[(index, &patch)]) {
                Ok(edited) => {
                    let again = Manifest::read("a.yaml", &edited);
                    prop_assert_eq!(&again.objects[index].value["x"], "y");
                }
                Err(error) => prop_assert!(matches!(error, EditError::Differs)),
            }
        }
        prop_assert_eq!(manifest.edit(&[]).expect("nothing to edit"), text);
    }

    #[test]
    fn what_nobody_wants_is_held_to_the_same_rules(pieces in prop::collection::vec(0..PIECES.len(), 0..60), tape in prop::collection::vec(any::<u8>(), 0..300)) {
        let broken: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
        let (good, _) = stream(&mut Tape::new(tape));
        for inner in [broken, good] {
            let inner = inner.replace('\n', "\n  ");
            let text = format!("apiVersion: v1\nkind: Idle\nspec:\n  {inner}\nmetadata: {{name: x}}\n---\napiVersion: v1\nkind: Wanted\nspec: {{a: [1]}}\n");
            let whole = Manifest::read("a.yaml", &text);
            let sifted = Manifest::sift("a.yaml", text.clone(), &|_, kind| kind == "Wanted");
            prop_assert_eq!(&whole.errors, &sifted.errors, "{}", text);
            prop_assert_eq!(whole.objects.len(), sifted.objects.len(), "{}", text);
            for (mut object, mut names) in whole.objects.into_iter().zip(sifted.objects) {
                if names.value["kind"] == "Idle" {
                    object.value["spec"].take();
                    names.value["spec"].take();
                }
                prop_assert_eq!(object, names, "{}", text);
            }
        }
    }
}

const PIECES: &[&str] = &[
    "a",
    "b: ",
    "a: 1\n",
    "a:\n",
    "- ",
    "\n",
    "  ",
    "    ",
    "{",
    "}",
    "[",
    "]",
    "&x ",
    "*x",
    "|",
    ">-\n",
    " # c\n",
    "\"",
    "'",
    "---\n",
    "...\n",
    "? ",
    ": ",
    "<<: ",
    "!t ",
    "!!int ",
    "\t",
    "\r\n",
    "é",
    ", ",
    "%YAML 1.1\n",
    "@",
    "1",
    "\u{feff}",
    "kind: List\n",
    "items:\n",
    "{\"a\":1}",
    "b: |+\n  x\n\n",
];

/// Whether `part` is what is left of `whole` when some of its characters are taken away. Blanks do not count: those in an
/// empty pair of brackets go when it is filled.
fn holds(whole: &str, part: &str) -> bool {
    let mut chars = whole.chars();
    let mut wanted = part.chars().filter(|c| !c.is_whitespace());
    wanted.all(|wanted| chars.any(|c| c == wanted))
}

struct Tape {
    bytes: std::vec::IntoIter<u8>,
    comments: usize,
    names: usize,
    /// Names and values of the anchors that aliases may use.
    anchors: Vec<(String, Value)>,
}

impl Tape {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.into_iter(),
            comments: 0,
            names: 0,
            anchors: Vec::new(),
        }
    }

    /// A number below `limit`; 0 once the tape has run out.
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.bytes.next().unwrap_or_default()) % limit
    }

    fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == limit - 1
    }

    fn comment(&mut self) -> String {
        self.comments += 1;
        format!("# c{}.", self.comments - 1)
    }

    /// A comment behind a value, sometimes.
    fn tail(&mut self) -> String {
        if self.one_in(4) {
            format!("{}{}", " ".repeat(1 + self.below(3)), self.comment())
        } else {
            String::new()
        }
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// A text of several documents, and the objects in it.
fn stream(tape: &mut Tape) -> (String, Vec<Value>) {
    let mut text = String::new();
    let mut objects = Vec::new();
    let mut in_scalar = false;
    if tape.one_in(8) {
        text.push('\u{feff}');
    }
    for number in 0..=tape.below(3) {
        if number > 0 || tape.one_in(2) {
            let comment = tape.tail();
            let _ = writeln!(text, "---{comment}");
        }
        let outer = std::mem::take(&mut tape.anchors);
        let mut writer = Writer {
            text,
            tape,
            scalar_end: 0,
        };
        let value = writer.document();
        in_scalar = writer.text.len() == writer.scalar_end;
        text = writer.text;
        tape.anchors.extend(outer);
        objects.push(value);
    }
    // Its line break is part of a block scalar.
    if tape.one_in(3) && !in_scalar {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if text.ends_with('\n') && tape.one_in(4) {
        text.push_str(&tape.comment());
        text.push('\n');
    }
    if tape.one_in(4) {
        text = text.replace('\n', "\r\n");
    }
    (text, objects)
}

struct Writer<'t> {
    text: String,
    tape: &'t mut Tape,
    /// Where the last block scalar ended: what followed it could become part of it.
    scalar_end: usize,
}

impl Writer<'_> {
    fn document(&mut self) -> Value {
        if self.tape.one_in(4) {
            let json = self.tape.one_in(2);
            let members = self.flow_map(0, json, 0);
            let tail = self.tape.tail();
            let _ = writeln!(self.text, "{tail}");
            return members;
        }
        self.filler();
        self.block_map(0, 0, false)
    }

    /// Blank lines and comment lines, sometimes.
    fn filler(&mut self) {
        if self.text.len() == self.scalar_end {
            return;
        }
        if self.tape.one_in(5) {
            self.text.push('\n');
        }
        if self.tape.one_in(5) {
            let indent = self.tape.below(6);
            let comment = self.tape.comment();
            let _ = writeln!(self.text, "{}{comment}", " ".repeat(indent));
        }
    }

    fn keys(&mut self) -> Vec<&'static str> {
        let mut keys = vec!["a", "b", "spec", "warmgate.io/x", "d e", "ü", "1", "true"];
        for _ in 0..8 - (1 + self.tape.below(4)) {
            let gone = self.tape.below(keys.len());
            keys.remove(gone);
        }
        keys
    }

    fn key(&mut self, key: &str, json: bool) -> String {
        let bare = !matches!(key, "1" | "true") || self.tape.one_in(2);
        match self.tape.below(6) {
            _ if json => format!("\"{key}\""),
            4 => format!("'{key}'"),
            5 => format!("\"{key}\""),
            _ if bare => key.to_owned(),
            _ => format!("\"{key}\""),
        }
    }

    /// The members of a map at a column; its first key stands where the text ends if `inline`.
    fn block_map(&mut self, column: usize, depth: usize, inline: bool) -> Value {
        let mut members = Map::new();
        let keys = self.keys();
        let merge = depth > 0 && self.tape.one_in(6);
        for (number, key) in keys.into_iter().enumerate() {
            if number > 0 || !inline {
                self.text.push_str(&" ".repeat(column));
            }
            let written = self.key(key, false);
            let _ = write!(self.text, "{written}:");
            let value = self.block_value(column, depth);
            members.insert(key.to_owned(), value);
            if number == 0 && merge {
                self.merge(column, &mut members);
            }
            self.filler();
        }
        Value::Object(members)
    }

    /// A merge, whose members count only where no key says otherwise: so it is written last in the value.
    fn merge(&mut self, column: usize, members: &mut Map<String, Value>) {
        let maps: Vec<_> = self
            .tape
            .anchors
            .iter()
            .filter(|(_, value)| value.is_object())
            .cloned()
            .collect();
        if maps.is_empty() {
            return;
        }
        let (name, value) = self.tape.pick(&maps);
        let tail = self.tape.tail();
        let _ = writeln!(self.text, "{}<<: *{name}{tail}", " ".repeat(column));
        for (key, value) in value.as_object().into_iter().flatten() {
            members.entry(key.clone()).or_insert(value.clone());
        }
    }

    fn anchor(&mut self) -> Option<String> {
        self.tape.one_in(8).then(|| {
            self.tape.names += 1;
            let name = format!("x{}", self.tape.names);
            let _ = write!(self.text, " &{name}");
            name
        })
    }

    fn note(&mut self, anchor: Option<String>, value: &Value) {
        if let Some(name) = anchor {
            self.tape.anchors.push((name, value.clone()));
        }
    }

    /// What follows the colon of a key at a column, with the line break.
    fn block_value(&mut self, column: usize, depth: usize) -> Value {
        if depth > 0 && self.tape.one_in(6) && !self.tape.anchors.is_empty() {
            let anchors = self.tape.anchors.clone();
            let (name, value) = self.tape.pick(&anchors);
            let tail = self.tape.tail();
            let _ = writeln!(self.text, " *{name}{tail}");
            return value;
        }
        let anchor = self.anchor();
        let value = match self.tape.below(10) {
            0 | 1 if depth < 4 => {
                let tail = self.tape.tail();
                let _ = writeln!(self.text, "{tail}");
                self.filler();
                let step = self.tape.pick(&[2, 4, 1]);
                self.block_map(column + step, depth + 1, false)
            }
            2 if depth < 4 => {
                let tail = self.tape.tail();
                let _ = writeln!(self.text, "{tail}");
                let offset = self.tape.pick(&[0, 2]);
                self.block_list(column + offset, depth + 1, false)
            }
            3 | 4 => {
                self.text.push(' ');
                let json = self.tape.one_in(3);
                let value = self.flow(column + 1, json, depth + 1);
                let tail = self.tape.tail();
                let _ = writeln!(self.text, "{tail}");
                value
            }
            5 => self.long_scalar(column),
            _ => self.scalar_line(),
        };
        self.note(anchor, &value);
        value
    }

    fn scalar_line(&mut self) -> Value {
        let (text, value) = self.scalar(false);
        let blank = if text.is_empty() { "" } else { " " };
        let tail = self.tape.tail();
        let _ = writeln!(self.text, "{blank}{text}{tail}");
        value
    }

    fn long_scalar(&mut self, column: usize) -> Value {
        let pad = " ".repeat(column + 1 + self.tape.below(3));
        let (head, lines, value) = self.tape.pick(&[
            ("|", "$one\n$ two\n", "one\n two\n"),
            ("|-", "$one\n\n$two\n", "one\n\ntwo"),
            ("|+", "$one\n\n\n", "one\n\n\n"),
            (">", "$one\n$two\n\n", "one two\n"),
            (">-", "\n$one # no comment\n", "\none # no comment"),
        ]);
        let tail = self.tape.tail();
        let _ = write!(self.text, " {head}{tail}\n{}", lines.replace('$', &pad));
        self.scalar_end = self.text.len();
        json!(value)
    }

    fn block_list(&mut self, column: usize, depth: usize, inline: bool) -> Value {
        let mut items = Vec::new();
        for number in 0..=self.tape.below(3) {
            if number > 0 || !inline {
                self.text.push_str(&" ".repeat(column));
            }
            self.text.push('-');
            let wide = self.tape.pick(&[1, 1, 3]);
            let item = match self.tape.below(5) {
                0 | 1 if depth < 4 => {
                    self.text.push_str(&" ".repeat(wide));
                    self.block_map(column + 1 + wide, depth + 1, true)
                }
                2 if depth < 4 => {
                    self.text.push_str(&" ".repeat(wide));
                    self.block_list(column + 1 + wide, depth + 1, true)
                }
                3 => self.scalar_line(),
                _ => self.block_value(column, 4),
            };
            items.push(item);
            self.filler();
        }
        Value::Array(items)
    }

    /// A value between brackets, its lines indented by more than `column`.
    fn flow(&mut self, column: usize, json: bool, depth: usize) -> Value {
        match self.tape.below(4) {
            0 | 1 => self.flow_map(column, json, depth),
            _ => {
                let lines = self.lines(column);
                let count = self.tape.below(3);
                self.text.push('[');
                let items = (0..count).map(|number| {
                    self.separate(number, &lines, json);
                    self.flow_value(lines.as_deref().map_or(column, str::len), json, depth)
                });
                let items = items.collect::<Vec<_>>();
                self.end(count, lines.as_deref(), column, json);
                self.text.push(']');
                Value::Array(items)
            }
        }
    }

    fn flow_map(&mut self, column: usize, json: bool, depth: usize) -> Value {
        let lines = self.lines(column);
        let keys = self.keys();
        let keys = if depth > 0 && self.tape.one_in(4) {
            Vec::new()
        } else {
            keys
        };
        let colon = if json && self.tape.one_in(2) {
            ":"
        } else {
            ": "
        };
        self.text.push('{');
        let mut members = Map::new();
        for (number, key) in keys.iter().enumerate() {
            self.separate(number, &lines, json);
            let written = self.key(key, json);
            let _ = write!(self.text, "{written}{colon}");
            let value = self.flow_value(lines.as_deref().map_or(column, str::len), json, depth);
            members.insert((*key).to_owned(), value);
        }
        self.end(keys.len(), lines.as_deref(), column, json);
        self.text.push('}');
        Value::Object(members)
    }

    /// The indentation of the lines of a collection between brackets that has lines.
    fn lines(&mut self, column: usize) -> Option<String> {
        self.tape
            .one_in(3)
            .then(|| " ".repeat(column + self.tape.pick(&[2, 4])))
    }

    fn separate(&mut self, number: usize, lines: &Option<String>, json: bool) {
        let comma = match (number, self.tape.one_in(4)) {
            (0, _) => "",
            (_, true) => ",",
            _ => ", ",
        };
        match lines {
            Some(indent) => {
                let tail = if json {
                    String::new()
                } else {
                    self.tape.tail()
                };
                let _ = write!(self.text, "{}{tail}\n{indent}", comma.trim_end());
            }
            None => self.text.push_str(comma),
        }
    }

    fn end(&mut self, count: usize, lines: Option<&str>, column: usize, json: bool) {
        if !json && count > 0 && self.tape.one_in(6) {
            self.text.push(',');
        }
        if lines.is_some() && !self.tape.one_in(4) {
            let tail = if json {
                String::new()
            } else {
                self.tape.tail()
            };
            let _ = write!(self.text, "{tail}\n{}", " ".repeat(column));
        }
    }

    fn flow_value(&mut self, column: usize, json: bool, depth: usize) -> Value {
        if depth < 4 && self.tape.one_in(3) {
            return self.flow(column, json, depth + 1);
        }
        let (text, value) = self.scalar(true);
        if json {
            self.text.push_str(&value.to_string());
        } else {
            self.text.push_str(&text);
        }
        value
    }

    fn scalar(&mut self, flow: bool) -> (String, Value) {
        let (text, value) = self.tape.pick(&[
            ("1", json!(1)),
            ("text", json!("text")),
            ("\"quo\\\"ted\\u00e9\"", json!("quo\"tedé")),
            ("'it''s # not'", json!("it's # not")),
            ("yes", json!(true)),
            ("~", json!(null)),
            ("http://x:1/y#z", json!("http://x:1/y#z")),
            ("0x1F", json!(31)),
            ("two words", json!("two words")),
            ("!!str 5", json!("5")),
            ("-1.5", json!(-1.5)),
            ("", json!(null)),
        ]);
        if flow && text.is_empty() {
            return ("null".to_owned(), json!(null));
        }
        (text.to_owned(), value)
    }
}

struct Steps {
    patch: Patch,
    /// Nothing that may hold comments is taken away.
    gentle: bool,
    adds_only: bool,
}

/// A random patch, made on the value as it is drawn.
fn steps(tape: &mut Tape, value: &mut Value) -> Steps {
    let mut patch = Vec::new();
    let (mut gentle, mut adds_only) = (true, true);
    for _ in 0..tape.below(5) {
        let (pointer, map) = some_map(tape, value);
        let new = tape.pick(&["n1", "n2/~", "yes", "c", "warmgate.io/y"]);
        let old: Vec<String> = map.keys().cloned().collect();
        let name = match (old.is_empty(), tape.below(3)) {
            (false, 0) => tape.pick(&old),
            _ => new.to_owned(),
        };
        let path = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        if map.contains_key(&name) && tape.one_in(4) {
            map.remove(&name);
            patch.push(json!({"op": "remove", "path": path}));
            (gentle, adds_only) = (false, false);
        } else {
            let added = some_value(tape, 0);
            gentle &= !map.contains_key(&name);
            patch.push(json!({"op": "add", "path": path, "value": added}));
            map.insert(name, added);
        }
    }
    Steps {
        patch: serde_json::from_value(Value::Array(patch)).expect("a patch"),
        gentle,
        adds_only,
    }
}

/// A map somewhere in a value, with its pointer.
fn some_map<'v>(tape: &mut Tape, value: &'v mut Value) -> (String, &'v mut Map<String, Value>) {
    let mut maps = Vec::new();
    pointers(value, String::new(), &mut maps);
    let pointer = tape.pick(&maps);
    let map = value.pointer_mut(&pointer).and_then(Value::as_object_mut);
    (pointer, map.expect("a map stands there"))
}

fn pointers(value: &Value, pointer: String, maps: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{pointer}/{name}"), maps);
            }
            maps.push(pointer);
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                pointers(value, format!("{pointer}/{index}"), maps);
            }
        }
        _ => {}
    }
}

fn some_value(tape: &mut Tape, depth: usize) -> Value {
    match tape.below(6) {
        0 if depth < 3 => (0..tape.below(3))
            .map(|number| (format!("m{number}"), some_value(tape, depth + 1)))
            .collect(),
        1 if depth < 3 => (0..tape.below(3))
            .map(|_| some_value(tape, depth + 1))
            .collect(),
        _ => tape.pick(&[
            json!(114),
            json!("plain"),
            json!("needs: quotes, # [here]"),
            json!("no"),
            json!("08:15"),
            json!("line\nbreak\u{85}"),
            json!(""),
            json!("- x"),
            json!(null),
            json!(false),
            json!(1.25),
            json!("'single'"),
            json!("--flag=1"),
            json!("{x"),
            json!("é, ü: ö"),
        ]),
    }
}
