//! A model server as its owner applies it. No node runs it: what is stored of it is what matters.

/// It declares a time that its liveness probe does not wait, which an edit cures.
pub(super) const MANIFEST: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: engine
spec:
  selector: {matchLabels: {app: engine}}
  template:
    metadata:
      labels: {app: engine}
      annotations: {warmgate.io/max-startup-time: 15m}
    spec:
      schedulerName: nobody
      containers:
      - name: engine
        image: registry.example/own/server:1.4
        ports: [{containerPort: 8000}]
        resources: {limits: {nvidia.com/gpu: "1"}}
        livenessProbe:
          httpGet: {path: /health, port: 8000}
          failureThreshold: 6
        readinessProbe:
          httpGet: {path: /health, port: 8000}
"#;

/// The same with a startup probe that its owner wrote and that cannot hold for the time declared: no edit cures that.
pub(super) fn contradictory() -> String {
    format!(
        "{MANIFEST}        startupProbe:
          httpGet: {{path: /health, port: 8000}}
          failureThreshold: 3
"
    )
}
