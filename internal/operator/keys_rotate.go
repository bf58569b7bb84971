package operator

import (
	"context"
	"errors"
	"strconv"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/store"
)

type keysRotateCommand struct {
	databaseCommand
	Tenant string `placeholder:"SLUG" help:"Rotate only this tenant's key. Unset: the installation's key, which encrypts the tenants' keys."`
}

func (keysRotateCommand) Help() string {
	return "Creates a new key, waits until every running server has it, re-encrypts everything with it, and retires the old key once unused. " +
		"Each tenant's secrets are encrypted with its own key, and that with the installation's. On older installations, the first rotation moves secrets to tenants' keys. " +
		"No downtime. Safe to interrupt and rerun. " +
		"PATCHBAY_KEYSET does not change. API keys, agent tokens and recovery codes stay valid."
}

// Run rotates and prints its progress.
func (c keysRotateCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	err = c.rotateKeys(ctx, d, store.RotationOptions{Notify: (&rotationPrinter{out: p}).printProgress})
	if errors.Is(err, context.Canceled) {
		return fault.Errorf(fault.Unavailable, "Interrupted. Nothing is lost: run patchbay keys rotate again to continue.")
	}
	return err
}

func (c keysRotateCommand) rotateKeys(ctx context.Context, d *installation.Database, o store.RotationOptions) error {
	if c.Tenant == "" {
		return d.Store.RotateSealingKeys(ctx, o)
	}
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	o.Asked = new(auth.Operator(tenant).Event("keys.rotate", tenant.Slug))
	return d.Store.RotateTenantKeys(ctx, tenant.ID, o)
}

// countInterval is how often the number of sealed values is printed.
const countInterval = time.Second

// rotationPrinter prints the progress of a rotation.
type rotationPrinter struct {
	out       IO
	countedAt time.Time
}

func (l *rotationPrinter) printProgress(p store.RotationProgress) {
	switch p.Step {
	case store.RotationResumed:
		l.out.printLine("Continuing an unfinished rotation.")
	case store.KeyAdded:
		l.out.printLine("Added a new key.")
	case store.ReadersAwaited:
		l.out.printLine("Waiting for servers to read the new keys: %d of %d have.", p.Done, p.Total)
	case store.KeyPromoted:
		l.out.printLine("New secrets are now encrypted with the new key.")
	case store.TenantKeysEnabled:
		l.out.printLine("Each tenant's secrets are now encrypted with its own key.")
	case store.SecretsResealed:
		l.printCount(p)
	case store.SecretUnreadable:
		l.out.printLine("Can't be decrypted: %s", p.Row)
	case store.BearersKept:
		l.out.printLine("Existing API keys (%s), agent tokens (%s) and recovery codes (%s) stay valid.", formatThousands(p.Done), formatThousands(p.Total), formatThousands(p.Codes))
	case store.OldKeysRetired:
		l.out.printLine("Retired the old key: nothing is encrypted with it anymore.")
	}
}

func (l *rotationPrinter) printCount(p store.RotationProgress) {
	if p.Done < p.Total && time.Since(l.countedAt) < countInterval {
		return
	}
	l.countedAt = time.Now()
	l.out.printLine("Re-encrypted %s of %s.", formatThousands(p.Done), formatThousands(p.Total))
}

// formatThousands formats a number with grouped thousands.
func formatThousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
