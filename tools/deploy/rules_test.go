package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// pods are all templates of pods of an installation, by the name of what makes them.
func pods(in installation) map[string]core.PodTemplateSpec {
	found := map[string]core.PodTemplateSpec{}
	for _, d := range all[*apps.Deployment](in) {
		found[d.Name] = d.Spec.Template
	}
	for _, j := range all[*batch.Job](in) {
		found[j.Name] = j.Spec.Template
	}
	for _, c := range all[*batch.CronJob](in) {
		found[c.Name] = c.Spec.JobTemplate.Spec.Template
	}
	return found
}

func TestEveryPodMayDoLittle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in installation) {
		for name, pod := range pods(in) {
			has := func(what string, is bool) {
				t.Helper()
				if !is {
					t.Errorf("%s: %s", name, what)
				}
			}
			s := pod.Spec
			has("it may talk to the cluster", s.AutomountServiceAccountToken != nil && !*s.AutomountServiceAccountToken)
			has("services of others become its settings", s.EnableServiceLinks != nil && !*s.EnableServiceLinks)
			has("it shares something of the node", !s.HostNetwork && !s.HostPID && !s.HostIPC)
			has("it may be root", s.SecurityContext != nil && s.SecurityContext.RunAsNonRoot != nil && *s.SecurityContext.RunAsNonRoot && s.SecurityContext.RunAsUser != nil && *s.SecurityContext.RunAsUser != 0)
			has("system calls are not filtered", s.SecurityContext.SeccompProfile != nil && s.SecurityContext.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault)
			has("it has no container, or more than one", len(s.Containers) == 1 && len(s.InitContainers) == 0)
			for _, v := range s.Volumes {
				has("it sees the node's files: "+v.Name, v.HostPath == nil)
			}
			for _, c := range s.Containers {
				may := c.SecurityContext
				has("its file system can be written", may != nil && may.ReadOnlyRootFilesystem != nil && *may.ReadOnlyRootFilesystem)
				has("it may become more", may.AllowPrivilegeEscalation != nil && !*may.AllowPrivilegeEscalation && (may.Privileged == nil || !*may.Privileged))
				has("it keeps capabilities", may.Capabilities != nil && slices.Equal(may.Capabilities.Drop, []core.Capability{"ALL"}) && len(may.Capabilities.Add) == 0)
			}
		}
	})
}

// secret are names of variables whose values nobody may read in a manifest.
var secret = regexp.MustCompile(`^DATABASE_URL$|^PATCHBAY_(KEYSET|DATABASE_DIRECT_URL|EGRESS_PROXY)$|TOKEN|SECRET|PASSWORD|ACCESS_KEY`)

func TestSecretsAreReferredTo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in installation) {
		for name, pod := range pods(in) {
			known := map[string]bool{}
			for _, v := range pod.Spec.Containers[0].Env {
				if errs := validation.IsEnvVarName(v.Name); known[v.Name] || errs != nil {
					t.Errorf("%s: %s is set twice, or has a bad name: %v", name, v.Name, errs)
				}
				known[v.Name] = true
				if !secret.MatchString(v.Name) {
					continue
				}
				if v.Value != "" || v.ValueFrom == nil || v.ValueFrom.SecretKeyRef == nil || v.ValueFrom.SecretKeyRef.Name == "" || v.ValueFrom.SecretKeyRef.Key == "" {
					t.Errorf("%s: %s does not come from a secret: %+v", name, v.Name, v)
				}
			}
			if !known["DATABASE_URL"] {
				t.Errorf("%s has no database", name)
			}
		}
	})
}

func TestTheServersAreAskedHowTheyAre(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in installation) {
		for _, d := range all[*apps.Deployment](in) {
			c := d.Spec.Template.Spec.Containers[0]
			for path, probe := range map[string]*core.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
				if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port != intstr.FromString("http") {
					t.Errorf("it is not asked %s: %+v", path, probe)
				}
			}
			if c.StartupProbe == nil || c.StartupProbe.HTTPGet == nil || c.StartupProbe.HTTPGet.Path != "/healthz" {
				t.Errorf("nobody waits until it has started: %+v", c.StartupProbe)
			}
		}
	})
}

