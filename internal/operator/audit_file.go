package operator

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// auditFileFlags name an exported audit log.
type auditFileFlags struct {
	File      string `placeholder:"PATH" help:"An exported audit log to verify without a database." group:"An exported log"`
	Signature string `placeholder:"PATH" help:"The export's signature." group:"An exported log"`
	Key       string `placeholder:"KEY" help:"The public key that the export printed." group:"An exported log"`
}

func (f auditFileFlags) isSet() bool { return f != auditFileFlags{} }

// verifyFile checks the signature and the chain of the export.
func (f auditFileFlags) verifyFile(p IO) error {
	if f.File == "" || f.Signature == "" || f.Key == "" {
		return fault.Errorf(fault.Invalid, "Verifying an export requires --file, --signature and --key.")
	}
	file, err := os.Open(f.File)
	if err != nil {
		return newUnreadableError(f.File, err)
	}
	defer func() { _ = file.Close() }()
	signed, err := os.Open(f.Signature)
	if err != nil {
		return newUnreadableError(f.Signature, err)
	}
	defer func() { _ = signed.Close() }()
	const maxSignature = 1 << 10 // a signature has 88 characters
	signature, err := io.ReadAll(io.LimitReader(signed, maxSignature))
	if err != nil {
		return newUnreadableError(f.Signature, err)
	}
	check, err := store.CheckAuditFile(file, string(signature), f.Key)
	if err != nil {
		return newUnreadableError(f.File, err)
	}
	return f.printCheck(p, check)
}

func newUnreadableError(path string, cause error) error {
	return fault.Wrap(fault.Invalid, cause, path+" can't be read.")
}

func (f auditFileFlags) printCheck(p IO, check store.AuditFile) error {
	switch {
	case check.Signed == nil && check.Bad == nil:
		_, err := fmt.Fprintf(p.Stdout, "%d entries of tenant %s are unchanged and signed, up to %s\n", check.Events-check.Cut, check.Tenant, hex.EncodeToString(check.Head))
		return err
	case check.Signed == nil:
		p.printLine("The signature is valid, but the log was already altered when it was signed.")
	default:
		p.printLine("The signature is invalid: the file, signature and key don't match.")
	}
	if bad := check.Bad; bad != nil {
		p.printLine("Entry %d: %s", bad.N, bad.Reason)
	}
	return SilentFailure{}
}
