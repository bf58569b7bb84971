package templates_test

import (
	"strings"
	"testing"

	"patchbay/internal/testing/htmlcheck"
	"patchbay/web/templates"
)

func formWith(t *testing.T, errors map[string]string) *htmlcheck.Page {
	t.Helper()
	form := connectorForm()
	form.Errors = errors
	form.Values["auth.token"] = "hunter2"
	return render(t, templates.ConnectorForm(templates.ConnectorFormPage{Frame: frame("Add connector", templates.NavConnectors), Form: form}))
}

func TestAnErrorStandsBesideItsField(t *testing.T) {
	t.Parallel()
	page := formWith(t, map[string]string{"url": "Use https.", "headers.X Bad": "“X Bad” is no header name."})
	for name, want := range map[string]string{"url": "Use https.", "headers": "“X Bad” is no header name."} {
		control, _ := page.Control(name)
		if control.Attr("aria-invalid") != "true" {
			t.Errorf("%s is not marked as wrong", name)
		}
		var said []string
		for id := range strings.FieldsSeq(control.Attr("aria-describedby")) {
			e, _ := page.ByID(id)
			said = append(said, e.Text())
		}
		if !strings.Contains(strings.Join(said, " "), want) {
			t.Errorf("%s is described by %q, not by its error", name, said)
		}
	}
	if name, _ := page.Control("name"); name.Attr("aria-invalid") != "false" {
		t.Errorf("name is marked as wrong")
	}
}

func TestAnErrorWithoutAFieldIsNotLost(t *testing.T) {
	t.Parallel()
	page := formWith(t, map[string]string{"tool_changes": "No such policy."})
	if !strings.Contains(page.Text("main"), "No such policy.") {
		t.Errorf("the error of an unknown field is not on the page")
	}
}

func TestASecretNeverComesBack(t *testing.T) {
	t.Parallel()
	page := formWith(t, nil)
	if control, ok := page.Control("auth.token"); !ok || control.Attr("value") != "" {
		t.Errorf("the token is on the page: %q", control.Attr("value"))
	}
}

func TestFormAnswersForTheFieldsBelow(t *testing.T) {
	t.Parallel()
	f := templates.Form{Errors: map[string]string{"headers.B": "two", "headers.A": "one", "headersX": "other"}}
	if got := f.Error("headers"); got != "one two" {
		t.Errorf("headers says %q", got)
	}
	if rest := f.Rest("headers"); len(rest) != 1 || rest[0] != "headersX: other" {
		t.Errorf("the rest is %q", rest)
	}
}
