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
	To string `required:"" placeholder:"URI" help:"What PATCHBAY_KEYSET is to be: aws-kms://ARN, hcvault://HOST/transit/keys/NAME, or file:PATH of a file with a key."`
}

func (keysRewrapCommand) Help() string {
	return "Moves the installation from one PATCHBAY_KEYSET to another: into a KMS, from one to another, or out again. Run it with the PATCHBAY_KEYSET of now; from then on both open the database. " +
		"Set PATCHBAY_KEYSET to the new one on every server, restart them one after the other, and run it again: when no server runs with the old one, that opens nothing any more. " +
		"A key that was a text in PATCHBAY_KEYSET goes to a file first (patchbay keys new > FILE), which may then stay the setting, or its text. " +
		"It may be interrupted and run again. With --to the old one it takes the move back."
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
			return nil, fault.Wrap(fault.Invalid, err, "--to must name a file with 32 random bytes in base64, as patchbay keys new prints them.")
		}
		return installation.NewLocalKeySource(kek), nil
	}
	// The text is not repeated: it may be a key, and command lines are visible to others.
	return nil, fault.Errorf(fault.Invalid, "--to must be aws-kms://ARN, hcvault://HOST/transit/keys/NAME or file:PATH, not the key itself: others can read a command line.")
}
