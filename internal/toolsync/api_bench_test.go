package toolsync_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
)

// githubDocument is fetched by conformance/openapi/fetch.
const githubDocument = "../../bin/openapi/GitHub.json"

// Bounds of a sync of a document as large as GitHub's.
const (
	maxAPISyncCPU  = 2 * time.Second
	maxAPISyncPeak = 256 << 10 // KiB
)

// BenchmarkSync_AnAPIOfGitHub syncs 1,000 operations of GitHub's document, 13 MB, which is new each time (changed) or as before. It
// reports our CPU, with that of the document's server, and the memory at the peak. It fails above their bounds, and if an unchanged
// document costs more than one conditional request. Without GitHub's document, it takes one of its size.
//
//	conformance/openapi/fetch && go test ./internal/toolsync -run '^$' -bench GitHub -benchtime 3x
func BenchmarkSync_AnAPIOfGitHub(b *testing.B) {
	document, err := os.ReadFile(githubDocument)
	if err != nil {
		b.Log("a generated document: conformance/openapi/fetch has not been run")
		document = generateDocument(connectors.MaxAPITools, 13<<20)
	}
	for _, mode := range []string{"changed", "unchanged"} {
		b.Run(mode, func(b *testing.B) { benchmarkAPISync(b, document, mode == "changed") })
	}
}

func benchmarkAPISync(b *testing.B, document []byte, changed bool) {
	version := 0
	var requests, conditional atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		etag := `"` + strconv.Itoa(version) + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			conditional.Add(1)
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
	requests.Store(0)
	conditional.Store(0)
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
	cpu, peak := (ownCPU(b)-own)/time.Duration(b.N), memoryStatus(b, "VmHWM")-before
	b.ReportMetric(cpu.Seconds(), "cpu-s/sync")
	b.ReportMetric(float64(peak)/(1<<10), "peak-MiB")
	b.ReportMetric(float64(before)/(1<<10), "before-MiB")
	if cpu > maxAPISyncCPU || peak > maxAPISyncPeak {
		b.Errorf("a sync takes %v of CPU and %d MiB, want at most %v and %d MiB", cpu, peak>>10, maxAPISyncCPU, maxAPISyncPeak>>10)
	}
	wantConditional := int64(b.N)
	if changed {
		wantConditional = 0
	}
	if requests.Load() != int64(b.N) || conditional.Load() != wantConditional {
		b.Errorf("%d requests, %d of them answered by 304, for %d syncs", requests.Load(), conditional.Load(), b.N)
	}
}

// generateDocument returns a document with n operations and about size bytes. Like GitHub's, most of it is examples.
func generateDocument(n, size int) []byte {
	properties := ""
	for i := range 20 {
		properties += fmt.Sprintf(`"q%d":{"type":["string","null"],"description":"A property of the item, as a text."},`, i)
	}
	example := strings.Repeat("An example. ", size/n/12)
	var out strings.Builder
	out.WriteString(`{"openapi":"3.1.0","info":{"title":"Items","version":"1"},"servers":[{"url":"/v1"}],"paths":{`)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `"/items%[1]d/{id}":{"get":{"operationId":"get%[1]d","summary":"Get an item","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},`+
			`{"name":"page","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{`+
			properties+`"id":{"type":"string"}}},"examples":{"one":{"value":{"text":"`+example+`"}}}}}}}}}`, i)
	}
	out.WriteString("}}")
	return []byte(out.String())
}

func operationKeys(b *testing.B, document []byte) (keys []string) {
	b.Helper()
	d, err := apitools.Read(document, apitools.Addresses{Document: "https://api.example.com/openapi.json"}, nil)
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
