//! Who may do what.

use serde_json::Value;

use super::{NAMESPACE, RELEASE, VARIATIONS, find, of_kind, render, texts};

/// What the controller may do where it makes the certificate: where, what, to which resource of which name.
const CONTROLLER: [&str; 35] = [
    "cluster create events.k8s.io/events",
    "cluster delete admissionregistration.k8s.io/mutatingwebhookconfigurations 00-warmgate",
    "cluster delete admissionregistration.k8s.io/validatingwebhookconfigurations warmgate",
    "cluster get admissionregistration.k8s.io/mutatingwebhookconfigurations 00-warmgate",
    "cluster get admissionregistration.k8s.io/validatingwebhookconfigurations warmgate",
    "cluster get namespaces",
    "cluster list namespaces",
    "cluster patch admissionregistration.k8s.io/mutatingwebhookconfigurations 00-warmgate",
    "cluster patch admissionregistration.k8s.io/validatingwebhookconfigurations warmgate",
    "cluster update admissionregistration.k8s.io/mutatingwebhookconfigurations 00-warmgate",
    "cluster update admissionregistration.k8s.io/validatingwebhookconfigurations warmgate",
    "cluster watch namespaces",
    "namespace create configmaps",
    "namespace create coordination.k8s.io/leases",
    "namespace create events.k8s.io/events",
    "namespace create secrets",
    "namespace delete configmaps warmgate-facts",
    "namespace delete coordination.k8s.io/leases warmgate-controller",
    "namespace delete secrets warmgate-ca",
    "namespace delete secrets warmgate-tls",
    "namespace get configmaps warmgate-facts",
    "namespace get coordination.k8s.io/leases warmgate-controller",
    "namespace get pods",
    "namespace get secrets warmgate-ca",
    "namespace get secrets warmgate-tls",
    "namespace list pods",
    "namespace patch configmaps warmgate-facts",
    "namespace patch coordination.k8s.io/leases warmgate-controller",
    "namespace patch pods",
    "namespace patch secrets warmgate-ca",
    "namespace patch secrets warmgate-tls",
    "namespace update configmaps warmgate-facts",
    "namespace update coordination.k8s.io/leases warmgate-controller",
    "namespace update secrets warmgate-ca",
    "namespace update secrets warmgate-tls",
];

/// Everything that roles allow, a line each.
fn grants(objects: &[Value]) -> Vec<String> {
    let mut grants = Vec::new();
    for (kind, place) in [("ClusterRole", "cluster"), ("Role", "namespace")] {
        for role in of_kind(objects, kind) {
            for rule in role["rules"].as_array().into_iter().flatten() {
                grants.extend(lines(place, rule));
            }
        }
    }
    grants.sort();
    grants
}

fn lines(place: &str, rule: &Value) -> Vec<String> {
    // Whatever else a rule may say, such as `nonResourceURLs`, would be a right that no line tells of.
    let members = rule.as_object().into_iter().flatten().map(|(key, _)| key);
    for member in members {
        let known = ["apiGroups", "resources", "resourceNames", "verbs"];
        assert!(known.contains(&member.as_str()), "{rule}");
    }
    let names = match texts(&rule["resourceNames"]) {
        names if names.is_empty() => vec![String::new()],
        names => names.into_iter().map(|name| format!(" {name}")).collect(),
    };
    let mut lines = Vec::new();
    for group in texts(&rule["apiGroups"]) {
        let group = if group.is_empty() {
            String::new()
        } else {
            format!("{group}/")
        };
        for resource in texts(&rule["resources"]) {
            for verb in texts(&rule["verbs"]) {
                lines.extend(
                    names
                        .iter()
                        .map(|name| format!("{place} {verb} {group}{resource}{name}")),
                );
            }
        }
    }
    lines
}

/// What is listed, where the release is named `fullname`, has these `configurations`, and takes the certificate from a Secret of
/// others if there is one.
fn listed(fullname: &str, configurations: [&str; 2], secret: Option<&str>) -> Vec<String> {
    let [mutating, validating] = configurations;
    let named = CONTROLLER.iter().map(|line| match line.rsplit_once(' ') {
        Some((line, "00-warmgate")) => format!("{line} {mutating}"),
        Some((line, "warmgate")) => format!("{line} {validating}"),
        _ => line.replace(" warmgate-", &format!(" {fullname}-")),
    });
    let mut listed: Vec<_> = named.collect();
    if let Some(secret) = secret {
        listed.retain(|line| !line.contains(" secrets"));
        listed.push(format!("namespace get secrets {secret}"));
    }
    listed.sort();
    listed
}

/// Nothing but what is listed may be done.
pub(in crate::suites) fn are_those_that_are_listed() {
    assert_eq!(grants(&render("")), CONTROLLER);
    for (name, values) in VARIATIONS {
        let fullname = if name == "names" { "gate" } else { RELEASE };
        let configurations = match name {
            "registration" => ["0-first", "gate"],
            _ => ["00-warmgate", "warmgate"],
        };
        let tls = format!("{fullname}-issued-tls");
        let secret = match name {
            "byo" => Some("ours"),
            "cert-manager" | "issuer" => Some(&*tls),
            _ => None,
        };
        let expected = listed(fullname, configurations, secret);
        assert_eq!(grants(&render(values)), expected, "{name}");
    }
}

/// The controller alone has rights, and the webhook not even a token.
pub(in crate::suites) fn are_the_controllers_alone() {
    for (name, values) in VARIATIONS {
        let objects = render(values);
        for kind in ["ClusterRoleBinding", "RoleBinding"] {
            for binding in of_kind(&objects, kind) {
                let subjects = binding["subjects"]
                    .as_array()
                    .map_or(&[][..], Vec::as_slice);
                let [subject] = subjects else {
                    panic!("{name}: {subjects:?}")
                };
                assert_eq!(subject["kind"], "ServiceAccount", "{name}");
                assert_eq!(subject["namespace"], NAMESPACE, "{name}");
                assert_eq!(subject["name"], binding["metadata"]["name"], "{name}");
                // And to it the role of its own name, whose rules are listed, and no other such as `cluster-admin`.
                let role = &binding["roleRef"];
                assert_eq!(role["name"], binding["metadata"]["name"], "{name}");
                assert_eq!(
                    format!("{}Binding", role["kind"].as_str().unwrap_or_default()),
                    kind,
                    "{name}"
                );
                find(
                    &objects,
                    kind.trim_end_matches("Binding"),
                    role["name"].as_str().unwrap_or_default(),
                );
            }
        }
        for account in of_kind(&objects, "ServiceAccount") {
            assert_eq!(account["automountServiceAccountToken"], false, "{name}");
        }
        for deployment in of_kind(&objects, "Deployment") {
            let labels = &deployment["metadata"]["labels"];
            let controls = labels["app.kubernetes.io/component"] == "controller";
            let pod = &deployment["spec"]["template"]["spec"];
            assert_eq!(pod["automountServiceAccountToken"], controls, "{name}");
            let bound = of_kind(&objects, "RoleBinding")[0]["metadata"]["name"]
                == pod["serviceAccountName"];
            assert_eq!(bound, controls, "{name}");
        }
    }
}
