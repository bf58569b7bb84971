//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package openapi_test

import (
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"runtime"
	"strings"
	"testing"
)

func TestHostileDocuments_StayBounded(t *testing.T) {
	const maxAllocated, maxDefinition = 600 << 20, 512 << 10
	for name, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, largest := readAll(text)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxAllocated || largest > maxDefinition {
			t.Errorf("%s: %d MiB are allocated, the largest definition has %d bytes", name, allocated>>20, largest)
		}
	}
}

func TestHostileDocuments_AreRefusedWithASentence(t *testing.T) {
	t.Parallel()
	all := hostile()
	for name, want := range map[string]string{
		"nested far": "", "nested YAML": "", "values": "too many values", "bomb": "too many values", "alias texts": "too many values", "flow YAML": "too many values", "operations": "more than 10000 operations",
	} {
		_, err := openapi.Read([]byte(all[name]), openapi.Options{URL: "https://example.com/x"})
		f := fault.As(err)
		if err == nil || f.Kind == fault.Internal || !strings.Contains(f.Message, want) || len(f.Message) > 200 || !strings.HasSuffix(f.Message, ".") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
