package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const apiPrefix = "/api/v1/"

// Ask sends one request to the API: a method, a path with or without /api/v1, optionally with a query, and a
// JSON body or nil. It returns the response's body. It is for interactive tools; programs have the methods of
// the operations. A URL of another host is refused: it must not get the key.
func (c *Client) Ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	at, err := c.resolvePath(path)
	if err != nil {
		return nil, err
	}
	return c.sendWithRetry(ctx, method, at, body)
}

func (c *Client) resolvePath(path string) (string, error) {
	at, err := url.Parse(path)
	if err != nil || at.Opaque != "" || at.User != nil || at.Fragment != "" {
		return "", fmt.Errorf("%q is not an API path such as connectors or /api/v1/connectors", path)
	}
	below := at.EscapedPath()
	if at.Scheme != "" || at.Host != "" {
		prefix := c.base.EscapedPath() + "/"
		if at.Scheme != c.base.Scheme || !strings.EqualFold(at.Host, c.base.Host) || !strings.HasPrefix(below, prefix) {
			return "", fmt.Errorf("%s is not at %s; the API key is sent only there", path, c.base)
		}
		below = below[len(prefix):]
	}
	below = "/" + strings.TrimPrefix(below, "/")
	if err := checkPath(below); err != nil {
		return "", err
	}
	if below != "/openapi.json" && !strings.HasPrefix(below, apiPrefix) {
		below = apiPrefix + below[1:]
	}
	if at.RawQuery != "" {
		below += "?" + at.RawQuery
	}
	return c.base.String() + below, nil
}

// checkPath refuses paths that lead out of the API, and unfilled path parameters.
func checkPath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		name, err := url.PathUnescape(segment)
		switch {
		case err != nil || name == "." || name == "..":
			return errors.New("an API path must not contain . or ..")
		case strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}"):
			return fmt.Errorf("the path contains %s: replace it with a value", name)
		}
	}
	return nil
}
