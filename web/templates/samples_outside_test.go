package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

func doorSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(templates.Frame{Title: "Sign in"})
	pages["sso"] = templates.SSO(templates.SSOPage{
		Frame: with(frame("Single sign-on", templates.NavSettings)), State: stateOK, SetUp: true, Facts: []templates.Fact{{Label: "Tested", When: &longAgo}},
		Form:  templates.Form{Values: map[string]string{"issuer": "https://login.example.com", "client_id": "patchbay", "groups": "engineers = admin"}},
		Roles: []templates.Option{{Label: "No access"}}, Owners: []templates.Option{{Label: "No one"}},
		Domains: []templates.SSODomainRow{{Domain: "acme.example", State: stateOK}, {Domain: "acme.test", State: stateOK, Host: "_patchbay.acme.test", Proof: "patchbay-verify=A"}},
	})
	pages["sign-in"] = templates.SignIn(templates.SignInPage{Frame: f, ReturnTo: "/connectors"})
	pages["sign-in-wrong"] = templates.SignIn(templates.SignInPage{Frame: f, Form: templates.Form{Problem: "E-mail or password is wrong.", Values: map[string]string{"email": "ada@example.com"}}})
	pages["sign-in-mails"] = templates.SignIn(templates.SignInPage{Frame: f, Mails: true})
	pages["forgot"] = templates.Forgot(templates.ForgotPage{Frame: f, Form: templates.Form{Errors: map[string]string{"email": "Enter an email address."}, Values: map[string]string{"email": "ada"}}})
	pages["forgot-sent"] = templates.Forgot(templates.ForgotPage{Frame: f, Sent: "ada@example.com"})
	pages["reset"] = templates.Reset(templates.ResetPage{Frame: f, Token: "once", Email: "ada@example.com", Form: templates.Form{Errors: map[string]string{"new_password": "Too short."}}})
	pages["code"] = templates.Code(templates.CodePage{Frame: f, ReturnTo: "/", Form: templates.Form{Errors: map[string]string{"code": "This code is wrong."}}})
	held := []templates.HiddenField{{Name: "return_to", Value: "/audit"}, {Name: "confirm_dropped", Value: "token"}}
	pages["confirm"] = templates.Confirm(templates.ConfirmPage{Frame: f, Email: "ada@example.com", Action: "/confirm", Back: "/", Factor: true, Act: "delete this agent", Held: held, Form: templates.Form{Errors: map[string]string{"confirm_password": "Wrong password."}}})
	pages["confirm-sso"] = templates.Confirm(templates.ConfirmPage{Frame: f, Action: "/confirm", Back: "/", BySSO: true, Held: held})
	drawn := templates.QRCode{Size: "9", Path: "M4 4h1v1h-1z"}
	for name, p := range map[string]templates.SecondFactorPage{
		"off": {}, "set-up": {Key: "AAAA BBBB", URI: "otpauth://totp/x", Code: drawn}, "on": {On: true, Left: "9 recovery codes left."},
		"elsewhere": {Elsewhere: true}, "codes": {New: []string{"aaaa-bbbb-cccc-dddd"}},
		"required": {Tenant: "Acme", Key: "AAAA BBBB", URI: "otpauth://totp/x", Code: drawn, Others: []templates.TenantChoice{{Slug: "globex", Name: "Globex"}}},
	} {
		p.Frame = with(frame("Second factor", templates.NavAccount))
		pages["second-factor-"+name] = templates.SecondFactor(p)
	}
	pages["setup"] = templates.Setup(templates.SetupPage{Frame: with(templates.Frame{Title: "Set up"}), Token: "once", Tenant: "Default"})
	join := templates.JoinPage{Frame: with(templates.Frame{Title: "Join Acme Inc"}), Token: "once", Tenant: "Acme Inc", Email: "joan@example.com", Role: "Member: also syncs", By: "Ada Lovelace", Ends: ago}
	pages["join"] = templates.Join(join)
	join.Who = join.Email
	pages["join-signed-in"] = templates.Join(join)
	join.Who, join.By = "grace@example.com", ""
	pages["join-other-address"] = templates.Join(join)
	f.Title = "Connect"
	pages["leaving"] = templates.Leaving(templates.LeavingPage{Frame: f, Host: "accounts.example.com", URL: "https://accounts.example.com/authorize?state=x&scope=read+write", Back: "/connectors/linear/credentials"})
	invited := templates.InvitationPage{
		Frame: f, Tenant: "Acme Inc", Connector: "Linear", Host: "mcp.linear.app", Agent: "Support", MadeBy: "Ada Lovelace", Server: "accounts.example.com",
		Scopes: []string{"read", "write", "issues:create", "https://www.example.com/auth/drive.readonly"}, Ends: soon, Action: "/connect/token",
	}
	pages["invitation"] = templates.Invitation(invited)
	invited.Agent, invited.Scopes, invited.Server, invited.Problem = "", nil, "", "The authorization server can't be reached or failed. It may work later."
	pages["invitation-down"] = templates.Invitation(invited)
	f.Flash = &templates.Flash{Kind: templates.FlashNotice, Text: "Connected “Linear”. Discovered 23 tools."}
	pages["connect-done"] = templates.Said(templates.SaidPage{Frame: f, Title: "You can close this page", Text: "The sender can see that it's connected."})
	f.Flash = nil
	pages["not-connected"] = templates.Said(templates.SaidPage{Frame: f, Title: "Not connected", Text: "Access wasn't granted. Nothing was stored.", Links: []templates.Link{{Text: "Go to connectors", Href: "/connectors"}}})
	pages["error-outside"] = templates.Error(templates.ErrorPage{Frame: with(templates.Frame{Title: "Link used"}), Status: 404, Title: "This link no longer works", Text: "A setup link works once. The server prints a new one when it starts, as long as there is no owner.", Links: []templates.Link{{Text: "Sign in", Href: "/login"}}})
}
