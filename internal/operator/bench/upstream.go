package bench

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
	"time"

	"patchbay/internal/safe"
)

// upstreams are minimal MCP servers in this process: one listener per host, each for many connectors.
type upstreams struct {
	toolsVersion atomic.Int64 // part of every tool's description
	requests     atomic.Int64
	listed       int
	modern       bool // protocol 2026-07-28 only
	servers      []*http.Server
	hosts        []string
	release      chan struct{} // closed to release hanging requests
	process      *exec.Cmd     // nil: they are in this process
	stdin        io.Closer     // of process
}

// readHeaderTimeout bounds the time for a request's head.
const readHeaderTimeout = 10 * time.Second

// hostCount is the number of hosts.
const hostCount = 64

func startUpstreams(ctx context.Context, tools int, modern bool) (*upstreams, error) {
	s := &upstreams{listed: tools, modern: modern, release: make(chan struct{})}
	for range hostCount {
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

func (s *upstreams) close() {
	close(s.release)
	for _, server := range s.servers {
		_ = server.Close()
	}
	if s.process != nil {
		_ = s.stdin.Close()
		_ = s.process.Wait()
	}
}

// connectorURL is the URL of a connector's server. Servers that hang have their own host.
func (s *upstreams) connectorURL(connector int, hangs bool) string {
	if hangs {
		return "http://" + s.hosts[connector%4] + "/hang/" + strconv.Itoa(connector)
	}
	return "http://" + s.hosts[4+connector%(hostCount-4)] + "/" + strconv.Itoa(connector)
}

// ServeHTTP responds as a server of the handshake protocol with sessions, as most do, or of 2026-07-28.
func (s *upstreams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if strings.HasPrefix(r.URL.Path, "/hang/") {
		select {
		case <-s.release:
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
	id := parseRequestID(body)
	switch {
	case bytes.Contains(body, []byte(`"tools/list"`)):
		s.writeTools(w, id, r.URL.Path)
	case s.modern && bytes.Contains(body, []byte(`"server/discover"`)):
		writeResult(w, id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"},"ttlMs":0,"cacheScope":"private"}`)
	case !s.modern && bytes.Contains(body, []byte(`"initialize"`)):
		w.Header().Set("Mcp-Session-Id", "session"+strings.ReplaceAll(r.URL.Path, "/", "-"))
		writeResult(w, id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case id == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
	}
}

// writeTools lists tools of about 1 KB each; path makes them unique to this connector.
func (s *upstreams) writeTools(w http.ResponseWriter, id, path string) {
	var b strings.Builder
	b.Grow(s.listed * 1100)
	b.WriteByte('{')
	if s.modern {
		b.WriteString(`"resultType":"complete",`)
	}
	b.WriteString(`"tools":[`)
	edition := strconv.FormatInt(s.toolsVersion.Load(), 10)
	for i := range s.listed {
		if i > 0 {
			b.WriteByte(',')
		}
		n := strconv.Itoa(i)
		b.WriteString(`{"name":"tool_` + n + `","title":"Tool ` + n + `","description":"Finds the things of ` + path + `, edition ` + edition + `."`)
		b.WriteString(toolSchema)
	}
	b.WriteString(`]}`)
	writeResult(w, id, b.String())
}

var toolSchema = func() string {
	properties := make([]string, 6)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"parameter_%d":{"type":"string","description":"What the parameter %d of this tool is for, in a sentence of usual length."}`, i, i)
	}
	return `,"inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":["parameter_0"]},"annotations":{"readOnlyHint":true}}`
}()

func writeResult(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`)
}

// parseRequestID returns the id of a request of Patchbay's client, as sent; empty: a notification.
func parseRequestID(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(`"id":`))
	if !ok {
		return ""
	}
	end := bytes.IndexAny(rest, ",}")
	return string(rest[:max(end, 0)])
}
