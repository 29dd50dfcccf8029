// A webhook as one writes it with controller-runtime: the pod is decoded, edited, encoded again, and the patch is the
// difference. Its edits are those that warmgate makes on the same pod; `make bench` compares both answers.
package main

import (
	"context"
	"flag"
	"math"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	maxStartupTime = "warmgate.io/max-startup-time"

	// Seconds, unless they say otherwise.
	startupPeriod   = 10
	probeTimeout    = 5
	preStopSleep    = 15
	drain           = 60
	killAfterSleep  = 30
	defaultGrace    = 30
	windowPerSecond = 1.25
)

func main() {
	host := flag.String("host", "127.0.0.1", "the address to listen on")
	port := flag.Int("port", 9443, "the port to listen on")
	certificates := flag.String("cert-dir", "", "the folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail(err)
	}
	server := webhook.NewServer(webhook.Options{Host: *host, Port: *port, CertDir: *certificates})
	server.Register("/mutate", admission.WithDefaulter[*corev1.Pod](scheme, mender{}))
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		fail(err)
	}
}

func fail(err error) {
	ctrl.Log.Error(err, "cannot serve")
	os.Exit(1)
}

// mender edits pods that ask for a GPU.
type mender struct{}

func (mender) Default(_ context.Context, pod *corev1.Pod) error {
	var longest time.Duration
	if declared, ok := pod.Annotations[maxStartupTime]; ok {
		var err error
		if longest, err = time.ParseDuration(declared); err != nil {
			return err
		}
	}
	mended := false
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		if asksForGPU(container) && container.LivenessProbe != nil {
			mend(container, longest)
			mended = true
		}
	}
	if mended && ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, defaultGrace) == defaultGrace {
		pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](preStopSleep + drain)
	}
	return nil
}

func asksForGPU(container *corev1.Container) bool {
	for name := range container.Resources.Limits {
		if strings.HasPrefix(string(name), "nvidia.com/gpu") || strings.HasPrefix(string(name), "nvidia.com/mig-") {
			return true
		}
	}
	return false
}

// mend fills in what the owner left open.
func mend(container *corev1.Container, longest time.Duration) {
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		if probe != nil && probe.TimeoutSeconds <= 1 {
			probe.TimeoutSeconds = min(probeTimeout, probe.PeriodSeconds)
		}
	}
	if container.Lifecycle == nil {
		container.Lifecycle = &corev1.Lifecycle{}
	}
	if container.Lifecycle.PreStop == nil {
		container.Lifecycle.PreStop = &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: preStopSleep}}
	}
	if container.StartupProbe != nil {
		return
	}
	window := 3600.0
	if longest > 0 {
		window = math.Ceil(windowPerSecond * longest.Seconds())
	}
	container.StartupProbe = &corev1.Probe{
		ProbeHandler:                  *container.LivenessProbe.ProbeHandler.DeepCopy(),
		PeriodSeconds:                 startupPeriod,
		TimeoutSeconds:                max(probeTimeout, container.LivenessProbe.TimeoutSeconds),
		FailureThreshold:              1 + int32(math.Ceil(window/startupPeriod)),
		TerminationGracePeriodSeconds: ptr.To[int64](preStopSleep + killAfterSleep),
	}
}
