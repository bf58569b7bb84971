package mcpregistry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// Bounds of what a registry may answer.
const (
	Patience = 20 * time.Second
	MaxPage  = 4 << 20
	MaxPages = 10
	perPage  = "100"

	room = clientconfig.MaxBytes - 1<<10 // for the servers themselves
)

// Reader asks registries.
type Reader struct {
	client *http.Client
	check  func(string) (*url.URL, error)
}

// New makes a Reader over the client of an egress policy, and its rule for URLs.
func New(client *http.Client, check func(string) (*url.URL, error)) *Reader {
	return &Reader{client: client, check: check}
}

// List is what a registry listed.
type List struct {
	Document []byte // for [clientconfig.Read]
	Servers  int
	Whole    bool // false: there are more
}

// Read lists the servers of the registry at an address: its own, or that of its list. search narrows the list down; empty: all.
func (r *Reader) Read(ctx context.Context, address, search string) (List, error) {
	at, err := r.listAt(address, search)
	if err != nil {
		return List{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var all []json.RawMessage
	size, seen := 0, map[string]bool{}
	for page := 1; ; page++ {
		servers, next, err := r.page(ctx, at)
		if err != nil {
			return List{}, err
		}
		for _, s := range servers {
			if size += len(s) + 1; size > room || len(all) == clientconfig.MaxEntries {
				return made(all, false)
			}
			all = append(all, s)
		}
		if next == "" || seen[next] {
			return made(all, next == "")
		}
		if page == MaxPages {
			return made(all, false)
		}
		seen[next] = true
		query := at.Query()
		query.Set("cursor", next)
		at.RawQuery = query.Encode()
	}
}

func made(all []json.RawMessage, whole bool) (List, error) {
	document, err := json.Marshal(map[string]any{"servers": append([]json.RawMessage{}, all...)})
	if err != nil {
		return List{}, fmt.Errorf("put the servers together: %w", err)
	}
	return List{Document: document, Servers: len(all), Whole: whole}, nil
}

// listAt is the address of the list. People name a registry by its host as often as not.
func (r *Reader) listAt(address, search string) (*url.URL, error) {
	address, _ = connectors.ASCIIURL(strings.TrimSpace(address))
	u, err := r.check(address)
	if err != nil {
		return nil, refused(err)
	}
	at := *u
	switch path := strings.TrimRight(at.Path, "/"); path {
	case "":
		at.Path = "/v0.1/servers"
	case "/v0", "/v0.1":
		at.Path = path + "/servers"
	}
	query := at.Query()
	for name, value := range map[string]string{"limit": perPage, "version": "latest", "search": strings.TrimSpace(search)} {
		if value != "" && !query.Has(name) {
			query.Set(name, value)
		}
	}
	at.RawQuery = query.Encode()
	return &at, nil
}

// page reads one page.
func (r *Reader) page(ctx context.Context, at *url.URL) (servers []json.RawMessage, next string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, "", fmt.Errorf("ask the registry: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return nil, "", refused(err)
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, "", about("The registry redirects. Enter the URL it redirects to.", nil)
	case res.StatusCode != http.StatusOK:
		return nil, "", about(fmt.Sprintf("The registry returned status %d. Check the URL.", res.StatusCode), nil)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxPage+1))
	if err != nil {
		return nil, "", refused(err)
	}
	if len(body) > MaxPage {
		return nil, "", about("The registry sent over 4 MiB at once.", nil)
	}
	servers, next, err = clientconfig.ReadPage(bytes.TrimPrefix(body, []byte("\ufeff")))
	if err != nil {
		return nil, "", about("Not an MCP registry list. Check the URL; it often ends in /v0.1/servers.", err)
	}
	return servers, next, nil
}

// refused says in our words why a registry cannot be read.
func refused(err error) error {
	blocked, isBlocked := errors.AsType[*safehttp.BlockedError](err)
	failed, isProxy := errors.AsType[*safehttp.ProxyError](err)
	f, isFault := errors.AsType[*fault.Error](err)
	switch {
	case isBlocked:
		return about(blocked.Error(), err)
	case isProxy:
		return about(failed.Why, err)
	case isFault:
		return about(f.Message, err)
	case errors.Is(err, context.DeadlineExceeded):
		return about("The registry timed out.", err)
	default:
		return about("Can't reach the registry. Check the URL.", err)
	}
}

// about is a fault of the address that a person entered.
func about(sentence string, cause error) error {
	f := fault.Wrap(fault.Invalid, cause, sentence)
	f.Fields = []fault.Field{{Location: "url", Message: sentence}}
	return f
}
