//! What asks for no accelerator: the gateway of an application, its Service, its settings, and one more.

use std::fmt::Write as _;

use crate::manifests::{App, WORDS};

impl App<'_> {
    /// The workload that asks for no accelerator.
    pub(crate) fn web(&mut self) -> String {
        let name = self.name();
        let mut text = self.head("apps/v1", "Deployment", "-gateway", "gateway");
        let _ = write!(
            text,
            "spec:
  replicas: {}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: {name}-gateway
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}-gateway
        app.kubernetes.io/part-of: {name}
    spec:
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: gateway
          image: registry.example.com/platform/gateway:{}.{}.{}
          args: [\"--config\", \"/etc/gateway/gateway.yaml\", \"--upstream\", \"http://{name}:80\"]
",
            self.random.of(1, 6),
            self.random.of(1, 4),
            self.random.of(0, 30),
            self.random.of(0, 9),
        );
        self.environment(&mut text, "          ");
        let _ = write!(
            text,
            "          ports:
            - name: http
              containerPort: 8080
            - name: metrics
              containerPort: 9090
          resources:
            requests: {{cpu: 250m, memory: 256Mi}}
            limits: {{memory: 512Mi}}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [\"ALL\"]
          livenessProbe:
            httpGet: {{path: /livez, port: http}}
            periodSeconds: 10
          readinessProbe:
            httpGet: {{path: /readyz, port: http}}
            periodSeconds: 5
          volumeMounts:
            - name: settings
              mountPath: /etc/gateway
      volumes:
        - name: settings
          configMap:
            name: {name}
"
        );
        text
    }

    /// The Service in front of the model.
    pub(crate) fn service(&self) -> String {
        let name = self.name();
        self.head("v1", "Service", "", "model")
            + &format!(
                "spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: {name}
  ports:
    - name: http
      port: 80
      targetPort: http
      protocol: TCP
"
            )
    }

    /// The settings of the gateway.
    pub(crate) fn config_map(&mut self) -> String {
        let mut text = self.head("v1", "ConfigMap", "", "gateway");
        text.push_str("data:\n  LOG_LEVEL: info\n  LISTEN: \"0.0.0.0:8080\"\n  gateway.yaml: |\n");
        for _ in 0..self.random.of(3, 9) {
            let (one, two) = (self.random.one(&WORDS), self.random.one(&WORDS));
            let _ = write!(
                text,
                "    {one}:\n      {two}: {}\n      enabled: {} # {two} of the {one}\n",
                self.random.of(1, 100_000),
                self.random.percent(50)
            );
        }
        text
    }

    /// One more object, most often a small one.
    pub(crate) fn other(&mut self) -> String {
        let name = self.name();
        if self.careful {
            let selector = "  selector:\n    matchLabels:\n      app.kubernetes.io/name: ";
            return self.head("policy/v1", "PodDisruptionBudget", "", "model")
                + &format!("spec:\n  maxUnavailable: 1\n{selector}{name}\n");
        }
        match self.random.of(1, 5) {
            1 => {
                self.head("v1", "ServiceAccount", "", "model")
                    + "automountServiceAccountToken: false\n"
            }
            2 => {
                self.head(
                    "autoscaling/v2",
                    "HorizontalPodAutoscaler",
                    "-gateway",
                    "gateway",
                ) + &format!(
                    "spec:
  minReplicas: 2
  maxReplicas: {}
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {name}-gateway
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {{type: Utilization, averageUtilization: 70}}
",
                    self.random.of(4, 20)
                )
            }
            3 => {
                self.head("networking.k8s.io/v1", "Ingress", "-gateway", "gateway")
                    + &format!(
                        "spec:
  ingressClassName: internal
  rules:
    - host: {name}.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {name}-gateway
                port:
                  name: http
"
                    )
            }
            4 => self.store(),
            _ => self.nightly(),
        }
    }

    fn store(&mut self) -> String {
        let name = self.name();
        let mut text = self.head("apps/v1", "StatefulSet", "-store", "store");
        let _ = write!(
            text,
            "spec:
  serviceName: {name}-store
  replicas: 3
  selector:
    matchLabels: &store
      app.kubernetes.io/name: {name}-store
  template:
    metadata:
      labels: *store
    spec:
      containers:
        - name: store
          image: redis:8.2
          args: [\"--appendonly\", \"yes\"]
          ports:
            - containerPort: 6379
          readinessProbe:
            exec:
              command: [\"redis-cli\", \"ping\"]
"
        );
        self.environment(&mut text, "          ");
        text
    }

    fn nightly(&mut self) -> String {
        let hour = self.random.of(0, 5);
        let mut text = self.head("batch/v1", "CronJob", "-report", "report");
        let _ = write!(
            text,
            "spec:
  schedule: \"15 {hour} * * *\"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: report
              image: registry.example.com/platform/report:1.4.2
              command:
                - /bin/sh
                - -c
                - |
                  set -eu
                  report --since yesterday --out /tmp/report.csv
                  upload /tmp/report.csv
"
        );
        self.environment(&mut text, "              ");
        text
    }
}
