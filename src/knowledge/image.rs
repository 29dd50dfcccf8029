//! Image references, and the tails by which images are known.

use super::pattern;

/// An image reference, taken apart: `registry/a/b:tag@digest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image<'a> {
    /// The registry and the path.
    pub(super) repository: &'a str,
    /// The tag, if there is one.
    pub(super) tag: Option<&'a str>,
}

impl<'a> Image<'a> {
    /// Takes a reference apart (`distribution/reference`): a colon behind the last slash begins the tag.
    pub(super) fn parse(reference: &'a str) -> Self {
        let name = reference
            .split_once('@')
            .map_or(reference, |(name, _digest)| name);
        match name.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => Self {
                repository,
                tag: Some(tag),
            },
            _ => Self {
                repository: name,
                tag: None,
            },
        }
    }

    /// The last component of the repository.
    pub(super) fn name(&self) -> &'a str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the repository ends with the components of `tail`; a `*` stays within one component.
    pub(super) fn ends_with(&self, tail: &str) -> bool {
        let mut components = self.repository.rsplit('/');
        tail.rsplit('/').all(|wanted| {
            components
                .next()
                .is_some_and(|component| pattern::matches(wanted, component))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_apart() {
        for (reference, repository, tag) in [
            ("ollama", "ollama", None),
            (
                "docker.io/vllm/vllm-openai:v0.11.0",
                "docker.io/vllm/vllm-openai",
                Some("v0.11.0"),
            ),
            ("localhost:5000/tgi", "localhost:5000/tgi", None),
            ("localhost:5000/tgi:3", "localhost:5000/tgi", Some("3")),
            ("a/b@sha256:00ff", "a/b", None),
            ("a/b:1@sha256:00ff", "a/b", Some("1")),
            ("", "", None),
        ] {
            assert_eq!(Image::parse(reference), Image { repository, tag });
        }
    }

    #[test]
    fn tails_are_compared_by_component() {
        let image = Image::parse("registry.example/mirror/nim/acme-8b:1.3");
        assert_eq!(image.name(), "acme-8b");
        assert!(image.ends_with("nim/*"));
        assert!(image.ends_with("acme-8b"));
        assert!(!image.ends_with("im/*"));
        assert!(!image.ends_with("nim/*/*"));
        assert!(!Image::parse("nim").ends_with("nim/*"));
    }
}
