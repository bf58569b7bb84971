//go:build e2e && interop

package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

const clientsTable = "interop/clients.txt"

// interopClients are the clients of interop/clients, with their npm packages.
var interopClients = []struct {
	name    string // of the script
	npm     string
	misfit  string // what the program gets of arguments that do not fit; empty: the gateway's result
	throws  bool   // as an exception, else as a result
	form    string // in which the program gets a structured result; empty: whole
	because string // of misfit, for the table
}{
	{name: "ai-sdk", npm: "@ai-sdk/mcp"},
	{name: "claude-code", npm: "@anthropic-ai/claude-code", form: "structuredContent alone"},
	{name: "codex", npm: "@openai/codex", form: "structuredContent alone"},
	{name: "gemini-cli", npm: "@google/gemini-cli", form: "content alone", misfit: "must be string", because: "Gemini CLI checks arguments itself"},
	{name: "genkit", npm: "@genkit-ai/mcp", form: "structuredContent alone", misfit: "must be string", throws: true, because: "Genkit checks arguments itself"},
	{name: "langchain", npm: "@langchain/mcp-adapters", misfit: "did not match expected schema", throws: true, because: "LangChain checks arguments itself"},
	{name: "llamaindex", npm: "@llamaindex/tools"},
	{name: "mastra", npm: "@mastra/mcp", form: "structuredContent alone"},
	{name: "mcp-remote", npm: "mcp-remote"},
	{name: "openai-agents", npm: "@openai/agents", form: "content alone"},
	{name: "supergateway", npm: "supergateway"},
	{name: "ts-v1", npm: "@modelcontextprotocol/sdk"},
	{name: "ts-v2", npm: "@modelcontextprotocol/client"},
}

// clientReport is what a script of interop/clients prints.
type clientReport struct {
	Tools                    []string
	Echo, Structured, Misfit struct{ Value, Threw string }
	Progress                 []struct{ Progress, Total float64 } // of events-….mjs, as Logged
	Logged                   string
}

// TestClientsListAndCall lists and calls the tools of server-everything through the gateway with each client. Arguments that do not fit
// reach the program as a result, so that a model reads why.
func TestClientsListAndCall(t *testing.T) {
	t.Parallel()
	needInterop(t)
	c := admin(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Everything", "slug": "everything", "url": startEverything(t)})
	c.must(http.StatusOK, http.MethodPost, "/connectors/everything/sync_tools", nil)
	want := len(c.tools("everything"))
	robin := c.hire("robin", "everything")
	var names []string
	for _, client := range interopClients {
		names = append(names, client.name)
	}
	wantRowsOf(t, clientsTable, names)
	for _, client := range interopClients {
		t.Run(client.name, func(t *testing.T) {
			got := runClient(t, client.name, c.base+"/mcp/everything", robin.token)
			if len(got.Tools) != want {
				t.Errorf("it lists %d tools, want %d: %q", len(got.Tools), want, got.Tools)
			}
			if !strings.Contains(got.Echo.Value, "Echo: 5 < 6 & ✓") {
				t.Errorf("echo: %+v", got.Echo)
			}
			structured := cmp.Or(client.form, "whole")
			if !strings.Contains(got.Structured.Value, "Cloudy") || (structured == "whole") != strings.Contains(got.Structured.Value, "structuredContent") {
				t.Errorf("structured: %+v", got.Structured)
			}
			misfit := "result"
			if got.Misfit.Value == "" {
				misfit = "exception"
			}
			if text := cmp.Or(got.Misfit.Value, got.Misfit.Threw); !strings.Contains(text, cmp.Or(client.misfit, "message")) || (misfit == "exception") != client.throws {
				t.Errorf("arguments that do not fit: %+v", got.Misfit)
			}
			if client.because != "" {
				misfit += ": " + client.because
			}
			wantRow(t, clientsTable, client.name, client.npm, npmVersion(t, client.npm), fmt.Sprintf("%d of %d", len(got.Tools), want), "1 of 1", structured, misfit)
		})
	}
}

func runClient(t *testing.T, name, url, token string) clientReport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(), "interop/clients/"+name+".mjs", url, token)
	cmd.WaitDelay = plainEnd
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%.3000s", name, err, stderr.String())
	}
	var got clientReport
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stdout.String())
	}
	return got
}
