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

const callsPerDocument = 4 // of each client

// checkClients adds a document to Patchbay as a connector with all operations as tools. Both clients list them through the gateway, and call some.
func checkClients(ctx context.Context, p patchbay.Patchbay, slug string, server *openapitest.Server, d *openapi.Document, tools []*openapi.Tool) (clientCounts, []string, error) {
	connector := map[string]any{
		"kind": "http", "name": slug, "slug": slug, "document_url": server.URL() + openapitest.DocumentPath,
		"sync_interval_s": 0, "tool_changes": "auto",
	}
	if _, err := p.CreateConnector(ctx, connector); err != nil {
		return clientCounts{}, nil, fmt.Errorf("create the connector: %w", err)
	}
	defer func() { _ = p.DeleteConnector(context.WithoutCancel(ctx), slug) }()
	var keys []string
	for i, o := range d.Operations {
		if tools[i] != nil {
			keys = append(keys, o.Key())
		}
	}
	if err := p.PickOperations(ctx, slug, keys); err != nil {
		return clientCounts{}, nil, fmt.Errorf("pick the operations: %w", err)
	}
	if _, err := p.Sync(ctx, slug); err != nil {
		return clientCounts{}, nil, fmt.Errorf("sync: %w", err)
	}
	endpoint, err := p.CreateAgent(ctx, slug, slug)
	if err != nil {
		return clientCounts{}, nil, err
	}
	var counts clientCounts
	var failures []string
	for i, connect := range []func(context.Context, patchbay.Endpoint) (sdkClient, error){connectGo, connectTypeScript} {
		client, err := connect(ctx, endpoint)
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", []string{"Go SDK", "TypeScript SDK"}[i], err))
			continue
		}
		counts.listed[i] = client.CountTools()
		for _, n := range chooseCalls(d, tools) {
			counts.calls++
			err := server.TripThrough(tools[n], d.Operations[n], func(arguments []byte) ([]byte, error) {
				return client.CallTool(ctx, tools[n].Name, arguments)
			})
			if err != nil {
				failures = append(failures, fmt.Sprintf("call of %s: %v", tools[n].Name, err))
				continue
			}
			counts.succeed++
		}
		client.Close()
	}
	return counts, failures, nil
}

// chooseCalls returns the first operations of different methods.
func chooseCalls(d *openapi.Document, tools []*openapi.Tool) (chosen []int) {
	seen := map[string]bool{}
	for i, o := range d.Operations {
		if tools[i] != nil && !seen[o.Method] && len(chosen) < callsPerDocument {
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
