package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"

	"golang.org/x/term"

	"patchbay/client"
)

type apiCommand struct {
	Method   string `arg:"" enum:"GET,POST,PUT,PATCH,DELETE" help:"GET, POST, PUT, PATCH or DELETE."`
	Path     string `arg:"" help:"The path, such as connectors or /api/v1/connectors?status=error. See /openapi.json for all."`
	Body     string `arg:"" optional:"" placeholder:"JSON" help:"The body: JSON, @FILE, or - for standard input. Secrets only from a file or standard input."`
	Paginate bool   `help:"Fetch all pages of a list."`
}

// Help returns the text below the flags.
func (apiCommand) Help() string {
	return "Sends any API request, including members, invitations, API keys, webhooks, registries, settings and the audit log, and prints the response: indented on a terminal or with --output json, otherwise unchanged. " +
		"Errors go to standard error, with exit status 1. " +
		"Other users can read command lines, so a body with a secret must come from @FILE, or from standard input with -."
}

// Run sends the request and prints the response.
func (c apiCommand) Run(ctx context.Context, s *session) error {
	body, err := c.readBody(s)
	if err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var answer []byte
	if c.Paginate {
		answer, err = c.readPages(ctx, api)
	} else {
		answer, err = api.Ask(ctx, c.Method, c.Path, body)
	}
	if err != nil {
		return err
	}
	return s.printResponse(answer)
}

// readBody reads and checks the body before any request.
func (c apiCommand) readBody(s *session) ([]byte, error) {
	switch {
	case c.Paginate && c.Method != http.MethodGet:
		return nil, errors.New("--paginate works only with GET")
	case c.Body == "":
		return nil, nil
	case c.Method == http.MethodGet:
		return nil, errors.New("GET takes no body: put parameters in the query, such as connectors?status=error")
	}
	text, err := s.readInput(c.Body)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("the body is not valid JSON: %w", err)
	}
	if name := findSecret(value); name != "" && c.Body != "-" && c.Body[0] != '@' {
		return nil, fmt.Errorf("the body has a secret (%s), and other users of this machine can read arguments: use @FILE, or - for standard input", name)
	}
	return text, nil
}

// secretNames are the members of API bodies that are or contain secrets.
var secretNames = []string{"client_secret", "code", "env", "headers", "key", "password", "private_key", "secret", "token"}

// findSecret returns the name of a secret anywhere in v, or "".
func findSecret(v any) string {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if name := findSecret(one); name != "" {
				return name
			}
		}
	case map[string]any:
		for name, one := range v {
			if one != nil && one != "" && slices.Contains(secretNames, name) {
				return name
			}
			if name := findSecret(one); name != "" {
				return name
			}
		}
	}
	return ""
}

// readPages returns all pages of a list as one with the cursor null.
func (c apiCommand) readPages(ctx context.Context, api *client.Client) ([]byte, error) {
	at, err := url.Parse(c.Path)
	if err != nil {
		return nil, err
	}
	items := []json.RawMessage{}
	for query := at.Query(); ; at.RawQuery = query.Encode() {
		answer, err := api.Ask(ctx, c.Method, at.String(), nil)
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var found []json.RawMessage
		var next *string
		if json.Unmarshal(answer, &page) != nil || json.Unmarshal(page["items"], &found) != nil || json.Unmarshal(page["next_cursor"], &next) != nil {
			return nil, fmt.Errorf("%s is not a paginated list", c.Path)
		}
		items = append(items, found...)
		if next == nil || *next == "" {
			if page["items"], err = json.Marshal(items); err != nil {
				return nil, err
			}
			return json.Marshal(page)
		}
		if *next == query.Get("cursor") {
			return nil, errors.New("the list has too many pages")
		}
		query.Set("cursor", *next)
	}
}

// printResponse prints a response: unchanged for programs, indented and escaped on a terminal.
func (s *session) printResponse(text []byte) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	if file, ok := s.world.Out.(*os.File); s.flags.Output != "json" && (!ok || !term.IsTerminal(int(file.Fd()))) { //nolint:gosec // a file descriptor fits
		_, err := s.world.Out.Write(append(text, '\n'))
		return err
	}
	var shown bytes.Buffer
	if err := json.Indent(&shown, text, "", "  "); err != nil {
		return fmt.Errorf("the response is not valid JSON: %w", err)
	}
	shown.WriteByte('\n')
	_, err := asciiWriter{s.world.Out}.Write(shown.Bytes())
	return err
}
