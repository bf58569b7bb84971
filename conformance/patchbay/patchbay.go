package patchbay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Patchbay is a running Patchbay with an admin's API key.
type Patchbay struct {
	URL string // without a trailing slash
	Key string
}

// Problem is an RFC 9457 response.
type Problem struct {
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

// Error returns status and detail.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%d %s", p.Status, p.Detail)
	if p.Detail == "" {
		text += p.Title
	}
	for _, e := range p.Errors {
		text += fmt.Sprintf(" (%s: %s)", e.Location, e.Message)
	}
	return text
}

// CreateConnector returns the connector's id.
func (p Patchbay) CreateConnector(ctx context.Context, connector map[string]any) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	err := p.callAPI(ctx, http.MethodPost, "/connectors", connector, &made)
	return made.ID, err
}

// AwaitListening waits until Patchbay listens to the connector's server.
func (p Patchbay) AwaitListening(ctx context.Context, connector string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var shown struct {
			Listening *struct{ State, Reason string } `json:"listening"`
		}
		if err := p.callAPI(ctx, http.MethodGet, "/connectors/"+connector, nil, &shown); err != nil {
			return fmt.Errorf("wait until the server is listened to: %w", err)
		}
		if l := shown.Listening; l != nil && l.State == "listening" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is not listened to: %+v", shown.Listening)
		case <-tick.C:
		}
	}
}

// DeleteConnector deletes a connector and closes connections to its server.
func (p Patchbay) DeleteConnector(ctx context.Context, connector string) error {
	return p.callAPI(ctx, http.MethodDelete, "/connectors/"+connector, nil, nil)
}

// Connect returns the connect page's URL.
func (p Patchbay) Connect(ctx context.Context, connector string) (string, error) {
	var answer struct {
		ConnectURL string `json:"connect_url"`
	}
	err := p.callAPI(ctx, http.MethodPost, "/connectors/"+connector+"/connect", map[string]any{}, &answer)
	return answer.ConnectURL, err
}

// Sync returns the number of tools.
func (p Patchbay) Sync(ctx context.Context, connector string) (int, error) {
	var run struct {
		Total int `json:"tools_total"`
	}
	err := p.callAPI(ctx, http.MethodPost, "/connectors/"+connector+"/sync_tools", map[string]any{}, &run)
	return run.Total, err
}

// callAPI sends a JSON document. A status other than 2xx is a [*Problem]. into may be nil.
func (p Patchbay) callAPI(ctx context.Context, method, path string, body map[string]any, into any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, p.URL+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.Key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: &localTransport}).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		refused := &Problem{}
		_ = json.Unmarshal(answer, refused) // a response without a problem still has its status
		refused.Status = res.StatusCode
		return refused
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// PickOperations makes operations of an HTTP API tools, from the next sync on.
func (p Patchbay) PickOperations(ctx context.Context, connector string, keys []string) error {
	return p.callAPI(ctx, http.MethodPatch, "/connectors/"+connector+"/operations", map[string]any{"add": keys}, nil)
}
