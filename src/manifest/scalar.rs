//! What a scalar means: YAML 1.1 as kubectl reads it.
//!
//! kubectl reads YAML with sigs.k8s.io/yaml, which resolves scalars with go-yaml v2 (`resolve.go` of go.yaml.in/yaml/v2) and
//! then writes JSON. What differs from YAML 1.2: `y`, `yes`, `on` and their like are booleans, a leading zero means octal,
//! digits may be grouped by `_`. Numbers in base 60 and timestamps stay strings. JSON has one kind of number, so a float
//! without a fraction becomes an integer (`3.0` is 3).

use base64::Engine;
use granit_parser::Tag;
use serde_json::{Number, Value};

const NAMESPACE: &str = "tag:yaml.org,2002:";

/// The value of a scalar with this text; `plain` says that it stands there without quotes.
///
/// # Errors
/// A message where the value does not fit its tag, or is a number that JSON does not have.
pub(super) fn resolve(text: &str, plain: bool, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return if plain {
            resolve_plain(text)
        } else {
            Ok(Value::String(text.to_owned()))
        };
    };
    match tag.suffix_in_namespace(NAMESPACE).as_deref() {
        Some(name @ ("bool" | "float" | "int" | "null")) => resolve_as(name, text),
        Some("binary") => resolve_binary(text),
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// Whether a scalar has a value, where nobody wants to know which.
///
/// # Errors
/// Those of [`resolve`].
pub(super) fn check(text: &str, plain: bool, tag: Option<&Tag>) -> Result<(), String> {
    let is_text = !plain || !matches!(text.as_bytes(), [first, ..] if begins_number(*first));
    if tag.is_none() && is_text {
        return Ok(());
    }
    resolve(text, plain, tag).map(drop)
}

/// Whether a key with this text and tag merges maps into its own map.
pub(super) fn is_merge(text: &str, plain: bool, tag: Option<&Tag>) -> bool {
    text == "<<"
        && match tag {
            None => plain,
            Some(tag) => tag.suffix_in_namespace(NAMESPACE).as_deref() == Some("merge"),
        }
}

/// The member name that a scalar makes as the key of a map, as sigs.k8s.io/yaml makes it; `None` where there is no such name.
pub(super) fn key(value: Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text),
        Value::Array(_) | Value::Null | Value::Object(_) => None,
    }
}

/// The value of a scalar without quotes and tag.
pub(super) fn resolve_plain(text: &str) -> Result<Value, String> {
    let Some(&first) = text.as_bytes().first() else {
        return Ok(Value::Null);
    };
    let value = match first {
        first if begins_number(first) => number(text)?,
        b'~' | b'F' | b'N' | b'O' | b'T' | b'Y' | b'f' | b'n' | b'o' | b't' | b'y' => word(text),
        _ => None,
    };
    Ok(value.unwrap_or_else(|| Value::String(text.to_owned())))
}

/// Whether what begins with this byte may be a number.
fn begins_number(first: u8) -> bool {
    matches!(first, b'+' | b'-' | b'.' | b'0'..=b'9')
}

fn resolve_as(name: &str, text: &str) -> Result<Value, String> {
    let value = resolve_plain(text)?;
    let fits = match (name, &value) {
        ("bool", Value::Bool(_)) | ("float", Value::Number(_)) | ("null", Value::Null) => true,
        ("int", Value::Number(number)) => !number.is_f64() && integer(&ungrouped(text)).is_some(),
        _ => false,
    };
    if fits {
        Ok(value)
    } else {
        Err(format!("the value cannot be read as !!{name}"))
    }
}

fn resolve_binary(text: &str) -> Result<Value, String> {
    let packed: String = text.split_ascii_whitespace().collect();
    match base64::engine::general_purpose::STANDARD.decode(packed) {
        Ok(bytes) => Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
        Err(_) => Err("the value of !!binary is not base64".to_owned()),
    }
}

fn word(text: &str) -> Option<Value> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(Value::Bool(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Value::Bool(false))
        }
        "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        _ => None,
    }
}

fn number(text: &str) -> Result<Option<Value>, String> {
    if matches!(
        text.strip_prefix(['+', '-']).unwrap_or(text),
        ".inf" | ".Inf" | ".INF"
    ) || matches!(text, ".nan" | ".NaN" | ".NAN")
    {
        return Err(format!("JSON has no number {text}"));
    }
    // go-yaml hands what begins with a dot to its float parser as it stands.
    if text.starts_with('.') {
        return Ok(float(text).map(Value::Number));
    }
    let digits = ungrouped(text);
    Ok(integer(&digits)
        .or_else(|| float(&digits))
        .map(Value::Number))
}

fn ungrouped(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    }
}

/// An integer as Go's `strconv.ParseInt` with base 0 reads it, up to the largest u64.
fn integer(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match text.as_bytes()[0] {
        b'-' => 0_i64.checked_sub_unsigned(magnitude).map(Number::from),
        b'+' => i64::try_from(magnitude).ok().map(Number::from),
        _ => Some(Number::from(magnitude)),
    }
}

