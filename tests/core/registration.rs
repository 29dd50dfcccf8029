//! What the chart tells the API server to ask about.

use std::path::Path;

use warmgate::knowledge::Knowledge;

#[test]
fn the_chart_registers_what_the_tables_say() {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/warmgate/templates/_registration.tpl");
    let wanted = Knowledge::builtin().registration();
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&page, &wanted).expect("the template can be written");
    }
    let found = std::fs::read_to_string(&page).expect("the template can be read");
    assert!(
        found == wanted,
        "{} is old: WARMGATE_BLESS=1 writes it anew",
        page.display()
    );
}
