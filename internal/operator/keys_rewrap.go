package operator

import (
	"context"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/kms"
	"patchbay/internal/secret"
)

type keysRewrapCommand struct {
	databaseCommand
	To string `required:"" placeholder:"URI" help:"The new PATCHBAY_KEYSET: aws-kms://ARN, hcvault://HOST/transit/keys/NAME, or file:PATH."`
}

func (keysRewrapCommand) Help() string {
	return "Moves the installation to another PATCHBAY_KEYSET, such as a KMS, or back. Run it with the current PATCHBAY_KEYSET; then both keysets open the database. " +
		"Set the new PATCHBAY_KEYSET on every server, restart them one by one, and run it again: once no server uses the old keyset, it stops working. " +
		"Store a key that is set as text in a file first (patchbay keys new > FILE). " +
		"Safe to interrupt and rerun. To undo, use --to with the old keyset."
}

// Run does the next step of a move to another key, and prints what follows.
func (c keysRewrapCommand) Run(ctx context.Context, p IO) error {
	to, err := rewrapTarget(c.To, p.Version)
	if err != nil {
		return err
	}
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	kek, err := to.FindOrCreateKey(ctx, d.Pool)
	if err != nil {
		return err
	}
	m, err := d.Store.MoveKeys(ctx, kek, to.URI())
	if err != nil {
		return err
	}
	if m.Begun {
		p.printLine("Wrapped the installation's keys with both. Both open the database now.")
	}
	switch {
	case m.Done:
		p.printLine("Done: only PATCHBAY_KEYSET=%s opens the database now.", c.To)
	case m.Begun:
		p.printLine("Set PATCHBAY_KEYSET=%s on every server and restart them one by one (%d of %d run with it). Then run this again.", c.To, m.Ready, m.All)
	default:
		return fault.Errorf(fault.Conflict, "%d of %d servers run with another PATCHBAY_KEYSET. Restart them with %s, then run this again.", m.All-m.Ready, m.All, c.To)
	}
	return nil
}

func rewrapTarget(text, version string) (*installation.KeySource, error) {
	switch {
	case kms.Is(text):
		return installation.NewKMSKeySource(text, version)
	case strings.HasPrefix(text, "file:"):
		kek, err := secret.ParseKEK(text)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "--to must name a file with 32 random bytes in base64, as from patchbay keys new.")
		}
		return installation.NewLocalKeySource(kek), nil
	}
	// The text is not repeated: it may be a key, and command lines are visible to others.
	return nil, fault.Errorf(fault.Invalid, "--to must be aws-kms://ARN, hcvault://HOST/transit/keys/NAME or file:PATH, not the key itself: others can read command lines.")
}
