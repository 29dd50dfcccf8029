//! What holds where nothing is said: the same in the program and in the chart.

use std::fs;
use std::path::Path;

use warmgate::manifest::Manifest;

use super::*;

#[test]
fn the_chart_says_the_same_as_the_program() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/warmgate/values.yaml");
    let text = fs::read_to_string(file).expect("the chart has values");
    let read = Manifest::read("values.yaml", &text);
    let values = &read.objects[0].value;
    let settings = Settings::new("serving", "one");
    let days = |duration: Duration| duration.as_secs() / (24 * 60 * 60);
    for (value, usual) in [
        ("/mutating/name", json!(settings.mutating_configuration)),
        ("/validating/name", json!(settings.validating_configuration)),
        (
            "/certificates/caDays",
            json!(days(settings.lifetimes.authority)),
        ),
        (
            "/certificates/tlsDays",
            json!(days(settings.lifetimes.leaf)),
        ),
    ] {
        assert_eq!(values.pointer(value), Some(&usual), "{value}");
    }
    assert_eq!(settings.certificates, CertificateSource::SelfSigned);
    assert_eq!(values["certificates"]["source"], "self-signed");
}
