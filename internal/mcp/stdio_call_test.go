package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/mcp"
)

// runCallPeer is a stdio server of either era. Its tools:
//
//	pair     answers the second of two calls first
//	tells    reports its progress and that of an unknown call, then answers
//	asks     answers with the client's roots/list
//	waits    reports progress, and answers when another call is cancelled
//	holds    reports progress, and never answers
//	dies     exits the process
func runCallPeer(modern bool) {
	type message struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
		Params struct {
			Name      string
			Arguments json.RawMessage
			RequestID json.RawMessage
			Meta      map[string]json.RawMessage `json:"_meta"`
		}
	}
	answer := func(id json.RawMessage, text string) {
		kind := ""
		if modern {
			kind = `"resultType":"complete",`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{%s"content":[],"structuredContent":{"said":%s}}}`+"\n", id, kind, text)
	}
	var first, waiting, asked *message
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			os.Exit(5) // half a message: it was not on one line
		}
		if modern && m.ID != nil && string(m.Params.Meta["io.modelcontextprotocol/protocolVersion"]) != `"2026-07-28"` {
			os.Exit(6)
		}
		switch {
		case m.Method == "server/discover" && modern:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`+"\n", m.ID)
		case m.Method == "initialize" && !modern:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}}`+"\n", m.ID)
		case m.Method == "notifications/cancelled" && waiting != nil:
			answer(waiting.ID, fmt.Sprintf(`"cancelled %s"`, m.Params.RequestID))
		case m.Method == "" && asked != nil:
			answer(asked.ID, string(m.Result))
		case m.Method != "tools/call":
			if m.ID != nil {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
			}
		case m.Params.Name == "pair" && first == nil:
			first = &m
		case m.Params.Name == "pair":
			answer(m.ID, string(m.Params.Arguments))
			answer(first.ID, string(first.Params.Arguments))
			first = nil
		case m.Params.Name == "tells":
			for _, token := range []string{string(m.Params.Meta["progressToken"]), "4711"} {
				fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half of %s"}}`+"\n", token, token)
			}
			answer(m.ID, `"all"`)
		case m.Params.Name == "asks":
			asked = &m
			fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		case m.Params.Name == "waits", m.Params.Name == "holds":
			if m.Params.Name == "waits" {
				waiting = &m
			}
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", m.Params.Meta["progressToken"])
		case m.Params.Name == "dies":
			os.Exit(9)
		case m.Params.Name == "lives":
			answer(m.ID, fmt.Sprint(os.Getpid()))
		}
	}
}

// eras are the modes of runCallPeer.
var eras = map[string]mcp.Era{"calls modern": mcp.EraModern, "calls handshake": mcp.EraHandshake}

func formatResult(t *testing.T, r *mcp.Result, err error) string {
	t.Helper()
	if err != nil {
		t.Error(err)
		return ""
	}
	var result struct {
		StructuredContent struct{ Said json.RawMessage }
	}
	if err := json.Unmarshal(r.Raw, &result); err != nil {
		t.Error(err)
	}
	return string(result.StructuredContent.Said)
}

// inEachEra runs a test with a program of each era, which must be detected.
func inEachEra(t *testing.T, test func(*testing.T, *mcp.Session)) {
	t.Parallel()
	for mode, era := range eras {
		t.Run(string(era), func(t *testing.T) {
			t.Parallel()
			target := newProgramTarget(t, mode)
			markPeer(t, target)
			s := dial(t, target)
			if s.Era() != era {
				t.Errorf("the era is %q, want %q", s.Era(), era)
			}
			test(t, s)
		})
	}
}

func TestStdio_ConcurrentCallsGetTheirResults(t *testing.T) {
	inEachEra(t, func(t *testing.T, s *mcp.Session) {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				// Arguments may contain line breaks; a message is one line all the same.
				arguments := json.RawMessage(fmt.Sprintf("{\n\"i\":\r\n%d}", i))
				got, err := s.Call(t.Context(), mcp.Call{Name: "pair", Arguments: arguments})
				if text := strings.Join(strings.Fields(formatResult(t, got, err)), ""); text != fmt.Sprintf(`{"i":%d}`, i) {
					t.Errorf("call %d got %s", i, text)
				}
			})
		}
		all.Wait()
	})
}

func TestStdio_CallGetsItsOwnProgress(t *testing.T) {
	inEachEra(t, func(t *testing.T, s *mcp.Session) {
		var heard []mcp.ProgressNotification
		got, err := s.Call(t.Context(), mcp.Call{Name: "tells", Progress: func(p mcp.ProgressNotification) { heard = append(heard, p) }})
		if text := formatResult(t, got, err); text != `"all"` || len(heard) != 1 || heard[0].Progress != 1 || heard[0].Total != 2 {
			t.Errorf("%s, %+v", text, heard)
		}
	})
}

func TestStdio_CancelledContextSendsCancelled(t *testing.T) {
	inEachEra(t, func(t *testing.T, s *mcp.Session) {
		there, done := make(chan struct{}), make(chan string)
		go func() {
			got, err := s.Call(t.Context(), mcp.Call{Name: "waits", Progress: func(mcp.ProgressNotification) { close(there) }})
			done <- formatResult(t, got, err)
		}()
		<-there
		ctx, give := context.WithCancel(t.Context())
		defer give()
		if _, err := s.Call(ctx, mcp.Call{Name: "holds", Progress: func(mcp.ProgressNotification) { give() }}); err == nil {
			t.Error("a call that was given up has a result")
		}
		if text := <-done; !strings.HasPrefix(text, `"cancelled `) || text == `"cancelled "` {
			t.Errorf("the program hears %s", text)
		}
	})
}

func TestStdio_ServerRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	target := newProgramTarget(t, "calls handshake")
	target.Capabilities = json.RawMessage(`{"roots":{}}`)
	got, err := dial(t, target).Call(t.Context(), mcp.Call{Name: "asks", Answer: func(asked mcp.InputRequest) (json.RawMessage, error) {
		return json.RawMessage("{\"roots\":[],\n\"for\":\"" + asked.Method + "\"}"), nil
	}})
	if text := formatResult(t, got, err); text != `{"roots":[], "for":"roots/list"}` {
		t.Errorf("it hears %s", text)
	}
}

func TestStdio_DeadProgramIsRestarted(t *testing.T) {
	inEachEra(t, func(t *testing.T, s *mcp.Session) {
		before := findProcess(t, s)
		_, err := s.Call(t.Context(), mcp.Call{Name: "dies"})
		if failure, ok := errors.AsType[*mcp.Error](err); !ok || failure.Detail != "ended before its reply, with exit code 9" {
			t.Errorf("the call that it died of: %v", err)
		}
		if after := findProcess(t, s); after == "" || after == before {
			t.Errorf("process %s, then %s", before, after)
		}
	})
}

func findProcess(t *testing.T, s *mcp.Session) string {
	t.Helper()
	got, err := s.Call(t.Context(), mcp.Call{Name: "lives"})
	return formatResult(t, got, err)
}
