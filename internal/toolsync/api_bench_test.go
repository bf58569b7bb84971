package toolsync_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
)

// githubDocument is fetched by conformance/openapi/fetch.
const githubDocument = "../../bin/openapi/GitHub.json"

// BenchmarkSync_AnAPIOfGitHub syncs 1,000 operations of GitHub's document, 13 MB, which is new each time (changed) or as before. It
// reports our CPU, with that of the document's server, and the memory at the peak.
//
//	conformance/openapi/fetch && go test ./internal/toolsync -run '^$' -bench GitHub -benchtime 3x
func BenchmarkSync_AnAPIOfGitHub(b *testing.B) {
	document, err := os.ReadFile(githubDocument)
	if err != nil {
		b.Skip("conformance/openapi/fetch has not been run")
	}
	for _, mode := range []string{"changed", "unchanged"} {
		b.Run(mode, func(b *testing.B) { benchmarkAPISync(b, document, mode == "changed") })
	}
}

func benchmarkAPISync(b *testing.B, document []byte, changed bool) {
	version := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		etag := `"` + strconv.Itoa(version) + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(document)
		_, _ = w.Write(bytes.Repeat([]byte(" "), version))
	}))
	b.Cleanup(server.Close)
	w := newBundle(b)
	c := w.addAPI(b, server.URL, operationKeys(b, document)...)
	w.mustSync(b, c)
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) // the peak begins anew
	before := memoryStatus(b, "VmRSS")
	b.ResetTimer()
	own := ownCPU(b)
	for b.Loop() {
		if changed {
			version++
		}
		if run := w.mustSync(b, c); run.Counts.Total != connectors.MaxAPITools || run.Counts.Changed != 0 {
			b.Fatalf("the counts are %+v", run.Counts)
		}
	}
	b.ReportMetric((ownCPU(b)-own).Seconds()/float64(b.N), "cpu-s/sync")
	b.ReportMetric(float64(memoryStatus(b, "VmHWM")-before)/(1<<10), "peak-MiB")
	b.ReportMetric(float64(before)/(1<<10), "before-MiB")
}

func operationKeys(b *testing.B, document []byte) (keys []string) {
	b.Helper()
	d, err := apitools.Read(document, apitools.Addresses{Document: "https://api.example.com/openapi.json"})
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range d.Operations[:connectors.MaxAPITools] {
		keys = append(keys, o.Key())
	}
	return keys
}

// memoryStatus returns a field of /proc/self/status in KiB; 0: this system has none.
func memoryStatus(b *testing.B, field string) int {
	b.Helper()
	text, _ := os.ReadFile("/proc/self/status")
	match := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(text)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(match[1]))
	return n
}
