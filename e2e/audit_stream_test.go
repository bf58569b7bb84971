//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// streamedEvent is what a test reads of an event.
type streamedEvent struct {
	Metadata struct {
		UID      string
		Sequence int64
		LogName  string `json:"log_name"`
	}
	Unmapped struct {
		Patchbay struct {
			Chain struct {
				N, Index, Of int64
				Hash         string
				PreviousHash string `json:"previous_hash"`
			}
			Gap *struct{ From, To int64 }
		}
	}
	raw string
}

// siem is a receiver of an audit stream. While holding is set, it takes a batch and does not confirm it before release.
type siem struct {
	t       *testing.T
	mu      sync.Mutex
	events  []streamedEvent // guarded by mu; all, in the order of their arrival
	holding chan struct{}   // guarded by mu; nil: each batch is confirmed
	taken   chan struct{}   // gets an item when a batch is held
}

func newSIEM(t *testing.T) *siem { return &siem{t: t, taken: make(chan struct{}, 100)} }

func (s *siem) hold() (release func()) {
	held := make(chan struct{})
	s.mu.Lock()
	s.holding = held
	for len(s.taken) > 0 {
		<-s.taken
	}
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.holding = nil
		s.mu.Unlock()
		close(held)
	})
}

// take stores a batch, and returns when it may be confirmed.
func (s *siem) take(batch []streamedEvent, gone <-chan struct{}) {
	s.mu.Lock()
	s.events = append(s.events, batch...)
	held := s.holding
	if held != nil {
		s.taken <- struct{}{}
	}
	s.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case <-held:
	case <-gone:
	}
}

func (s *siem) waitTaken() {
	s.t.Helper()
	select {
	case <-s.taken:
	case <-time.After(patience):
		s.t.Fatal("waited for a batch that the receiver holds")
	}
}

func (s *siem) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}

func (s *siem) parse(raw []byte) (e streamedEvent) {
	if err := json.Unmarshal(raw, &e); err != nil {
		s.t.Errorf("%q: %v", raw, err)
	}
	e.raw = string(raw)
	return e
}

// serveHTTPS is the receiver of an HTTPS stream.
func (s *siem) serveHTTPS() object {
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender died
		}
		var batch []streamedEvent
		for line := range bytes.Lines(body) {
			batch = append(batch, s.parse(bytes.TrimSpace(line)))
		}
		s.take(batch, r.Context().Done())
	}))
	s.t.Cleanup(there.Close)
	return object{"name": "SIEM", "kind": "https", "url": there.URL}
}

// serveSyslog is the receiver of a syslog stream.
func (s *siem) serveSyslog() object {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: certified.TLS.Certificates})
	if err != nil {
		s.t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { s.readFrames(ended, c) })
		}
	})
	s.t.Cleanup(func() { end(); _ = listener.Close(); conns.Wait() })
	return object{"name": "Syslog", "kind": "syslog", "url": "tls://" + listener.Addr().String(), "ca": string(ca)}
}

