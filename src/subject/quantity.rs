//! Kubernetes quantities, as far as it must be known whether one is more than nothing.

use serde_json::Value;

const SUFFIXES: [&str; 14] = [
    "n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti",
];

/// Whether a quantity (`1`, `"0.5"`, `"1e3"`, `"500m"`, `"128Mi"`) is well formed and above zero.
///
/// The grammar is that of `k8s.io/apimachinery/pkg/api/resource/quantity.go`.
pub(super) fn is_positive(quantity: &Value) -> bool {
    match quantity {
        Value::Number(number) => number.as_f64().is_some_and(|number| number > 0.0),
        Value::String(text) => text_is_positive(text.trim()),
        _ => false,
    }
}

fn text_is_positive(text: &str) -> bool {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (number, suffix) = unsigned.split_at(digits);
    let known = SUFFIXES.contains(&suffix) || matches!(suffix, "Pi" | "Ei") || is_exponent(suffix);
    known && number.parse::<f64>().is_ok_and(|number| number > 0.0)
}

fn is_exponent(suffix: &str) -> bool {
    let Some(rest) = suffix.strip_prefix(['e', 'E']) else {
        return false;
    };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn more_than_nothing() {
        for quantity in [
            json!(1),
            json!(0.5),
            json!("1"),
            json!("0.5"),
            json!("1e3"),
            json!("100m"),
            json!("1Ki"),
            json!("+2"),
        ] {
            assert!(is_positive(&quantity), "{quantity}");
        }
        for quantity in [
            json!(0),
            json!(-1),
            json!("0"),
            json!("-1"),
            json!("none"),
            json!(""),
            json!("1x"),
            json!(null),
            json!("0Gi"),
        ] {
            assert!(!is_positive(&quantity), "{quantity}");
        }
    }
}
