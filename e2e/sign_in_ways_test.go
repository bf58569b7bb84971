//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"patchbay/internal/testing/browser"
)

// TestAProgramsPersonProvesASecondFactorOnTheWay: password, then a code, then the question. In the other revision a recovery code does.
func TestAProgramsPersonProvesASecondFactorOnTheWay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	s.setUp(newPerson(t))
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	c.offersTools(upstream)
	owner := browser.Open(t)
	signInTab(owner, s.base)
	key, recovery := enrols(t, owner, s.base)
	for revision, code := range map[string]string{"2025-11-25": codeAt(t, key, time.Now().Add(30*time.Second)), newest: recovery} {
		p := newSignsIn(t, browser.Open(t), func(tab *browser.Tab) {
			tab.WaitText("h1", "Sign in")
			tab.Fill("[name=email]", ownerEmail)
			tab.Fill("[name=password]", ownerPassword)
			tab.Click("main form button[type=submit]")
			tab.WaitText("h1", "Second factor")
			tab.Fill("[name=code]", code)
			tab.Click("main form button[type=submit]")
			letsIn(tab)
		})
		p.comes(s.base, "/mcp", revision)
	}
}

// enrols sets up a second factor by the account's page, and returns its key and a recovery code.
func enrols(t *testing.T, tab *browser.Tab, base string) (key, recovery string) {
	t.Helper()
	tab.Go(base + "/account/second-factor")
	tab.Click("form[action='/account/second-factor'] button")
	tab.WaitText("main", "Scan this with an authenticator app")
	key = strings.ReplaceAll(tab.Text(".enrol pre"), " ", "")
	tab.Fill("[name=code]", codeAt(t, key, time.Now()))
	tab.Click("form[action='/account/second-factor/confirm'] button")
	tab.WaitText("main", "Your recovery codes")
	recovery, _, _ = strings.Cut(tab.Text(".factor pre"), "\n")
	return key, recovery
}

func codeAt(t *testing.T, key string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(key, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// TestAuthorize_SignInBySSO: with enforced SSO the program's person is redirected to the provider (npm's
// oidc-provider) and returns to the consent page, however long the request is. A manager types the provider's
// password again, because the provider may remember an earlier person.
func TestAuthorize_SignInBySSO(t *testing.T) {
	t.Parallel()
	const ada, eve = "ada@acme.example", "eve@acme.example"
	o := newOrganisation(t, map[string]known{
		ada: {Name: "Ada Lovelace", Verified: true, Groups: []string{"staff", "engineers"}},
		eve: {Verified: true, Groups: []string{"visitors"}},
	})
	o.c.offersTools(o.devMCP())
	owner := browser.Open(t)
	signInTab(owner, o.base)
	o.setUp(owner, newLooker(t, owner))
	o.enforce(owner)
	for _, revision := range []string{"2025-11-25", newest} {
		p := newSignsIn(t, browser.Open(t), func(tab *browser.Tab) {
			tab.WaitText("h1", "Sign in")
			tab.Fill("[name=email]", ada)
			tab.Click("[formaction='/login/sso']")
			o.provider.agree(tab, ada)
			o.confirms(tab, ada)
			letsIn(tab)
		})
		p.comes(o.base, "/mcp", revision)
	}

	// A person refused by the provider sees so on the page where it began. Another may sign in there: the
	// request still waits.
	p := newSignsIn(t, browser.Open(t), func(tab *browser.Tab) {
		tab.WaitText("h1", "Sign in")
		tab.Fill("[name=email]", eve)
		tab.Click("[formaction='/login/sso']")
		o.provider.agree(tab, eve)
		tab.WaitText("main", "None of your provider groups has access here.")
		tab.Forgive("403")
		tab.Fill("[name=email]", ownerEmail)
		tab.Fill("[name=password]", ownerPassword)
		tab.Click("main form button[type=submit]")
		letsIn(tab)
	})
	p.comes(o.base, "/mcp", newest)
	if status := newPerson(t).get(o.base + "/oauth/authorize?client_id=x").status; status != http.StatusSeeOther {
		t.Errorf("a stranger is answered %d", status)
	}
}

// confirms signs in at the provider again, and goes on where that was asked. It is one tab here, which for a person are two.
func (o *organisation) confirms(tab *browser.Tab, email string) {
	o.t.Helper()
	tab.WaitText("h1", "Confirm it's you")
	began := browser.Eval[string](tab, `document.querySelector("form[action='/confirm/sso']").removeAttribute("target") || location.href`)
	tab.Click("form[action='/confirm/sso'] button")
	tab.WaitText("h1", "Sign in")
	tab.Fill("[name=login]", email)
	tab.Click("#login button")
	tab.WaitText("main", "Close this tab and continue where you started.")
	tab.Go(began)
	tab.Click("form[action='/confirm'] button")
}
