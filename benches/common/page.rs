//! The page that has the figures.

use std::fs;

/// The page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance.md");

/// Replaces what stands between the marks of a part with `text`.
///
/// # Errors
/// Where the page has not both marks, or cannot be read or written.
pub(crate) fn write(part: &str, text: &str) -> Result<(), String> {
    let page = fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
    let page = replaced(&page, part, text)?;
    fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"))
}

fn replaced(page: &str, part: &str, text: &str) -> Result<String, String> {
    let begin = format!("<!-- figures of {part}: `make bench` writes them -->\n");
    let end = format!("<!-- end of the figures of {part} -->\n");
    let missing = || format!("{PAGE} has not both marks of the figures of {part}");
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}
