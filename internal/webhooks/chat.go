package webhooks

import "strings"

// openLabel is the label of the link to the dashboard.
const openLabel = "Open in Patchbay"

// slackMessage is the body for an incoming webhook of Slack (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
type slackMessage struct {
	Text   string       `json:"text"` // of the notification
	Blocks []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

// slackText is text of a block. Plain text has no links, mentions or formatting, so a server's words stay words.
type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

const (
	slackPlain  = "plain_text"
	slackMarkup = "mrkdwn"
	// maxSlackHeader bounds the text of a header block, in characters.
	maxSlackHeader = 150
)

// slackEscape escapes the control characters of Slack's markup.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func newSlackMessage(d payloadData) slackMessage {
	m := slackMessage{Text: slackEscape.Replace(d.Title)}
	title := []rune(d.Title)
	if len(title) > maxSlackHeader {
		title = append(title[:maxSlackHeader-1], '…')
	}
	m.Blocks = append(m.Blocks, slackBlock{"header", slackText{slackPlain, string(title)}})
	if d.Text != "" {
		m.Blocks = append(m.Blocks, slackBlock{"section", slackText{slackPlain, d.Text}})
	}
	if d.URL != "" {
		// A button would need an app that answers interactions.
		m.Blocks = append(m.Blocks, slackBlock{"section", slackText{slackMarkup, "<" + slackEscape.Replace(d.URL) + "|" + openLabel + ">"}})
	}
	return m
}

// teamsMessage is the body for a workflow of Microsoft Teams, "When a Teams webhook request is received": an
// Adaptive Card (adaptivecards.microsoft.com).
type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Body    []teamsBlock  `json:"body"`
	Actions []teamsAction `json:"actions,omitempty"`
}

// teamsBlock is a RichTextBlock. Its text runs have no Markdown, which a TextBlock would read in a server's words.
type teamsBlock struct {
	Type    string     `json:"type"`
	Inlines []teamsRun `json:"inlines"`
}

type teamsRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Size   string `json:"size,omitempty"`
	Weight string `json:"weight,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func newTeamsMessage(d payloadData) teamsMessage {
	card := teamsCard{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4"}
	card.Body = append(card.Body, teamsBlock{"RichTextBlock", []teamsRun{{Type: "TextRun", Text: d.Title, Size: "Medium", Weight: "Bolder"}}})
	if d.Text != "" {
		card.Body = append(card.Body, teamsBlock{"RichTextBlock", []teamsRun{{Type: "TextRun", Text: d.Text}}})
	}
	if d.URL != "" {
		card.Actions = []teamsAction{{Type: "Action.OpenUrl", Title: openLabel, URL: d.URL}}
	}
	return teamsMessage{Type: "message", Attachments: []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}}
}
