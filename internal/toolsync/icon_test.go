package toolsync_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
)

// iconsOf is a list of icons with an address and a PNG of that size.
func iconsOf(t testing.TB, side int) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`[{"src":"https://icons.invalid/a.png"},{"src":"data:image/png;base64,%s","sizes":["8x8"]}]`, base64.StdEncoding.EncodeToString(out.Bytes()))
}

func TestSync_StoresTheServersIcon(t *testing.T) {
	t.Parallel()
	for name, modern := range map[string]bool{"handshake": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Modern: modern, Icons: iconsOf(t, 8)})
			c := b.addConnector(t, up.URL)
			stored := func() *connectors.Hash {
				t.Helper()
				icon, err := b.Door().Connectors().Icon(t.Context(), c.ID)
				if now := b.reload(t, c).IconHash; (now == nil) != (err != nil) || now != nil && *now != *icon.Hash() {
					t.Errorf("the connector has %v, the icon is %v, %v", now, icon.Hash(), err)
				}
				if err != nil && !fault.Is(err, fault.NotFound) {
					t.Fatal(err)
				}
				return b.reload(t, c).IconHash
			}
			b.mustSync(t, c)
			first := stored()
			if first == nil {
				t.Fatal("no icon is stored")
			}
			b.syncDue(t) // may use cached info, which has no icons
			if now := stored(); now == nil || *now != *first {
				t.Errorf("after another sync: %v", now)
			}
			up.SetIcons(iconsOf(t, 16))
			b.mustSync(t, c)
			if now := stored(); now == nil || *now == *first {
				t.Errorf("after another icon: %v", now)
			}
			up.SetIcons(`[{"src":"data:image/svg+xml;base64,PHN2Zy8+"}]`)
			b.mustSync(t, c)
			if now := stored(); now != nil {
				t.Errorf("after an icon that is refused: %v", now)
			}
		})
	}
}
