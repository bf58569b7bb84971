//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/pgtest"
)

// growing is a server of a third-party SDK that adds tools, and announces them.
type growing struct {
	*sdk.Server
	url string
}

func newGrowing(t *testing.T, stateless bool) *growing {
	t.Helper()
	g := &growing{Server: sdk.NewServer(&sdk.Implementation{Name: "growing", Version: "v1"}, nil)}
	g.grow("first")
	g.url = serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return g.Server }, &sdk.StreamableHTTPOptions{Stateless: stateless}))
	return g
}

func (g *growing) grow(tool string) {
	g.AddTool(&sdk.Tool{Name: tool, InputSchema: map[string]any{"type": "object"}}, echo)
}

// listener is a third-party client that receives changes of its tools.
func (g gate) listener(t *testing.T, path string) (session *sdk.ClientSession, heard <-chan struct{}) {
	t.Helper()
	changed := make(chan struct{}, 100)
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	way := &sdk.StreamableClientTransport{Endpoint: g.base + path, HTTPClient: &http.Client{Transport: g}}
	session, err := client.Connect(ctx, way, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session, changed
}

// hears waits until the agent was told of its tools, and this one is among them.
func hears(t *testing.T, session *sdk.ClientSession, heard <-chan struct{}, tool string) {
	t.Helper()
	for late := time.After(patience); ; {
		select {
		case <-heard:
		case <-late:
			t.Fatalf("nobody told of the tool %q", tool)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list.Tools, func(found *sdk.Tool) bool { return found.Name == tool }) {
			return
		}
	}
}

// An agent hears of a new tool of a server, at whatever process it listens, also when the one that listened to the server is killed.
func TestListening_SurvivesDeathOfProcess(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless %v", stateless), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.env = append(h.env, "PATCHBAY_PRIVATE_ADDR=127.0.0.1:0", "PATCHBAY_LOG_FORMAT=json", "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+pgtest.Empty(t))
			first := h.launch()
			first.waitReady()
			up := newGrowing(t, stateless)
			c := client{t: t, base: first.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
			c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors",
				object{"name": "Growing", "url": up.url, "sync_interval_s": 0, "tool_changes": "auto"})
			c.must(http.StatusOK, http.MethodPost, "/connectors/growing/sync_tools", nil)
			since := c.listens(t, "growing", nil) // the first process, for there is no other
			second := h.launch()
			second.waitReady()

			robin := c.hire("robin", "growing")
			session, heard := gate{base: second.base, token: robin.token}.listener(t, "/mcp/growing")
			second.hasListener(t)
			up.grow("second")
			hears(t, session, heard, "second")

			first.kill()
			c.base = second.base
			up.grow("missed")
			c.listens(t, "growing", since)
			hears(t, session, heard, "missed")
			up.grow("third")
			hears(t, session, heard, "third")
			if code := second.terminate(); code != 0 {
				t.Errorf("the second process ended with %d", code)
			}
		})
	}
}

// listens waits until a connector's server is listened to on a stream that was opened at another time, and returns that time.
func (c client) listens(t *testing.T, connector string, since any) (opened any) {
	t.Helper()
	eventually(t, func() error {
		shown := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/"+connector, nil)
		l, _ := shown["listening"].(object)
		if opened = l["since"]; l["state"] != "listening" || opened == since {
			return fmt.Errorf("listening: %v", shown["listening"])
		}
		return nil
	})
	return opened
}

// hasListener waits until an agent listens at a process: a client that has connected need not listen yet.
func (s *server) hasListener(t *testing.T) {
	t.Helper()
	started, _ := s.stderr.wait("private listener started", s.exited)
	var line struct{ Addr string }
	if err := json.Unmarshal([]byte(started), &line); err != nil {
		t.Fatalf("the log line of the private listener: %v: %s", err, started)
	}
	p := newPerson(t)
	eventually(t, func() error {
		if strings.Contains(p.get("http://"+line.Addr+"/metrics").body, "patchbay_gateway_listeners 1") {
			return nil
		}
		return errors.New("no agent listens")
	})
}
