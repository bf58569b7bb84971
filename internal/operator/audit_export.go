package operator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

type auditExportCommand struct {
	databaseCommand
	Tenant    string `required:"" placeholder:"TENANT" help:"The tenant's slug or id."`
	File      string `required:"" placeholder:"PATH" help:"Output file for the entries, as JSON Lines. Must not exist."`
	Signature string `required:"" placeholder:"PATH" help:"Output file for the signature. Must not exist."`
}

func (auditExportCommand) Help() string {
	return "Writes all entries and a signature, which `patchbay audit verify --file` verifies without the installation, " +
		"and prints the public key for that: keep it elsewhere. The export is itself audited."
}

// Run exports a tenant's audit log and prints its key.
func (c auditExportCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	door := d.Store.Tenant(tenant.ID)
	entries, err := newFile(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = entries.Close() }()
	signed, err := newFile(c.Signature)
	if err != nil {
		return errors.Join(err, os.Remove(c.File))
	}
	defer func() { _ = signed.Close() }()
	end, err := manage.New(d.Store, nil).RecordAuditExport(ctx, auth.Operator(tenant))
	if err != nil {
		return err
	}
	signature, err := door.Audit().Export(ctx, entries, end)
	if err == nil {
		_, err = fmt.Fprintln(signed, signature)
	}
	if err := errors.Join(err, entries.Sync(), signed.Sync()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The audit log couldn't be written. Check the disk space, then choose other files.")
	}
	signer, err := door.Audit().Signer()
	if err != nil {
		return err
	}
	p.printLine("%s: %d entries. The public key is %s", tenant.Slug, end, signer.PublicKey())
	return nil
}

// newFile creates a file with mode 0600. It overwrites none.
func newFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fault.Wrap(fault.Conflict, err, path+" already exists. Choose another file.")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, path+" can't be created. Choose another file.")
	}
	return f, nil
}
