package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// patchbay is the JSON API of a running one.
type patchbay struct {
	url string // without a slash at its end
	key string
}

// problem is an RFC 9457 answer.
type problem struct {
	Status     int    `json:"status"`
	Type       string `json:"type"`
	Title      string `json:"title"`
	Detail     string `json:"detail"`
	ConnectURL string `json:"connect_url"`
	Errors     []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

// Error is what a person would read.
func (p *problem) Error() string {
	text := fmt.Sprintf("%d %s", p.Status, p.Detail)
	if p.Detail == "" {
		text += p.Title
	}
	for _, e := range p.Errors {
		text += fmt.Sprintf(" (%s: %s)", e.Location, e.Message)
	}
	return text
}

// createConnector returns the connector's id.
func (p patchbay) createConnector(ctx context.Context, connector map[string]any) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	err := p.call(ctx, "/connectors", connector, &made)
	return made.ID, err
}

// connect returns the page to open in a browser.
func (p patchbay) connect(ctx context.Context, connector string) (string, error) {
	var answer struct {
		ConnectURL string `json:"connect_url"`
	}
	err := p.call(ctx, "/connectors/"+connector+"/connect", map[string]any{}, &answer)
	return answer.ConnectURL, err
}

// sync returns the number of tools.
func (p patchbay) sync(ctx context.Context, connector string) (int, error) {
	var run struct {
		Total int `json:"tools_total"`
	}
	err := p.call(ctx, "/connectors/"+connector+"/sync_tools", map[string]any{}, &run)
	return run.Total, err
}

// call posts a document. An answer that is no 2xx is a *problem.
func (p patchbay) call(ctx context.Context, path string, body map[string]any, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	res, err := new(http.Client).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		refused := &problem{}
		_ = json.Unmarshal(answer, refused) // an answer of another kind still has its status
		refused.Status = res.StatusCode
		return refused
	}
	return json.Unmarshal(answer, into)
}
