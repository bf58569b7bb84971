package agentview

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// TestAppMeta_BoundsLinks repeats the members with links, and _meta.
func TestAppMeta_BoundsLinks(t *testing.T) {
	t.Parallel()
	meta := `"_meta":{"ui":{` + strings.Repeat(`"resourceUri":"ui://a",`, 100) + `"resourceUri":"ui://b"},` +
		strings.Repeat(`"ui/resourceUri":"ui://c",`, 100) + `"openai/outputTemplate":"ui://d"}`
	raw := []byte(`{"name":"a",` + strings.Repeat(meta+",", 10) + `"inputSchema":{"type":"object"}}`)
	d := newDefinition(connectors.HashDefinition(raw), raw)
	if n := len(d.app.links); n != maxUILinks {
		t.Errorf("%d links", n)
	}
	if n := len(newVariant(raw, nil).links); n != maxUILinks {
		t.Errorf("%d links of a variant", n)
	}
	connector := &ConnectorView{}
	if added := connector.addUILinks(&Tool{def: d}); added != uiLinkBytes+int64(len("ui://a")) || !connector.HasApps() {
		t.Errorf("%d bytes are counted", added)
	}
	if added := connector.addUILinks(&Tool{def: d}); added != 0 {
		t.Errorf("%d bytes are counted again", added)
	}
}
