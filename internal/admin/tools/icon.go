package tools

import (
	"encoding/json"
	"strings"
)

// maxIconSize bounds a data URL in a page, in bytes. A page has up to fifty.
const maxIconSize = 2 << 10

// iconPrefixes are the data URLs that browsers draw without running or loading anything.
var iconPrefixes = []string{"data:image/svg+xml;base64,", "data:image/png;base64,", "data:image/webp;base64,", "data:image/jpeg;base64,"}

// FirstIcon is the first icon that came as a data URL; empty if there is none. Remote icons are not loaded,
// because their server would learn about the viewer.
func FirstIcon(icons json.RawMessage) string {
	var list []struct {
		Src string `json:"src"`
	}
	if len(icons) == 0 || json.Unmarshal(icons, &list) != nil {
		return ""
	}
	for _, icon := range list {
		for _, form := range iconPrefixes {
			if picture, ok := strings.CutPrefix(icon.Src, form); ok && len(icon.Src) <= maxIconSize && isBase64(picture) {
				return icon.Src
			}
		}
	}
	return ""
}

func isBase64(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == ""
}
