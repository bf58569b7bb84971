package webhooks

import (
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
)

// payload is the body of a try. Fields may be added; existing ones keep their names and meaning.
type payload struct {
	Type      connectors.NoticeKind `json:"type"`
	Timestamp time.Time             `json:"timestamp"` // of the notice, not of the try
	Data      payloadData           `json:"data"`
}

type payloadData struct {
	NoticeID string          `json:"notice_id,omitempty"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	URL      string          `json:"url,omitempty"` // of the dashboard's page
	Details  json.RawMessage `json:"details,omitempty"`
}

// marshalBody returns the body of a delivery in a webhook's format, the same at each try.
func (p *Post) marshalBody(format connectors.WebhookFormat, d connectors.Delivery) ([]byte, error) {
	var stored connectors.DeliveryBody
	if err := json.Unmarshal(d.Body, &stored); err != nil {
		return nil, fmt.Errorf("read a delivery: %w", err)
	}
	out := payload{Type: d.Kind, Timestamp: d.CreatedAt.UTC(), Data: payloadData{
		NoticeID: stored.NoticeID, Title: stored.Title, Text: stored.Text, Details: stored.Details,
	}}
	if stored.Link != "" {
		out.Data.URL = p.baseURL + stored.Link
	}
	switch format {
	case connectors.WebhookSlack:
		return json.Marshal(newSlackMessage(out.Data))
	case connectors.WebhookTeams:
		return json.Marshal(newTeamsMessage(out.Data))
	default:
		return json.Marshal(out)
	}
}

// MessageID is the webhook-id of a delivery.
func MessageID(id connectors.DeliveryID) string { return "msg_" + id.String() }
