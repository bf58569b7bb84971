package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/conformance/patchbay"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/openapitest"
)

// sdkClient is a client of an official SDK at the gateway.
type sdkClient interface {
	// CountTools returns the number of tools that the client listed and accepted.
	CountTools() int
	// CallTool calls a tool, and returns its result in JSON.
	CallTool(ctx context.Context, name string, arguments []byte) ([]byte, error)
	Close()
}

// clientCounts are what both clients did with the tools of a document: the Go SDK's first.
type clientCounts struct {
	listed         [2]int
	calls, succeed int
}

const (
	callsPerDocument = 4    // of each client
	maxPicked        = 1000 // operations of one connector
)

// checkClients adds a document to Patchbay, with all operations as tools: as one connector, or as several if it has more than one may have. Both
// clients list them through the gateway, and call some.
func checkClients(ctx context.Context, p patchbay.Patchbay, slug string, server *openapitest.Server, d *openapi.Document, tools []*openapi.Tool, tripped []bool) (clientCounts, []string) {
	var all []int
	for i := range tools {
		if tools[i] != nil {
			all = append(all, i)
		}
	}
	run := clientRun{patchbay: p, server: server, document: d, tools: tools, calls: chooseCalls(d, tripped)}
	part := 0
	for picked := range slices.Chunk(all, maxPicked) {
		part++
		if err := run.checkConnector(ctx, fmt.Sprintf("%s-%d", slug, part), picked); err != nil {
			run.failures = append(run.failures, err.Error())
		}
	}
	return run.counts, run.failures
}

// clientRun is a run of both clients over a document.
type clientRun struct {
	patchbay patchbay.Patchbay
	server   *openapitest.Server
	document *openapi.Document
	tools    []*openapi.Tool
	calls    []int // operations that are called

	counts   clientCounts
	failures []string
}

func (r *clientRun) checkConnector(ctx context.Context, slug string, picked []int) error {
	connector := map[string]any{
		"kind": "http", "name": slug, "slug": slug, "document_url": r.server.URL() + openapitest.DocumentPath,
		"sync_interval_s": 0, "tool_changes": "auto",
	}
	if _, err := r.patchbay.CreateConnector(ctx, connector); err != nil {
		return fmt.Errorf("create the connector: %w", err)
	}
	defer func() { _ = r.patchbay.DeleteConnector(context.WithoutCancel(ctx), slug) }()
	var keys []string
	for _, i := range picked {
		keys = append(keys, r.document.Operations[i].Key())
	}
	if err := r.patchbay.PickOperations(ctx, slug, keys); err != nil {
		return fmt.Errorf("pick the operations: %w", err)
	}
	if _, err := r.patchbay.Sync(ctx, slug); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	endpoint, err := r.patchbay.CreateAgent(ctx, slug, slug)
	if err != nil {
		return err
	}
	for i, connect := range []func(context.Context, patchbay.Endpoint) (sdkClient, error){connectGo, connectTypeScript} {
		client, err := connect(ctx, endpoint)
		if err != nil {
			return fmt.Errorf("%s: %w", []string{"Go SDK", "TypeScript SDK"}[i], err)
		}
		r.counts.listed[i] += client.CountTools()
		r.callSome(ctx, client, picked)
		client.Close()
	}
	return nil
}

// callSome calls those of the chosen operations that are picked.
func (r *clientRun) callSome(ctx context.Context, client sdkClient, picked []int) {
	for _, i := range r.calls {
		if !slices.Contains(picked, i) {
			continue
		}
		name := r.tools[i].Name
		r.counts.calls++
		err := r.server.TripThrough(r.tools[i], r.document.Operations[i], func(arguments []byte) ([]byte, error) {
			return client.CallTool(ctx, name, arguments)
		})
		if err != nil {
			r.failures = append(r.failures, fmt.Sprintf("call of %s: %v", name, err))
			continue
		}
		r.counts.succeed++
	}
}

// chooseCalls returns the first operations of different methods that made a round trip.
func chooseCalls(d *openapi.Document, tripped []bool) (chosen []int) {
	seen := map[string]bool{}
	for i, o := range d.Operations {
		if tripped[i] && !seen[o.Method] && len(chosen) < callsPerDocument {
			seen[o.Method] = true
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// goClient is a session of the Go SDK.
type goClient struct {
	session *mcp.ClientSession
	tools   int
}

func connectGo(ctx context.Context, endpoint patchbay.Endpoint) (sdkClient, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint.URL, HTTPClient: &http.Client{Transport: endpoint}, DisableStandaloneSSE: true}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	c := &goClient{session: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			c.Close()
			return nil, err
		}
		if tool.Name != "" && tool.InputSchema != nil {
			c.tools++
		}
	}
	return c, nil
}

func (c *goClient) CountTools() int { return c.tools }

func (c *goClient) CallTool(ctx context.Context, name string, arguments []byte) ([]byte, error) {
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

func (c *goClient) Close() { _ = c.session.Close() }

// nodeClient is a process with the TypeScript SDK's client.
type nodeClient struct {
	process *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	tools   int
}

func connectTypeScript(ctx context.Context, endpoint patchbay.Endpoint) (sdkClient, error) {
	c := &nodeClient{process: exec.CommandContext(ctx, cmp.Or(os.Getenv("NODE"), "node"), "conformance/peers/list-tools.mjs", endpoint.URL, endpoint.Token)}
	var failure strings.Builder
	c.process.Stderr = &failure
	output, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.input, err = c.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	c.output = bufio.NewReader(output)
	var listed struct{ Tools int }
	line, err := c.output.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &listed)
	}
	if err != nil {
		c.Close()
		return nil, errors.Join(err, errors.New(strings.TrimSpace(failure.String())))
	}
	c.tools = listed.Tools
	return c, nil
}

func (c *nodeClient) CountTools() int { return c.tools }

func (c *nodeClient) CallTool(_ context.Context, name string, arguments []byte) ([]byte, error) {
	call, err := json.Marshal(map[string]any{"name": name, "arguments": json.RawMessage(arguments)})
	if err != nil {
		return nil, err
	}
	if _, err := c.input.Write(append(call, '\n')); err != nil {
		return nil, err
	}
	return c.output.ReadBytes('\n')
}

func (c *nodeClient) Close() {
	_ = c.input.Close()
	_ = c.process.Wait()
}
