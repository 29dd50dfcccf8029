//! What becomes of an annotation, whatever its key and its value are.

use serde_json::{Value, json};
use warmgate::annotations::{self, Annotations, TABLE, TroubleKind};

/// The rules that `allow.` may name.
pub(crate) const RULES: [&str; 3] = ["no-probes", "grace-too-short", "liveness-kills-startup"];

/// A key of ours either fills its field or is told of, never both and never neither; what is told has the form of a message.
pub(crate) fn read_or_told_of(key: &str, value: &Value) {
    let read = annotations::read(Some(&json!({key: value})), &RULES);
    let ours = annotations::is_ours(key);
    assert_eq!(read.keys.len(), usize::from(ours));
    let silent = Annotations {
        keys: Vec::new(),
        troubles: Vec::new(),
        ..read.clone()
    } == Annotations::default();
    assert_eq!(
        read.troubles.len(),
        usize::from(ours && silent),
        "{key}: {value}: {read:?}"
    );
    for trouble in &read.troubles {
        assert_eq!(trouble.key, key);
        let message = &trouble.message;
        assert!(message.chars().count() <= 230, "{message}");
        assert!(!message.ends_with('.'), "{message}");
        // It may begin with the key, which is the user's.
        let begins = |text: &str| text.starts_with(char::is_uppercase);
        assert!(!begins(message) || begins(key), "{message}");
        assert!(!message.contains(char::is_control), "{message}");
        // A row whose key has a place for a name is of no key itself.
        let is_whole = !key.contains('<');
        if is_whole && TABLE.iter().any(|row| row.key == key) {
            assert_eq!(trouble.kind, TroubleKind::Malformed);
        }
    }
}
