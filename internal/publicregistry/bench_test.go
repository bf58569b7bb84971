package publicregistry_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

// BenchmarkWrongAddresses reports the time for each form of wrong address as a ratio to that for an unknown one. The
// forms take turns, so that load of the machine is the same for all.
func BenchmarkWrongAddresses(b *testing.B) {
	w := newRegistryTest(b)
	_, path := w.publish(b, connectors.Registry{EveryConnector: true})
	forms := map[string]string{
		"unknown": "/registry/" + strings.Repeat("0", 40) + "/v0.1/servers", "almost": path[:len(path)-1] + "x/v0.1/servers", "malformed": "/registry/x",
	}
	spent := map[string]time.Duration{}
	for b.Loop() {
		for form, target := range forms {
			start := time.Now()
			if res := w.send(b, http.MethodGet, target); res.StatusCode != http.StatusNotFound {
				b.Fatal(form, res.StatusCode)
			}
			spent[form] += time.Since(start)
		}
	}
	for form := range forms {
		b.ReportMetric(float64(spent[form])/float64(spent["unknown"]), form+"/unknown")
	}
}