/// A decimal float; what is too large for one is none.
fn float(text: &str) -> Option<Number> {
    if !is_float(text) {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    // Go writes a float below 1e21 without exponent, and what then has no fraction is read again as an integer.
    if float.fract() == 0.0 && float != 0.0 || float.to_bits() == 0 {
        let whole = float.to_string();
        if let Ok(whole) = whole.parse::<i64>() {
            return Some(whole.into());
        }
        if let Ok(whole) = whole.parse::<u64>() {
            return Some(whole.into());
        }
    }
    Number::from_f64(float)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, which is go-yaml's `yamlStyleFloat`.
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits(rest);
    let mut rest = &rest[whole..];
    if let Some(behind) = rest.strip_prefix('.') {
        let fraction = digits(behind);
        if whole + fraction == 0 {
            return false;
        }
        rest = &behind[fraction..];
    } else if whole == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return rest.is_empty();
    };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What sigs.k8s.io/yaml 1.6.0 with go.yaml.in/yaml/v2 2.4.2 answers for each of them.
    #[test]
    fn plain_scalars_mean_what_they_mean_to_kubectl() {
        for (text, value) in [
            ("y", json!(true)),
            ("N", json!(false)),
            ("yes", json!(true)),
            ("On", json!(true)),
            ("OFF", json!(false)),
            ("yEs", json!("yEs")),
            ("True", json!(true)),
            ("tRue", json!("tRue")),
            ("~", json!(null)),
            ("", json!(null)),
            ("NULL", json!(null)),
            ("nUll", json!("nUll")),
            ("0755", json!(493)),
            ("-0755", json!(-493)),
            ("0o17", json!(15)),
            ("0O17", json!(15)),
            ("-0o17", json!(-15)),
            ("0o8", json!("0o8")),
            ("08", json!(8)),
            ("00", json!(0)),
            ("0_7", json!(7)),
            ("0_", json!(0)),
            ("0x1F", json!(31)),
            ("+0x1F", json!(31)),
            ("0x_1", json!(1)),
            ("0x", json!("0x")),
            ("0x1p3", json!("0x1p3")),
            ("0b1", json!(1)),
            ("-0b11", json!(-3)),
            ("0b12", json!("0b12")),
            ("00b1", json!("00b1")),
            ("1_000", json!(1000)),
            ("1__0", json!(10)),
            ("_1", json!("_1")),
            ("+1", json!(1)),
            ("++1", json!("++1")),
            ("+-1", json!("+-1")),
            ("+", json!("+")),
            (".5", json!(0.5)),
            ("-.5", json!(-0.5)),
            ("+.5", json!(0.5)),
            ("._5", json!("._5")),
            (".5e3", json!(500)),
            ("1.", json!(1)),
            ("0.", json!(0)),
            (".", json!(".")),
            ("...", json!("...")),
            ("1e3", json!(1000)),
            ("1E+3", json!(1000)),
            ("12e03", json!(12000)),
            ("1e", json!("1e")),
            ("1e400", json!("1e400")),
            ("3.0", json!(3)),
            ("-0", json!(0)),
            ("-0.0", json!(-0.0)),
            ("1.10", json!(1.1)),
            ("1_0.5_5", json!(10.55)),
            ("1e21", json!(1e21)),
            ("1e20", json!(1e20)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0xFFFFFFFFFFFFFFFF", json!(u64::MAX)),
            ("0xFFFFFFFFFFFFFFFFF", json!("0xFFFFFFFFFFFFFFFFF")),
            ("18446744073709551616", json!(18446744073709551616.0)),
            ("+9223372036854775808", json!(9223372036854776000_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("-9223372036854775809", json!(-9223372036854775809.0)),
            ("=", json!("=")),
            ("<<", json!("<<")),
            ("2001-01-01", json!("2001-01-01")),
            (
                "2001-12-14t21:59:43.10-05:00",
                json!("2001-12-14t21:59:43.10-05:00"),
            ),
            ("190:20:30", json!("190:20:30")),
            ("1:30", json!("1:30")),
            ("infinity", json!("infinity")),
            ("10m", json!("10m")),
        ] {
            assert_eq!(resolve(text, true, None), Ok(value), "{text}");
            let quoted = Ok(Value::String(text.to_owned()));
            assert_eq!(resolve(text, false, None), quoted, "{text}");
        }
        for text in [".inf", "-.Inf", "+.INF", ".nan"] {
            assert!(resolve(text, true, None).is_err(), "{text}");
        }
    }

    #[test]
    fn tags_decide() {
        for (tag, text, plain, value) in [
            ("int", "5", false, Some(json!(5))),
            ("int", "1.5", true, None),
            ("int", "3.0", true, None),
            ("float", "1", true, Some(json!(1))),
            ("float", "1.5", false, Some(json!(1.5))),
            ("float", "x", true, None),
            ("bool", "yes", false, Some(json!(true))),
            ("bool", "1", true, None),
            ("null", "", false, Some(json!(null))),
            ("null", "x", true, None),
            ("str", "5", true, Some(json!("5"))),
            ("str", "", true, Some(json!(""))),
            ("binary", "aGk=", true, Some(json!("hi"))),
            ("binary", "%%%", false, None),
            ("timestamp", "2001-01-01", true, Some(json!("2001-01-01"))),
        ] {
            let read = resolve(text, plain, Some(&Tag::new(NAMESPACE, tag)));
            assert_eq!(read.ok(), value, "!!{tag} {text}");
        }
        let own = Tag::new("!", "foo");
        assert_eq!(resolve("5", true, Some(&own)), Ok(json!("5")));
    }
}
