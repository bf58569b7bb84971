package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// version is what the paths of all operations begin with.
const version = "/api/v1/"

// Ask makes one request of the API as it is written: a method, a path with or without /api/v1 before it and with or without a query, and a body
// of JSON, or none. It answers with the body that came. It is for whoever is told what to ask; programs have the methods of the operations.
// An address of another host is refused: the key goes nowhere else.
func (c *Client) Ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	at, err := c.resolve(path)
	if err != nil {
		return nil, err
	}
	return c.patiently(ctx, method, at, body)
}

// resolve makes the address of what somebody has written as a path.
func (c *Client) resolve(path string) (string, error) {
	at, err := url.Parse(path)
	if err != nil || at.Opaque != "" || at.User != nil || at.Fragment != "" {
		return "", fmt.Errorf("%q is not a path of the API, as connectors or /api/v1/connectors", path)
	}
	below := at.EscapedPath()
	if at.Scheme != "" || at.Host != "" {
		prefix := c.base.EscapedPath() + "/"
		if at.Scheme != c.base.Scheme || !strings.EqualFold(at.Host, c.base.Host) || !strings.HasPrefix(below, prefix) {
			return "", fmt.Errorf("%s is not at %s, and the API key goes nowhere else", path, c.base)
		}
		below = below[len(prefix):]
	}
	below = "/" + strings.TrimPrefix(below, "/")
	if err := walkable(below); err != nil {
		return "", err
	}
	if below != "/openapi.json" && !strings.HasPrefix(below, version) {
		below = version + below[1:]
	}
	if at.RawQuery != "" {
		below += "?" + at.RawQuery
	}
	return c.base.String() + below, nil
}

// walkable refuses what would lead out of the API, and what was left in as the document has it.
func walkable(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		name, err := url.PathUnescape(segment)
		switch {
		case err != nil || name == "." || name == "..":
			return errors.New("a path of the API has no . and no .. in it")
		case strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}"):
			return fmt.Errorf("the path has %s in it: write what is meant in its place", name)
		}
	}
	return nil
}
