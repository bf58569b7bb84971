package otlp

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

// The variables that say where traces go; the one that is about traces alone wins.
const (
	endpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// Settings are OpenTelemetry's variables as far as they are looked at here. The libraries read the others by themselves.
type Settings struct {
	Endpoint string // empty: there are no traces
}

// Read checks the variables in environ ("NAME=value" lines, as os.Environ gives them). What the libraries would ignore is refused: a
// collector that is told of in a way that nobody reads hears nothing, and nobody knows why.
func Read(environ []string) (Settings, error) {
	of := func(name string) string {
		for _, line := range environ {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	s := Settings{}
	for _, name := range []string{endpoint, tracesEndpoint} {
		if value := of(name); value != "" {
			s.Endpoint = value
			if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				return s, fault.Errorf(fault.Invalid, "%s must be an http or https address, like http://localhost:4318.", name)
			}
		}
	}
	if strings.EqualFold(of("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(of("OTEL_TRACES_EXPORTER"), "none") {
		return Settings{}, nil
	}
	if s.Endpoint == "" {
		return s, nil
	}
	return s, checkRest(of)
}

func checkRest(of func(string) string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if !slices.Contains([]string{"", "http/protobuf", "http/json"}, of(name)) {
			return fault.Errorf(fault.Invalid, "%s must be http/protobuf or http/json, not %q: Patchbay sends traces over HTTP, which collectors take at port 4318.", name, of(name))
		}
	}
	if e := of("OTEL_TRACES_EXPORTER"); !slices.Contains([]string{"", "otlp"}, e) {
		return fault.Errorf(fault.Invalid, "OTEL_TRACES_EXPORTER must be otlp or none, not %q.", e)
	}
	sampler := strings.ToLower(of("OTEL_TRACES_SAMPLER"))
	if !slices.Contains([]string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}, sampler) {
		return fault.Errorf(fault.Invalid, "OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, or one of these after parentbased_, not %q.", sampler)
	}
	if arg := of("OTEL_TRACES_SAMPLER_ARG"); arg != "" && strings.HasSuffix(sampler, "traceidratio") {
		if ratio, err := strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return fault.Errorf(fault.Invalid, "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not %q.", arg)
		}
	}
	return nil
}
