// Program patches is the part of an API server that a mutating webhook meets: it shows an object as the webhook is shown it,
// applies the patch that comes back, and says whether the outcome would be stored. It runs the server's own code: the decoder,
// the defaults, the conversions, the JSON patch library and the validation.
//
// Each line of standard input is a question, each line of standard output the answer to it. It is built in the folder of a
// pinned release (tests/cluster/harness/tools.rs), so it has no module of its own.
package main

import (
	"bufio"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
)

// What an API server does with each kind before it stores it.
var strategies = map[schema.GroupKind]rest.RESTCreateUpdateStrategy{
	apps.Kind("DaemonSet"):   daemonset.Strategy,
	apps.Kind("Deployment"):  deployment.Strategy,
	apps.Kind("ReplicaSet"):  replicaset.Strategy,
	apps.Kind("StatefulSet"): statefulset.Strategy,
	batch.Kind("CronJob"):    cronjob.Strategy,
	batch.Kind("Job"):        job.Strategy,
	core.Kind("Pod"):         pod.Strategy,
	core.Kind("PodTemplate"): podtemplate.Strategy,
}

var scheme = legacyscheme.Scheme

// As lenient as the one of the API server, which tells of unknown fields only if it is asked to.
var serializer = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Strict: true})

type question struct {
	// Where the request goes; an object without a namespace gets this one.
	Namespace string `json:"namespace"`
	// The object as its owner sends it; with a patch, as the webhook was shown it.
	Object stdjson.RawMessage `json:"object"`
	// What is stored, in an update.
	Old stdjson.RawMessage `json:"old"`
	// What the webhook answered.
	Patch stdjson.RawMessage `json:"patch"`
	// JSON pointers to the pod templates of a custom kind.
	Templates []string `json:"templates"`
}

type answer struct {
	// Whether the patch could be applied.
	Applied bool `json:"applied"`
	// Why there is no object: the patch does not apply, or what it makes is none of its kind.
	Refused string `json:"refused,omitempty"`
	// The object as the next webhook is shown it, with defaults.
	Object stdjson.RawMessage `json:"object,omitempty"`
	// What is stored, as a webhook is shown it.
	Old stdjson.RawMessage `json:"old,omitempty"`
	// The fields that the kind does not have.
	Unknown []string `json:"unknown,omitempty"`
	// Why the object would not be stored.
	Invalid string `json:"invalid,omitempty"`
}

func main() {
	in := stdjson.NewDecoder(bufio.NewReader(os.Stdin))
	buffer := bufio.NewWriter(os.Stdout)
	out := stdjson.NewEncoder(buffer)
	var err error
	for err == nil {
		var asked question
		if err = in.Decode(&asked); err == nil {
			err = out.Encode(reply(asked))
		}
	}
	if errors.Is(err, io.EOF) {
		err = buffer.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func reply(asked question) answer {
	var said answer
	if err := said.fill(asked); err != nil {
		said.Refused = err.Error()
	}
	return said
}

func (said *answer) fill(asked question) error {
	text := []byte(asked.Object)
	if asked.Patch != nil {
		patch, err := jsonpatch.DecodePatch(asked.Patch)
		if err != nil {
			return fmt.Errorf("no patch: %w", err)
		}
		if text, err = patch.Apply(text); err != nil {
			return fmt.Errorf("the patch does not apply: %w", err)
		}
	}
	said.Applied = true
	object, metadata, unknown, err := decode(text, asked.Namespace)
	if err != nil {
		return err
	}
	said.Unknown = unknown
	var old runtime.Object
	if asked.Old == nil {
		rest.WipeObjectMetaSystemFields(metadata)
	} else {
		if old, _, _, err = decode(asked.Old, asked.Namespace); err != nil {
			return fmt.Errorf("what is stored: %w", err)
		}
		if said.Old, err = shown(old); err != nil {
			return err
		}
	}
	if said.Object, err = shown(object); err != nil {
		return err
	}
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return said.judgeTemplates(custom, asked.Templates)
	}
	said.Invalid = message(validate(object, old))
	return nil
}

// Reads an object, gives it its defaults and its namespace, and tells the fields that its kind does not have.
func decode(text []byte, namespace string) (runtime.Object, metav1.Object, []string, error) {
	object, _, err := serializer.Decode(text, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		object, _, err = serializer.Decode(text, nil, &unstructured.Unstructured{})
	}
	var unknown []string
	if strict, ok := runtime.AsStrictDecodingError(err); ok && object != nil {
		for _, field := range strict.Errors() {
			unknown = append(unknown, field.Error())
		}
	} else if err != nil {
		return nil, nil, nil, err
	}
	scheme.Default(object)
	metadata, err := meta.Accessor(object)
	if err == nil && metadata.GetNamespace() == "" {
		metadata.SetNamespace(namespace)
	}
	return object, metadata, unknown, err
}

// The object of the version it came in, after the detour over the version that the server works with.
func shown(object runtime.Object) ([]byte, error) {
	if _, ok := object.(*unstructured.Unstructured); !ok {
		version := object.GetObjectKind().GroupVersionKind().GroupVersion()
		internal, err := internal(object)
		if err != nil {
			return nil, err
		}
		if object, err = scheme.ConvertToVersion(internal, version); err != nil {
			return nil, err
		}
	}
	return runtime.Encode(serializer, object)
}

func internal(object runtime.Object) (runtime.Object, error) {
	group := object.GetObjectKind().GroupVersionKind().Group
	return scheme.ConvertToVersion(object, schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal})
}

// Says why an object would not be stored, if so. It gets what the server gives it first: a name, a time of creation.
func validate(versioned, stored runtime.Object) error {
	kind := versioned.GetObjectKind().GroupVersionKind()
	strategy, ok := strategies[kind.GroupKind()]
	if !ok {
		return nil
	}
	object, err := internal(versioned)
	if err != nil {
		return err
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	ctx := request.WithNamespace(context.Background(), metadata.GetNamespace())
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: kind.Group, APIVersion: kind.Version})
	if stored != nil {
		old, err := internal(stored)
		if err != nil {
			return err
		}
		metadata.SetResourceVersion("1")
		return rest.BeforeUpdate(strategy, ctx, object, old)
	}
	rest.FillObjectMetaSystemFields(metadata)
	if metadata.GetName() == "" {
		metadata.SetName(strategy.GenerateName(metadata.GetGenerateName()))
	}
	return rest.BeforeCreate(strategy, ctx, object)
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Judges the pod templates of a custom kind, each as the PodTemplate that it would make.
func (said *answer) judgeTemplates(custom *unstructured.Unstructured, pointers []string) error {
	for _, pointer := range pointers {
		template, found, err := unstructured.NestedFieldNoCopy(custom.Object, strings.Split(pointer[1:], "/")...)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		text, err := stdjson.Marshal(map[string]any{
			"apiVersion": "v1",
			"kind":       "PodTemplate",
			"metadata":   map[string]string{"name": "template"},
			"template":   template,
		})
		if err != nil {
			return err
		}
		object, _, unknown, err := decode(text, custom.GetNamespace())
		if err != nil {
			return fmt.Errorf("%s: %w", pointer, err)
		}
		said.Unknown = append(said.Unknown, unknown...)
		said.Invalid += message(validate(object, nil))
	}
	return nil
}
