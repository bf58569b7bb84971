package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safehttp"
)

func TestProgram_EnvironmentIsNeverShown(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) {
		o.Registry = manage.New(o.Store, safehttp.New(safehttp.Options{Mode: safehttp.Local}), connectors.AllowedCommand{Path: mcptest.Shell})
	})
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Local Tools", "", "transport", "stdio", "command", mcptest.Shell, "args", "-c\r\n  exec cat \r\n\r\n", "cwd", "",
		"env", "GREETING=s3cret=value \r\n\r\nB=\r\n")
	wrong := connectorForm("Local Tools", "", "transport", "stdio", "command", "/bin/other", "env", "s3cret=value")
	p := b.post("/connectors", wrong)
	p.want(t, http.StatusUnprocessableEntity, "This command isn't allowed here.")
	if p.says("s3cret=value") {
		t.Error("the page repeats the environment")
	}
	wrong.Set("env", "s3cret value")
	if p = b.post("/connectors", wrong); p.Status != http.StatusUnprocessableEntity || p.says("s3cret value") {
		t.Errorf("%d", p.Status)
	}
	if p = b.post("/connectors", form); p.Location != "/connectors/local-tools/start" {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	c, err := d.Door().Connectors().Get(t.Context(), "local-tools")
	want := connectors.Command{Path: mcptest.Shell, Args: []string{"-c", "  exec cat "}}
	if diff := cmp.Diff(want, c.Command); diff != "" || err != nil || c.URL != "" {
		t.Error(diff, err, c.URL)
	}
	env, err := d.St.Vault(d.Tenant).Environment(t.Context(), c)
	if diff := cmp.Diff(connectors.Environment{"GREETING": "s3cret=value ", "B": ""}, env); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, path := range []string{"", "/settings", "/credentials"} {
		if p = b.get("/connectors/local-tools" + path); p.Status != http.StatusOK || p.says("s3cret=value") {
			t.Errorf("%s: %d, or it shows the environment", path, p.Status)
		}
	}
	b.get("/connectors/local-tools").want(t, http.StatusOK, "Command", "B, GREETING", "Program (stdio)")
	b.get("/connectors/local-tools/settings").want(t, http.StatusOK, "Stored: B, GREETING.")

	form.Del("env") // an empty field keeps it
	b.post("/connectors/local-tools", form).want(t, http.StatusSeeOther)
	form.Set("args", "-c\nexec sh")
	b.post("/connectors/local-tools", form).want(t, http.StatusSeeOther)
	b.get("/connectors/local-tools/settings").want(t, http.StatusOK, "Stored environment deleted: command, arguments or folder changed. Set it again.")
	if c, err = d.Door().Connectors().Get(t.Context(), "local-tools"); err != nil || len(c.EnvNames) != 0 {
		t.Errorf("%q, %v", c.EnvNames, err)
	}
}

func TestProgram_IsNotStartedWhenNotAllowed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Local Tools", "", "transport", "stdio", "command", mcptest.Shell, "args", strings.Join(mcptest.Program, "\n"))
	for _, path := range []string{"/connectors", "/connectors/test"} {
		b.post(path, form).want(t, http.StatusUnprocessableEntity, "Programs are turned off here. The operator can allow them.")
	}
}

func TestProgram_DisallowedSettingIsAFieldError(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) {
		o.Registry = manage.New(o.Store, safehttp.New(safehttp.Options{Mode: safehttp.Local}), connectors.AllowedCommand{
			Path: mcptest.Shell, Rule: connectors.ArgsNone, Env: []string{"GREETING"},
		})
	})
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Local Tools", "", "transport", "stdio", "command", mcptest.Shell, "cwd", "/tmp", "env", "GREETING=s3cret=value\nOTHER=s3cret=value")
	p := b.post("/connectors", form)
	p.want(t, http.StatusUnprocessableEntity, "/bin/sh isn't allowed to run in this folder. Leave the folder empty.", "/bin/sh isn't allowed to receive OTHER: the operator must allow it with env=OTHER.")
	if p.says("s3cret=value") {
		t.Error("the page repeats the environment")
	}
	form.Set("args", "-c")
	b.post("/connectors", form).want(t, http.StatusUnprocessableEntity, "/bin/sh isn't allowed with these arguments.")
}