// TestWhatIsNamedIsThere follows every name from where it is used to what it names.
func TestWhatIsNamedIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in installation) {
		deployment := all[*apps.Deployment](in)[0]
		pod := deployment.Spec.Template
		ports, volumes := map[string]bool{}, map[string]bool{}
		for _, p := range pod.Spec.Containers[0].Ports {
			ports[p.Name] = true
		}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
		}
		for _, m := range pod.Spec.Containers[0].VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("the volume %s is not there", m.Name)
			}
		}
		choose := func(who string, selector *meta.LabelSelector) {
			t.Helper()
			s, err := meta.LabelSelectorAsSelector(selector)
			if err != nil || s.Empty() || !s.Matches(labels.Set(pod.Labels)) {
				t.Errorf("%s does not choose the servers: %v %v", who, selector, err)
			}
			for name, other := range pods(in) {
				if name != deployment.Name && err == nil && s.Matches(labels.Set(other.Labels)) {
					t.Errorf("%s chooses %s, too", who, name)
				}
			}
		}
		choose("the deployment", deployment.Spec.Selector)
		monitored := false
		for _, s := range all[*core.Service](in) {
			choose(s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
			for _, m := range all[*monitoring.ServiceMonitor](in) {
				chosen, err := meta.LabelSelectorAsSelector(&m.Spec.Selector)
				monitored = monitored || err == nil && chosen.Matches(labels.Set(s.Labels)) && s.Spec.Ports[0].Name == m.Spec.Endpoints[0].Port
			}
			for _, p := range s.Spec.Ports {
				if !ports[p.TargetPort.StrVal] {
					t.Errorf("%s leads to the port %s, which the servers have not", s.Name, p.TargetPort.StrVal)
				}
			}
		}
		if len(all[*monitoring.ServiceMonitor](in)) > 0 && !monitored {
			t.Error("the monitor finds no service")
		}
		for _, b := range all[*policy.PodDisruptionBudget](in) {
			choose(b.Name, b.Spec.Selector)
		}
		for _, n := range all[*networking.NetworkPolicy](in) {
			choose(n.Name, &n.Spec.PodSelector)
			wantNarrow(t, n, ports)
		}
		for _, a := range all[*autoscaling.HorizontalPodAutoscaler](in) {
			if to := a.Spec.ScaleTargetRef; to.Name != deployment.Name || to.Kind != deployment.Kind || to.APIVersion != deployment.APIVersion || deployment.Spec.Replicas != nil {
				t.Errorf("it scales %+v, and the deployment %s says %v", to, deployment.Name, deployment.Spec.Replicas)
			}
		}
		for _, i := range all[*networking.Ingress](in) {
			to := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service
			if !slices.ContainsFunc(all[*core.Service](in), func(s *core.Service) bool { return s.Name == to.Name && s.Spec.Ports[0].Name == to.Port.Name }) {
				t.Errorf("the ingress leads to %+v", to)
			}
		}
	})
}

// wantNarrow checks that each rule of a policy is for one port of the servers, and that not everybody may read the metrics.
func wantNarrow(t *testing.T, n *networking.NetworkPolicy, ports map[string]bool) {
	t.Helper()
	for _, rule := range n.Spec.Ingress {
		if len(rule.Ports) != 1 || !ports[rule.Ports[0].Port.StrVal] {
			t.Errorf("a rule is not for one port of the servers: %+v", rule.Ports)
		} else if rule.Ports[0].Port.StrVal == "private" && len(rule.From) == 0 {
			t.Error("everybody may read the metrics")
		}
	}
}

func TestNamesAndLabelsAreSuchAsKubernetesTakes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in installation) {
		known := map[string]bool{}
		for i, object := range in.objects {
			name := fmt.Sprint(in.kinds[i], " ", object.GetName())
			if errs := validation.IsDNS1123Label(object.GetName()); errs != nil || known[name] || object.GetNamespace() != "" {
				t.Errorf("%s: %v, or there twice, or in a namespace of its own", name, errs)
			}
			if cron, is := object.(*batch.CronJob); is && len(cron.Name) > 52 {
				t.Errorf("%s: its jobs' names would be too long", name)
			}
			known[name] = true
			for label, value := range object.GetLabels() {
				if errs := append(validation.IsQualifiedName(label), validation.IsValidLabelValue(value)...); len(errs) > 0 {
					t.Errorf("%s: the label %s: %v", name, label, errs)
				}
			}
		}
	})
}
