package listchanges_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/listchanges"
	"patchbay/internal/testing/fixture"
)

// peerEnv makes the test binary a server in its own process, so that its memory is not counted.
const peerEnv = "LISTENING_TEST_PEER"

func TestMain(m *testing.M) {
	if era := os.Getenv(peerEnv); era != "" {
		runPeer(era == "modern")
		return
	}
	os.Exit(m.Run())
}

// runPeer serves until its standard input ends.
func runPeer(modern bool) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, modern) }))
	fmt.Println(up.URL)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

func answer(w http.ResponseWriter, r *http.Request, modern bool) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	reply := func(result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
	switch {
	case r.Method == http.MethodGet || m.Method == "subscriptions/listen":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case modern && m.Method == "server/discover":
		reply(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + capable + `}`)
	case m.Method == "initialize":
		reply(`{"protocolVersion":"2025-11-25","capabilities":` + capable + `,"serverInfo":{"name":"peer","version":"1"}}`)
	case m.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func startPeer(b *testing.B, era string) (url string) {
	b.Helper()
	self, err := os.Executable()
	must(b, err)
	child := exec.CommandContext(b.Context(), self)
	child.Env = append(os.Environ(), peerEnv+"="+era)
	in, err := child.StdinPipe()
	must(b, err)
	out, err := child.StdoutPipe()
	must(b, err)
	must(b, child.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	url, err = bufio.NewReader(out).ReadString('\n')
	must(b, err)
	return strings.TrimSpace(url)
}

// BenchmarkStreams holds a thousand streams over plain HTTP and reports the memory of each.
//
//	make bench
func BenchmarkStreams(b *testing.B) {
	const streams = 1000
	for _, era := range []string{"handshake", "modern"} {
		b.Run(era, func(b *testing.B) {
			w, url := fixture.New(b), startPeer(b, era)
			for range streams {
				c := w.Connector(b, func(d *connectors.Draft) { d.URL = url })
				w.TellsOfChanges(b, w.Tenant, c.ID)
			}
			before := memory()
			b.ResetTimer()
			p := start(b, w, func(o *listchanges.Options) { o.MaxPerTenant, o.MaxPerHost = streams, streams })
			within(b, "all are open", func() bool { return p.Stats().Streams == streams })
			b.StopTimer()
			b.ReportMetric(float64(memory()-before)/streams/1024, "KiB/stream")
			b.ReportMetric(b.Elapsed().Seconds()*1e6/streams, "µs/stream")
		})
	}
}

// memory is the live heap with the stacks.
func memory() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
