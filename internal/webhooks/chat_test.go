package webhooks_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// hostile is a title of a server that would mention a channel, and link elsewhere, where it were markup.
const hostile = `<!channel> *now* [open](https://evil.example) & "quotes" ` + "\u00e4"

// sendChat sends a hostile notice with a long title to a webhook of the format, and returns the body.
func sendChat(t *testing.T, format connectors.WebhookFormat) []byte {
	t.Helper()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, _, err := w.post.Create(t.Context(), w.admin, connectors.Webhook{Name: "Chat", URL: there.URL, Format: format})
	if err != nil || hook.Format != format {
		t.Fatalf("%+v, %v", hook, err)
	}
	err = w.Door().People().AddNotice(t.Context(), store.NewNotice{
		Kind: connectors.NoticeDown, Title: strings.Repeat("ä", 100) + hostile, Body: hostile, Link: "/connectors/linear?a=1&b=2",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(t, w.newest(t, hook), 0)
	got := there.all()
	if len(got) != 1 || got[0].header.Get("Content-Type") != "application/json" {
		t.Fatalf("received %+v", got)
	}
	return got[0].body
}

func TestDeliver_SendsAMessageToSlack(t *testing.T) {
	t.Parallel()
	body := sendChat(t, connectors.WebhookSlack)
	var m struct {
		Text   string
		Blocks []struct {
			Type string
			Text struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(body, &m); err != nil || len(m.Blocks) != 3 {
		t.Fatalf("%s, %v", body, err)
	}
	if strings.ContainsAny(m.Text, "<>") || !strings.Contains(m.Text, "&lt;!channel&gt; *now*") {
		t.Errorf("text = %s", m.Text)
	}
	title, text, link := m.Blocks[0], m.Blocks[1], m.Blocks[2]
	if n := len([]rune(title.Text.Text)); title.Type != "header" || title.Text.Type != "plain_text" || n != 150 || !strings.HasSuffix(title.Text.Text, "…") {
		t.Errorf("title = %+v, %d characters", title, n)
	}
	if text.Type != "section" || text.Text.Type != "plain_text" || text.Text.Text != hostile {
		t.Errorf("text = %+v", text)
	}
	if link.Text.Type != "mrkdwn" || link.Text.Text != "<https://patchbay.example.com/connectors/linear?a=1&amp;b=2|Open in Patchbay>" {
		t.Errorf("link = %+v", link)
	}
}

func TestDeliver_SendsACardToTeams(t *testing.T) {
	t.Parallel()
	body := sendChat(t, connectors.WebhookTeams)
	var m struct {
		Type        string
		Attachments []struct {
			ContentType string
			Content     struct {
				Schema  string `json:"$schema"`
				Type    string
				Version string
				Body    []struct {
					Type    string
					Inlines []struct{ Type, Text, Weight string }
				}
				Actions []struct{ Type, Title, URL string }
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Type != "message" || len(m.Attachments) != 1 {
		t.Fatalf("%s, %v", body, err)
	}
	card := m.Attachments[0].Content
	if m.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" || card.Type != "AdaptiveCard" || card.Version != "1.4" ||
		card.Schema != "http://adaptivecards.io/schemas/adaptive-card.json" || len(card.Body) != 2 || len(card.Actions) != 1 {
		t.Fatalf("card = %+v", card)
	}
	for i, want := range []string{"Bolder", ""} {
		b := card.Body[i]
		if b.Type != "RichTextBlock" || len(b.Inlines) != 1 || b.Inlines[0].Type != "TextRun" || b.Inlines[0].Weight != want || !strings.HasSuffix(b.Inlines[0].Text, hostile) {
			t.Errorf("block %d = %+v", i, b)
		}
	}
	if a := card.Actions[0]; a.Type != "Action.OpenUrl" || a.URL != "https://patchbay.example.com/connectors/linear?a=1&b=2" || a.Title == "" {
		t.Errorf("action = %+v", a)
	}
}

func TestWebhookFormat_UnknownIsRefused(t *testing.T) {
	t.Parallel()
	w := connectors.Webhook{Name: "Chat", URL: "https://example.com", Format: "irc"}
	if fields := w.Validate(); len(fields) != 1 || fields[0].Location != "format" {
		t.Errorf("fields = %+v", fields)
	}
	if w.Format = ""; !slices.Contains(connectors.WebhookFormats, w.Normalized().Format) {
		t.Error("an empty format is not the default")
	}
}
