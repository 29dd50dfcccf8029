//! Whether a label selector selects pods with given labels.

use serde_json::Value;

/// Whether a `LabelSelector` selects what carries `labels`. An absent selector selects nothing, an empty one everything
/// (`LabelSelectorAsSelector` in apimachinery's `pkg/apis/meta/v1/helpers.go`); one that does not read selects nothing.
pub(super) fn matches(selector: &Value, labels: &[(&str, &str)]) -> bool {
    let Some(selector) = selector.as_object() else {
        return false;
    };
    let label = |key: &str| {
        let found = labels.iter().find(|(known, _)| *known == key);
        found.map(|(_, value)| *value)
    };
    let equal = match selector.get("matchLabels") {
        None | Some(Value::Null) => true,
        Some(Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| value.as_str().is_some() && label(key) == value.as_str()),
        Some(_) => false,
    };
    let expressions = match selector.get("matchExpressions") {
        None | Some(Value::Null) => true,
        Some(Value::Array(all)) => all.iter().all(|one| holds(one, label)),
        Some(_) => false,
    };
    equal && expressions
}

/// Labels as pairs: many selectors are held against those of one template, and a table of a handful is slower to look into.
pub(super) fn pairs(labels: Option<&Value>) -> Vec<(&str, &str)> {
    let members = labels.and_then(Value::as_object);
    members
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect()
}

fn holds<'l>(expression: &Value, label: impl Fn(&str) -> Option<&'l str>) -> bool {
    let text = |key: &str| expression.get(key).and_then(Value::as_str);
    let (Some(key), Some(operator)) = (text("key"), text("operator")) else {
        return false;
    };
    let value = label(key);
    let values = expression.get("values").and_then(Value::as_array);
    let listed = values
        .into_iter()
        .flatten()
        .any(|one| value.is_some() && one.as_str() == value);
    match operator {
        "DoesNotExist" => value.is_none(),
        "Exists" => value.is_some(),
        "In" => listed,
        "NotIn" => !listed,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selects_as_the_api_does() {
        let labels = json!({"app": "a", "tier": "gpu", "odd": 1});
        let labels = pairs(Some(&labels));
        for selector in [
            json!({}),
            json!({"matchLabels": {"app": "a"}, "matchExpressions": null}),
            json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["b", "a"]}]}),
            json!({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["b"]}]}),
            json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}, {"key": "zone", "operator": "DoesNotExist"}]}),
        ] {
            assert!(matches(&selector, &labels), "{selector}");
        }
        for selector in [
            json!(null),
            json!({"matchLabels": {"app": "b"}}),
            json!({"matchLabels": {"app": "a", "zone": "x"}}),
            json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}),
            json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]}),
            json!({"matchExpressions": [{"key": "app", "operator": "Near"}]}),
            json!({"matchExpressions": "app"}),
            json!({"matchExpressions": [{"key": "odd", "operator": "Exists"}]}),
        ] {
            assert!(!matches(&selector, &labels), "{selector}");
        }
        assert!(!matches(
            &json!({"matchLabels": {"app": "a"}}),
            &pairs(None)
        ));
    }
}
