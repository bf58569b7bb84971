//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The TypeScript SDK's client finds everything behind the gateway, at both kinds of address.
func TestTheTypeScriptClientWorksThroughTheGateway(t *testing.T) {
	t.Parallel()
	needPeers(t)
	box := newToolbox(t, &sdk.StreamableHTTPOptions{})
	g := admin(t).admit(map[string]*toolbox{"box": box})
	for _, args := range [][]string{{g.base + "/mcp", g.token, "mcp_box__", "patchbay+box:"}, {g.base + "/mcp/box", g.token, "", ""}} {
		got := runAgent(t, box, args)
		prefix, scheme := args[2], args[3]
		for _, list := range [][]string{got.Tools, got.Prompts, got.Resources, got.Templates} {
			if len(list) == 0 || !strings.HasPrefix(list[0], prefix) && !strings.HasPrefix(list[0], scheme) {
				t.Errorf("at %s: a list is %q", args[0], list)
			}
		}
		if !slices.Contains(got.Tools, prefix+"echo") || !slices.Contains(got.Resources, scheme+"file:///notes.txt") {
			t.Errorf("at %s: tools %q, resources %q", args[0], got.Tools, got.Resources)
		}
		want := map[string]string{
			"echo": `{"text":"5 < 6 & ✓"}`, "fail": "The printer is on fire.", "count": "counted", "ask": "Hello, Robin!",
			"read": "contents of file:///notes.txt", "greet": "Greet Ann.", "complete": "Anna",
		}
		have := map[string]string{
			"echo": got.Echo.text(), "fail": got.Fail.text(), "count": got.Count.text(), "ask": got.Ask.text(),
			"read": got.Read.Contents[0].Text, "greet": got.Greet.Messages[0].Content.Text, "complete": got.Complete.Completion.Values[0],
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", args[0], diff)
		}
		if !got.Misfit.IsError || got.Unknown.Code != -32602 || !got.Fail.IsError || len(got.Progress) != 3 {
			t.Errorf("at %s: %+v, %+v, %v, %+v", args[0], got.Misfit, got.Unknown, got.Fail.IsError, got.Progress)
		}
	}
}

// transcript is what peers/agent.mjs prints.
type transcript struct {
	Tools, Prompts, Resources, Templates []string
	Echo, Fail, Count, Ask, Misfit       called
	Unknown                              struct{ Code int }
	Progress                             []struct{ Progress, Total float64 }
	Read                                 struct{ Contents []struct{ Text string } }
	Greet                                struct {
		Messages []struct{ Content struct{ Text string } }
	}
	Complete struct{ Completion struct{ Values []string } }
}

// called is the result of a call.
type called struct {
	Content []struct{ Text string }
	IsError bool
}

func (a called) text() string {
	if len(a.Content) == 0 {
		return ""
	}
	return a.Content[0].Text
}

// runAgent runs the agent to its end. The call that it gives up reaches the server before, and is cancelled there.
func runAgent(t *testing.T, box *toolbox, args []string) transcript {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(), append([]string{"peers/agent.mjs"}, args...)...)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		select {
		case <-box.waiting:
			_, _ = stdin.Write([]byte("waiting\n"))
		case <-ctx.Done():
		}
	}()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("agent.mjs: %v", err)
	}
	select {
	case <-box.cancelled:
	case <-ctx.Done():
		t.Error("the server goes on with a call that was given up")
	}
	var got transcript
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, stdout.Bytes())
	}
	return got
}
