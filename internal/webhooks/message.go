package webhooks

import (
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
)

// payload is what is sent. Fields may come; those that are there keep their names and meaning.
type payload struct {
	Type      connectors.NoticeKind `json:"type"`
	Timestamp time.Time             `json:"timestamp"` // of what is told, not of the try
	Data      payloadData           `json:"data"`
}

type payloadData struct {
	NoticeID string          `json:"notice_id,omitempty"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	URL      string          `json:"url,omitempty"` // of the dashboard's page
	Details  json.RawMessage `json:"details,omitempty"`
}

// bodyOf is what is sent of a delivery, the same at each try.
func (p *Post) bodyOf(d connectors.Delivery) ([]byte, error) {
	var told connectors.DeliveryBody
	if err := json.Unmarshal(d.Body, &told); err != nil {
		return nil, fmt.Errorf("read a delivery: %w", err)
	}
	out := payload{Type: d.Kind, Timestamp: d.CreatedAt.UTC(), Data: payloadData{
		NoticeID: told.NoticeID, Title: told.Title, Text: told.Text, Details: told.Details,
	}}
	if told.Link != "" {
		out.Data.URL = p.baseURL + told.Link
	}
	return json.Marshal(out)
}

// MessageID is what a delivery's receiver sees, the same at each try.
func MessageID(id connectors.DeliveryID) string { return "msg_" + id.String() }
