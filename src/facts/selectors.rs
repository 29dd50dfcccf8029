//! Label selectors, found by a label that they ask for: a tree has thousands, and each workload is held against all that may select it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Selectors as they stand in their objects.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    /// By the first label in `matchLabels` and its value.
    by_label: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
    /// Those without one.
    others: Vec<Value>,
}

impl Selectors {
    /// Those that may select what has these labels: all that do are among them.
    pub fn candidates<'s>(&'s self, labels: &'s [(&str, &str)]) -> impl Iterator<Item = &'s Value> {
        let asked = labels
            .iter()
            .filter_map(|(key, value)| self.by_label.get(*key)?.get(*value));
        asked.flatten().chain(&self.others)
    }
}

impl Extend<Value> for Selectors {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, selectors: I) {
        for selector in selectors {
            match first_label(&selector) {
                Some((key, value)) => self
                    .by_label
                    .entry(key)
                    .or_default()
                    .entry(value)
                    .or_default()
                    .push(selector),
                None => self.others.push(selector),
            }
        }
    }
}

impl FromIterator<Value> for Selectors {
    fn from_iter<I: IntoIterator<Item = Value>>(selectors: I) -> Self {
        let mut all = Self::default();
        all.extend(selectors);
        all
    }
}

impl IntoIterator for Selectors {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        let labelled = self.by_label.into_values().flat_map(BTreeMap::into_values);
        let mut all: Vec<Value> = labelled.flatten().collect();
        all.extend(self.others);
        all.into_iter()
    }
}

fn first_label(selector: &Value) -> Option<(String, String)> {
    let (key, value) = selector.get("matchLabels")?.as_object()?.iter().next()?;
    Some((key.clone(), value.as_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn those_that_ask_for_another_label_are_left_out() {
        let selectors: Selectors = [
            json!({"matchLabels": {"app": "a", "tier": "x"}}),
            json!({"matchLabels": {"app": "b"}}),
            json!({"matchLabels": {"zone": "a"}}),
            json!({"matchLabels": {"app": 1}}),
            json!({"matchLabels": {}}),
            json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
            json!(null),
        ]
        .into_iter()
        .collect();
        let labels = [("app", "a"), ("tier", "y")];
        let found: Vec<&Value> = selectors.candidates(&labels).collect();
        assert_eq!(
            found,
            [
                &json!({"matchLabels": {"app": "a", "tier": "x"}}),
                &json!({"matchLabels": {"app": 1}}),
                &json!({"matchLabels": {}}),
                &json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
                &json!(null),
            ]
        );
        assert_eq!(selectors.into_iter().count(), 7);
    }
}
