//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// client is a program with an API key.
type client struct {
	t    *testing.T
	base string
	key  string
	via  http.RoundTripper // nil: localTransport
}

// object is a JSON object.
type object = map[string]any

// call sends a JSON document, or nothing where body is nil, and returns status and answer.
func (c client) call(method, path string, body any) (int, object) {
	c.t.Helper()
	status, answer, err := c.try(method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, answer
}

// must is call, for what has to be answered with the status.
func (c client) must(status int, method, path string, body any) object {
	c.t.Helper()
	have, answer := c.call(method, path, body)
	if have != status {
		c.t.Fatalf("%s %s: %d, want %d: %v", method, path, have, status, answer)
	}
	return answer
}

func (c client) try(method, path string, body any) (int, object, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, sent)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	httpClient := localClient
	if c.via != nil {
		httpClient = &http.Client{Transport: c.via}
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	var answer object
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil && res.StatusCode != http.StatusNoContent {
		return res.StatusCode, nil, err
	}
	return res.StatusCode, answer, nil
}

// tools are the names that a connector's tools have, as the API lists them.
func (c client) tools(connector string) []string {
	c.t.Helper()
	answer := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/"+connector+"/tools?limit=200", nil)
	var names []string
	items, _ := answer["items"].([]any)
	for _, item := range items {
		tool, _ := item.(object)
		name, _ := tool["name"].(string)
		names = append(names, name)
	}
	return names
}

// refusal is an answer that was not the one waited for.
type refusal struct {
	status int
	answer object
}

// Error shows the answer.
func (r *refusal) Error() string { return fmt.Sprintf("%d: %v", r.status, r.answer) }
