package admin_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

func TestAPersonChoosesTheLanguageOfThePages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	b.get("/connectors").want(t, http.StatusOK, `<html lang="en">`, "Add connector")
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/connectors"}}).want(t, http.StatusOK, `<html lang="de">`, "Connector hinzufügen")
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}}).want(t, http.StatusOK, "„Support“ ist hinzugefügt.")
	b.submit("/language", url.Values{"language": {"en"}, "return_to": {"/connectors"}}).want(t, http.StatusOK, `<html lang="en">`, "Add connector")
	if p := b.post("/language", url.Values{"language": {"de"}, "return_to": {"//evil.example"}}); p.Location != "/" {
		t.Errorf("the choice leads to %q", p.Location)
	}
}

func TestThePagesSpeakWhatTheBrowserAccepts(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for accepts, want := range map[string]string{"": "en", "de-AT,de;q=0.9": "de", "fr,de;q=0.5": "de", "fr": "en", "en,de": "en", "]": "en"} {
		b := d.browser()
		b.header.Set("Accept-Language", accepts)
		b.get("/login").want(t, http.StatusOK, `<html lang="`+want+`">`)
	}
}

// TestNoEnglishIsLeftOnAGermanPage opens each page of the router, with servers that failed, tools that changed and calls that wait in the
// tenant. What a page still says in English is found where German has another text for it: the dashboard's own texts, and every sentence,
// name and title of another room.
func TestNoEnglishIsLeftOnAGermanPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	ids := d.own()
	ids.link = d.link(b)
	d.needy()
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/"}}).want(t, http.StatusOK)
	pages := d.pages(ids)
	for _, path := range []string{"/search?q=x", "/connectors/nowhere", "/connectors/down", "/agents/nobody"} {
		pages[path] = 0
	}
	for path := range pages {
		p := b.get(path)
		p.want(t, p.Status, `<html lang="de">`)
		for _, text := range inEnglish(t, p.Body) {
			t.Errorf("%s says %q", path, text)
		}
	}
}

func TestWhatARoomRefusesIsSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	b.submit("/language", url.Values{"language": {"de"}, "return_to": {"/"}}).want(t, http.StatusOK)
	for _, form := range []struct {
		path string
		send url.Values
		says []string
	}{
		{"/connectors", url.Values{"transport": {"streamable_http"}, "auth.type": {"none"}, "url": {"ftp://x"}}, []string{"Ein Name ist nötig."}},
		{"/agents", url.Values{"approval": {"always_ask"}}, []string{"Ein Name ist nötig."}},
		{"/connectors/import", url.Values{"document": {"{"}}, []string{"Zeile 1: Das Dokument endet zu früh."}},
		{"/webhooks", url.Values{"name": {""}, "url": {"https://example.com"}}, []string{"Ein Name hat 1 bis 100 Zeichen."}},
		{"/account/password", url.Values{"current_password": {"wrong"}, "new_password": {"long enough, as it is"}}, []string{"Das ist nicht das jetzige Passwort."}},
	} {
		p := b.submit(form.path, form.send)
		p.want(t, p.Status, append(form.says, `<html lang="de">`)...)
		for _, text := range inEnglish(t, p.Body) {
			t.Errorf("%s says %q", form.path, text)
		}
	}
}

// asTheyAre are names that are the same text as one of ours: of a way to sign in, of servers and of a tool, the letters of a server's picture,
// and what the audit log's actions begin with, which programs read as well.
var asTheyAre = map[string]bool{
	"none": true, "Documentation": true, "Close": true, "As": true, "Search": true,
	"agent": true, "approval": true, "connector": true, "credential": true, "member": true, "tenant": true, "tool": true, "webhook": true,
}

// inEnglish are the texts of a page that German would have put otherwise.
func inEnglish(t *testing.T, page string) []string {
	t.Helper()
	german := words.With(t.Context(), words.German)
	var found []string
	look := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !asTheyAre[text] && words.Said(german, text) != text {
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

func TestAGermanPageFitsAPhone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.as(connectors.RoleAdmin).submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	tab := d.signedIn(connectors.RoleOwner)
	tab.Go(d.base + "/")
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=de]")
	tab.WaitText("h1", "Willkommen bei Patchbay")
	d.needy() // from here on there are failures to tell of, and changes
	tab.Size(360, 800)
	for _, path := range []string{
		"/", "/connectors", "/connectors/new", "/connectors/stripe", "/connectors/linear/tools/search/changes", "/connectors/nowhere",
		"/agents/support", "/calls", "/approvals", "/notices", "/members", "/catalog", "/settings",
	} {
		tab.Go(d.base + path)
		tab.WaitText("#sidebar", "Freigaben")
		tab.Fits()
		if path == "/connectors/nowhere" {
			tab.Forgive("404")
		}
		if dir := os.Getenv("PATCHBAY_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, "german"+strings.ReplaceAll(path, "/", "-")+".png"))
		}
	}
	tab.Size(1360, 900)
	tab.Go(d.base + "/connectors")
	tab.Accessible()
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=en]")
	tab.WaitText("h1", "Connectors")
	tab.WaitText("#sidebar", "Approvals")
}

func TestScriptsSpeakThePagesLanguage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.offering("Linear", 2)
	tab := d.signedIn(connectors.RoleAdmin)
	tab.Go(d.base + "/agents/support/connectors/linear")
	tab.WaitText("[data-grant-count]", "0 of 8 chosen, about 0 tokens")
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "8 of 8 chosen, about")
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=de]")
	tab.WaitText("#sidebar", "Freigaben")
	tab.WaitText("[data-grant-count]", "0 von 8 gewählt, etwa 0 Tokens")
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "8 von 8 gewählt, etwa")
}
