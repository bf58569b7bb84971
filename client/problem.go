package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Problem is an error of the API (RFC 9457). Error returns its sentence and a line for each invalid field.
type Problem struct {
	Type       string    `json:"type"`
	Title      string    `json:"title"`
	Status     int       `json:"status"`
	Detail     string    `json:"detail"`
	Code       string    `json:"code"`        // reason, if not in the type, such as timeout
	ConnectURL string    `json:"connect_url"` // page to connect a missing account
	Fields     []Field   `json:"errors"`      // invalid fields of the request
	Upstream   *Upstream `json:"upstream"`    // where the exchange with a connector's server ended

	RetryAfter time.Duration `json:"-"` // delay before a retry; of 429 and 503
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

// readProblem parses an error response. Proxies send other forms.
func readProblem(r *http.Response, body []byte) error {
	p := &Problem{}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(body, p) != nil {
		p = &Problem{Title: r.Status, Detail: fmt.Sprintf("%s answered %s, without a Patchbay error.", r.Request.URL.Host, r.Status)}
	}
	p.Status = r.StatusCode
	if r.Header.Get("Retry-After") != "" || p.Status == http.StatusTooManyRequests {
		p.RetryAfter = retryAfter(r.Header)
	}
	return p
}
