package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"

	"patchbay/internal/safe"
)

// benchServers are MCP servers in this process: as many listeners as there would be hosts, each for many connectors. They do as little
// as a server can.
type benchServers struct {
	edition  atomic.Int64 // of every tool's description
	requests atomic.Int64
	listed   int
	modern   bool // they speak 2026-07-28 alone
	servers  []*http.Server
	hosts    []string
	free     chan struct{} // closed when those that hang may go
	apart    *exec.Cmd     // nil: they are in this process
	end      io.Closer     // its standard input
}

// benchHosts is how many servers there are.
const benchHosts = 64

func startBenchServers(ctx context.Context, tools int, modern bool) (*benchServers, error) {
	s := &benchServers{listed: tools, modern: modern, free: make(chan struct{})}
	for range benchHosts {
		var listen net.ListenConfig
		listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			s.close()
			return nil, err
		}
		server := &http.Server{Handler: s, ReadHeaderTimeout: readHeaderTimeout}
		s.servers, s.hosts = append(s.servers, server), append(s.hosts, listener.Addr().String())
		safe.Go(safe.Task, func() { _ = server.Serve(listener) }) // until close
	}
	return s, nil
}

func (s *benchServers) close() {
	close(s.free)
	for _, server := range s.servers {
		_ = server.Close()
	}
	if s.apart != nil {
		_ = s.end.Close()
		_ = s.apart.Wait()
	}
}

// url is the address of a connector's server. One that hangs has a host for itself and its like.
func (s *benchServers) url(connector int, hangs bool) string {
	if hangs {
		return "http://" + s.hosts[connector%4] + "/hang/" + strconv.Itoa(connector)
	}
	return "http://" + s.hosts[4+connector%(benchHosts-4)] + "/" + strconv.Itoa(connector)
}

// ServeHTTP answers as a server of the handshake's era with sessions, which most are, or as one of the next era.
func (s *benchServers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if strings.HasPrefix(r.URL.Path, "/hang/") {
		select {
		case <-s.free:
		case <-r.Context().Done():
		}
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusOK)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := requestID(body)
	switch {
	case bytes.Contains(body, []byte(`"tools/list"`)):
		s.list(w, id, r.URL.Path)
	case s.modern && bytes.Contains(body, []byte(`"server/discover"`)):
		answer(w, id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"},"ttlMs":0,"cacheScope":"private"}`)
	case !s.modern && bytes.Contains(body, []byte(`"initialize"`)):
		w.Header().Set("Mcp-Session-Id", "session"+strings.ReplaceAll(r.URL.Path, "/", "-"))
		answer(w, id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case id == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
	}
}

// list lists tools of about a kilobyte each; path makes them this connector's own.
func (s *benchServers) list(w http.ResponseWriter, id, path string) {
	var b strings.Builder
	b.Grow(s.listed * 1100)
	b.WriteByte('{')
	if s.modern {
		b.WriteString(`"resultType":"complete",`)
	}
	b.WriteString(`"tools":[`)
	edition := strconv.FormatInt(s.edition.Load(), 10)
	for i := range s.listed {
		if i > 0 {
			b.WriteByte(',')
		}
		n := strconv.Itoa(i)
		b.WriteString(`{"name":"tool_` + n + `","title":"Tool ` + n + `","description":"Finds the things of ` + path + `, edition ` + edition + `."`)
		b.WriteString(benchSchema)
	}
	b.WriteString(`]}`)
	answer(w, id, b.String())
}

var benchSchema = func() string {
	properties := make([]string, 6)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"parameter_%d":{"type":"string","description":"What the parameter %d of this tool is for, in a sentence of usual length."}`, i, i)
	}
	return `,"inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":["parameter_0"]},"annotations":{"readOnlyHint":true}}`
}()

func answer(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`)
}

// requestID is the id of a request of our own client, as it wrote it; empty: a notification.
func requestID(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(`"id":`))
	if !ok {
		return ""
	}
	end := bytes.IndexAny(rest, ",}")
	return string(rest[:max(end, 0)])
}
