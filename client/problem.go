package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Problem is a refusal (RFC 9457). Its Error is the sentence that a person may read, and a line for each field that is wrong.
type Problem struct {
	Type       string    `json:"type"`
	Title      string    `json:"title"`
	Status     int       `json:"status"`
	Detail     string    `json:"detail"`
	Code       string    `json:"code"`        // the reason, where the type does not say it, as timeout
	ConnectURL string    `json:"connect_url"` // where a person mends a missing credential
	Fields     []Field   `json:"errors"`      // what is wrong with the request
	Upstream   *Upstream `json:"upstream"`    // where the conversation with a connector's server ended

	RetryAfter time.Duration `json:"-"` // how long to wait before the same is asked again; of 429 and 503
}

func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	for _, f := range p.Fields {
		text += fmt.Sprintf("\n%s: %s", f.Location, f.Message)
	}
	return text
}

// problemOf reads a refusal. What is between us and the API, a proxy, answers with other things.
func problemOf(r *http.Response, body []byte) error {
	p := &Problem{}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(body, p) != nil {
		p = &Problem{Title: r.Status, Detail: fmt.Sprintf("%s answered %s, and not as Patchbay does.", r.Request.URL.Host, r.Status)}
	}
	p.Status = r.StatusCode
	if r.Header.Get("Retry-After") != "" || p.Status == http.StatusTooManyRequests {
		p.RetryAfter = retryAfter(r.Header)
	}
	return p
}
