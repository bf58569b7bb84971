package admin

import (
	"encoding/json"
	"strings"
)

// largestIcon is how long the address of an icon may be that travels in a page, where there are up to fifty of them.
const largestIcon = 2 << 10

// iconForms are the kinds of picture that a browser draws as a picture alone: nothing in it runs or loads anything.
var iconForms = []string{"data:image/svg+xml;base64,", "data:image/png;base64,", "data:image/webp;base64,", "data:image/jpeg;base64,"}

// iconOf is the first icon that a tool's server sent along; empty: it sent none, or only addresses. Those are not loaded: they would tell
// its server, or somebody else, who looks at the tool.
func iconOf(icons json.RawMessage) string {
	var list []struct {
		Src string `json:"src"`
	}
	if len(icons) == 0 || json.Unmarshal(icons, &list) != nil {
		return ""
	}
	for _, icon := range list {
		for _, form := range iconForms {
			if picture, ok := strings.CutPrefix(icon.Src, form); ok && len(icon.Src) <= largestIcon && isBase64(picture) {
				return icon.Src
			}
		}
	}
	return ""
}

func isBase64(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == ""
}
