//! A sheet of SVG as it grows downwards.

/// The style sheet, light and dark.
const STYLE: &str = include_str!("svg.css");

/// How wide a character is taken to be, in tenths of a pixel: most are narrower.
const CHARACTER: i64 = 60;

/// An SVG as it grows. All lengths are pixels; y counts downwards.
#[derive(Debug)]
pub(super) struct Sheet {
    width: i64,
    margin: i64,
    y: i64,
    body: String,
}

impl Sheet {
    pub(super) fn new(width: i64, margin: i64) -> Self {
        Self {
            width,
            margin,
            y: margin,
            body: String::new(),
        }
    }

    /// Where the next thing is to be drawn.
    pub(super) fn y(&self) -> i64 {
        self.y
    }

    pub(super) fn skip(&mut self, height: i64) {
        self.y += height;
    }

    /// A line of text of its own, so high.
    pub(super) fn line(&mut self, class: &str, text: &str, height: i64) {
        self.text(class, (self.margin, self.y + height - 4), text);
        self.skip(height);
    }

    /// The same, in as many lines as it needs, broken between its parts.
    pub(super) fn paragraph(&mut self, class: &str, parts: &[&str], between: &str, height: i64) {
        let room = self.width - 2 * self.margin;
        let mut line = String::new();
        for (number, part) in parts.iter().enumerate() {
            let more = number + 1 < parts.len();
            let part = format!("{part}{}", if more { between } else { "" });
            if !line.is_empty() && width(&line) + width(&part) > room {
                self.line(class, line.trim_end(), height);
                line.clear();
            }
            line.push_str(&part);
        }
        self.line(class, &line, height);
    }

    /// Text whose baseline begins at a point.
    pub(super) fn text(&mut self, class: &str, (x, y): (i64, i64), text: &str) {
        let text = escaped(text);
        self.push(&format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        ));
    }

    /// A filled rectangle from its upper left corner.
    pub(super) fn bar(&mut self, class: &str, (x, y): (i64, i64), (width, height): (i64, i64)) {
        self.push(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// Lines, with what they say to who asks; nothing where there are none.
    pub(super) fn path(&mut self, class: &str, path: &str, title: &str) {
        if path.is_empty() {
            return;
        }
        let end = if title.is_empty() {
            "/>".to_owned()
        } else {
            format!("><title>{}</title></path>", escaped(title))
        };
        self.push(&format!("<path class=\"{class}\" d=\"{path}\"{end}"));
    }

    /// Whether there is something of a class.
    pub(super) fn holds(&self, class: &str) -> bool {
        self.body.contains(&format!("class=\"{class}\""))
    }

    /// The whole file. `title` and `description` are for who cannot see it.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (width, height) = (self.width, self.y + self.margin);
        let (title, description) = (escaped(title), escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{title}</title>\n\
             <desc id=\"description\">{description}</desc>\n\
             <style>\n{STYLE}</style>\n\
             <rect class=\"sheet\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n\
             {}</svg>\n",
            width - 1,
            height - 1,
            self.body
        )
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// How many pixels a text is taken to need.
pub(super) fn width(text: &str) -> i64 {
    let characters = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    characters.saturating_mul(CHARACTER) / 10
}

/// A text as XML takes it. What XML has no way to write becomes the character for what is unknown.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        let mut sheet = Sheet::new(100, 10);
        sheet.line("", "a<b> & \"c\" \u{1b}\u{ffff}", 16);
        sheet.path("", "M0 0h1", "</title>");
        let svg = sheet.finish("<", ">");
        assert!(
            svg.contains(">a&lt;b&gt; &amp; &quot;c&quot; \u{fffd}\u{fffd}</text>"),
            "{svg}"
        );
        assert!(svg.contains("<title>&lt;/title&gt;</title>"), "{svg}");
        assert!(svg.contains("<title id=\"title\">&lt;</title>"), "{svg}");
        assert!(
            svg.contains("<desc id=\"description\">&gt;</desc>"),
            "{svg}"
        );
    }

    #[test]
    fn a_paragraph_breaks_between_its_parts() {
        let mut sheet = Sheet::new(200, 10);
        let long = "x".repeat(50);
        sheet.paragraph(
            "",
            &["one two", "three", "four five six seven", &long],
            "; ",
            10,
        );
        let svg = sheet.finish("", "");
        for line in ["one two; three;", "four five six seven;", &long] {
            assert!(svg.contains(&format!(">{line}</text>")), "{line}\n{svg}");
        }
    }
}
