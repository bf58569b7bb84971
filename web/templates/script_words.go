package templates

import (
	"context"
	"encoding/json"

	"patchbay/internal/i18n"
)

// scriptTexts are the scripts' texts, by the English text. words.js finds them in the page.
var scriptTexts = []i18n.Key{
	"Copied", "The browser blocked copying", "The browser blocked copying. The text is selected",
	"all of them", "%s of %s selected", "%s selected", "%s shown", "Dismiss",
	"%s s", "%s min %s s", "%s h %s min",
}

// scriptWords are those texts in the context's language, with the plural forms of counts, as JSON.
func scriptWords(ctx context.Context) (string, error) {
	texts := map[i18n.Key]any{
		"%[2]s, about %[1]s tokens": i18n.Forms(ctx, "%[2]s, about %[1]s token", "%[2]s, about %[1]s tokens"),
		"%s new calls":              i18n.Forms(ctx, "%s new call", "%s new calls"),
	}
	for _, key := range scriptTexts {
		if text := i18n.T(ctx, key); text != string(key) { // without a text a script shows the key
			texts[key] = text
		}
	}
	raw, err := json.Marshal(texts)
	return string(raw), err
}
