package gateway_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestLongName_IsNotSentUpstream(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withTools()
	b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
	const days = "file:///days/"
	fits := days + strings.Repeat("x", 8<<10-len(days))
	long := fits + "x"
	for _, e := range eras {
		s := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), e)
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: fits}); err != nil {
			t.Errorf("%s: 8 KiB: %.200s", e, err)
		}
		asks := map[string]func() error{
			"resources/read": func() error {
				_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: long})
				return err
			},
			"prompts/get": func() error {
				_, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: long})
				return err
			},
			"completion of a prompt": func() error {
				_, err := s.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: long}})
				return err
			},
			"completion of a resource": func() error {
				_, err := s.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: long}})
				return err
			},
		}
		if e == legacy {
			asks["resources/subscribe"] = func() error { return s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: long}) }
		}
		for name, ask := range asks {
			if err := ask(); err == nil || !strings.Contains(err.Error(), "longer than 8 KiB") {
				t.Errorf("%s, %s: %.200v", e, name, err)
			}
		}
	}
}
