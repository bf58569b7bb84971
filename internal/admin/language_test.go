package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

func TestLanguage_IsChosenByThePerson(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.get("/connectors").want(t, http.StatusOK, `<html lang="en">`, "Add connector")
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/connectors"}}).want(t, http.StatusOK, `<html lang="de">`, "Connector hinzufügen")
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}}).want(t, http.StatusOK, "„Support“ hinzugefügt.")
	b.submit("/language", url.Values{"language": {"en"}, "return_to": {"/connectors"}}).want(t, http.StatusOK, `<html lang="en">`, "Add connector")
	if p := b.post("/language", url.Values{"language": {"de"}, "return_to": {"//evil.example"}}); p.Location != "/" {
		t.Errorf("the choice leads to %q", p.Location)
	}
}

func TestLanguage_FollowsAcceptLanguage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for accepts, want := range map[string]string{"": "en", "de-AT,de;q=0.9": "de", "fr,de;q=0.5": "de", "fr": "en", "en,de": "en", "]": "en"} {
		b := d.browser()
		b.header.Set("Accept-Language", accepts)
		b.get("/login").want(t, http.StatusOK, `<html lang="`+want+`">`)
	}
}

// TestNoEnglishIsLeftOnAGermanPage opens each page with failed servers, changed tools and waiting calls. It
// fails for an English text that has a German translation, of the dashboard or of another package.
func TestNoEnglishIsLeftOnAGermanPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	ids := d.ownThings()
	ids.link = d.createConnectLink(b)
	d.createNeeds()
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/"}}).want(t, http.StatusOK)
	pages := d.openPages(ids)
	for _, path := range []string{"/search?q=x", "/connectors/nowhere", "/connectors/down", "/agents/nobody"} {
		pages[path] = 0
	}
	for path := range pages {
		p := b.get(path)
		p.want(t, p.Status, `<html lang="de">`)
		for _, text := range findEnglishTexts(t, p.Body) {
			t.Errorf("%s says %q", path, text)
		}
	}
}

func TestLanguage_RefusalsAreTranslated(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/"}}).want(t, http.StatusOK)
	for _, form := range []struct {
		path string
		send url.Values
		says []string
	}{
		{"/connectors", url.Values{"transport": {"streamable_http"}, "auth.type": {"none"}, "url": {"ftp://x"}}, []string{"Geben Sie einen Namen ein."}},
		{"/agents", url.Values{"approval": {"always_ask"}}, []string{"Geben Sie einen Namen ein."}},
		{"/connectors/import", url.Values{"document": {"{"}}, []string{"Zeile 1: unerwartetes Ende."}},
		{"/webhooks", url.Values{"name": {""}, "url": {"https://example.com"}}, []string{"Muss 1–100 Zeichen lang sein."}},
		{"/account/password", url.Values{"current_password": {"wrong"}, "new_password": {"long enough, as it is"}}, []string{"Falsches Passwort."}},
	} {
		p := b.submit(form.path, form.send)
		p.want(t, p.Status, append(form.says, `<html lang="de">`)...)
		for _, text := range findEnglishTexts(t, p.Body) {
			t.Errorf("%s says %q", form.path, text)
		}
	}
}

// untranslated are names that equal an English text: an authentication, servers, a tool, icon letters, and
// prefixes of audit actions, which programs read too.
var untranslated = map[string]bool{
	"No":   true, // the mark of Notion
	"none": true, "Documentation": true, "Close": true, "As": true, "Search": true,
	"agent": true, "approval": true, "connector": true, "credential": true, "member": true, "tenant": true, "tool": true, "webhook": true,
}

// findEnglishTexts finds the page's English texts that have a German translation.
func findEnglishTexts(t *testing.T, page string) []string {
	t.Helper()
	german := i18n.With(t.Context(), i18n.German)
	var found []string
	look := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !untranslated[text] && i18n.TranslateKnown(german, text) != text {
			found = append(found, text)
		}
	}
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		if tok.Type == html.TextToken {
			look(tok.Data)
		}
		for _, a := range tok.Attr {
			if a.Key == "title" || a.Key == "aria-label" || a.Key == "placeholder" {
				look(a.Val)
			}
		}
	}
	return found
}