// readFrames reads the frames of a connection (RFC 5425), and closes it.
func (s *siem) readFrames(ctx context.Context, c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	var batch []streamedEvent
	in := bufio.NewReader(c)
	for {
		length, err := in.ReadString(' ')
		if errors.Is(err, io.EOF) && length == "" {
			break
		}
		n, _ := strconv.Atoi(strings.TrimSuffix(length, " "))
		if err != nil || n < 1 {
			return // the sender died
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		_, event, _ := bytes.Cut(message, []byte(" - {"))
		batch = append(batch, s.parse(append([]byte("{"), event...)))
	}
	s.take(batch, ctx.Done())
}

// wantEvery checks that both chains arrived without a gap up to these positions. A record that arrived again is the same by
// its log and number. It returns how many did.
func (s *siem) wantEvery(ends map[string]int64) (repeated int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	next, hash, seen := map[string]int64{}, map[string]string{}, map[string]string{}
	for _, e := range s.events {
		log, chain := e.Metadata.LogName, e.Unmapped.Patchbay.Chain
		key := fmt.Sprint(log, " ", e.Metadata.Sequence)
		if first, again := seen[key]; again {
			if repeated++; first != e.raw {
				s.t.Errorf("%s\narrived again as\n%s", first, e.raw)
			}
			continue
		}
		seen[key] = e.raw
		if next[log] == 0 {
			next[log] = e.Metadata.Sequence
		}
		if e.Metadata.Sequence != next[log] || e.Unmapped.Patchbay.Gap != nil {
			s.t.Fatalf("%s has %d, want %d", log, e.Metadata.Sequence, next[log])
		}
		if chain.Index == 1 && hash[log] != "" && chain.PreviousHash != hash[log] {
			s.t.Errorf("%s: link %d does not follow the one before", log, chain.N)
		}
		next[log]++
		hash[log] = chain.Hash
	}
	for log, end := range ends {
		if next[log] != end+1 {
			s.t.Errorf("%s ends before %d, want %d", log, next[log], end)
		}
	}
	return repeated
}

// streamLoad makes calls and audit entries at a server until stop.
func (c client) streamLoad(a agent) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	message, header := modern("tools/call", `"name":"mcp_slow__quick","arguments":{}`)
	var load sync.WaitGroup
	load.Go(func() {
		for ctx.Err() == nil {
			_, _, _, _ = a.try(ctx, "/mcp", message, header...)
		}
	})
	load.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, _, _ = c.try(http.MethodPatch, "/api/v1/agents/helper", object{"description": fmt.Sprint("Load ", i)})
		}
	})
	return func() { cancel(); load.Wait() }
}

// A server is killed under load after the receiver took a batch and before the position is stored, and so is the replica that
// goes on. No record is missing, and what arrived twice has the same number.
func TestAuditStream_KillsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"https", "syslog"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h, database := ownDatabase(t)
			up, there := newSlow(t), newSIEM(t)
			first := h.serve()
			c := client{t: t, base: first.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
			c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
			c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
			a := c.hire("helper", "slow")
			settings := there.serveHTTPS
			if kind == "syslog" {
				settings = there.serveSyslog
			}
			release := there.hold()
			made := c.must(http.StatusCreated, http.MethodPost, "/api/v1/audit_streams", settings())
			stop := c.streamLoad(a)
			server := first
			killHolder := func() {
				t.Helper()
				there.waitTaken()
				next := h.serve()
				server.kill()
				stop()
				release()
				// The lease of the killed process ends a minute later: brought forward.
				if _, err := database.Exec(t.Context(), "update audit_streams set leased_until = now() - interval '1 second' where lease is not null"); err != nil {
					t.Fatal(err)
				}
				server, c.base, a.base = next, next.base, next.base
				stop = c.streamLoad(a)
				before := there.count()
				eventually(t, func() error {
					if now := there.count(); now < before+100 {
						return fmt.Errorf("%d events after the kill", now-before)
					}
					return nil
				})
			}
			killHolder()
			release = there.hold()
			killHolder()
			stop()
			path := fmt.Sprintf("/api/v1/audit_streams/%v", made["id"])
			var now object
			eventually(t, func() error {
				if now = c.must(http.StatusOK, http.MethodGet, path, nil); now["behind"] != 0.0 {
					return fmt.Errorf("stream = %v", now)
				}
				return nil
			})
			repeated := there.wantEvery(map[string]int64{"audit": int64(now["audit_position"].(float64)), "calls": int64(now["calls_position"].(float64))})
			if repeated == 0 || now["gap"] != nil && now["gap"] != "" {
				t.Errorf("%d records arrived again, stream = %v", repeated, now)
			}
			t.Logf("%d events, 0 gaps, %d repeated under the same number", there.count(), repeated)
		})
	}
}
