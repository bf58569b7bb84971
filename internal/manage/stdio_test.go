package manage_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/safehttp"
)

// allowing sets the only allowed command.
func (b *testEnv) allowing(c connectors.AllowedCommand) {
	b.reg = manage.New(b.St, safehttp.New(safehttp.Options{Mode: safehttp.Public}), c)
}

func TestUpdate_DisallowedCommandCanBeDisabled(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.allowing(connectors.AllowedCommand{Path: "/usr/bin/files"})
	c := b.create(t, connectors.Secret{}, func(d *connectors.Draft) {
		d.Transport, d.URL = connectors.TransportStdio, ""
		d.Command = connectors.Command{Path: "/usr/bin/files", Args: []string{"some-server"}, Dir: "/tmp/evil"}
		d.Env = connectors.Environment{"TOKEN": "s3cret"}
	})
	b.allowing(connectors.AllowedCommand{Path: "/usr/bin/files", Args: []string{"some-server"}, Env: []string{"DEBUG"}})
	change := func(change func(*connectors.Draft)) error {
		_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.ID.String()), manage.Change{Draft: change})
		return err
	}
	wantFields(t, change(func(d *connectors.Draft) { d.Name = "Files" }), "cwd")
	if err := change(func(d *connectors.Draft) { d.Enabled = false }); err != nil {
		t.Fatal(err)
	}
	if err := change(func(d *connectors.Draft) { d.Name = "Files" }); err != nil {
		t.Error(err)
	}
	for at, refused := range map[string]func(*connectors.Draft){
		"cwd":       func(d *connectors.Draft) { d.Enabled = true },
		"args":      func(d *connectors.Draft) { d.Command.Args = []string{"another"} },
		"env.TOKEN": func(d *connectors.Draft) { d.Command.Dir, d.Env = "", connectors.Environment{"TOKEN": "s3cret"} },
	} {
		wantFields(t, change(refused), at)
	}
	if err := change(func(d *connectors.Draft) { d.Enabled, d.Command.Dir = true, "" }); err != nil {
		t.Error(err) // the environment was deleted with the directory's change
	}
}
