package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// auditCut says that the entries of a tenant's audit log up to a place were cut off because they were old, and which hash the chain had there:
// what follows is checked from that. It is the detail of an entry, audit.cut, and so in the chain itself; the signature is the tenant's, as that
// of an export, so that whoever has the database alone cannot make one.
type auditCut struct {
	Tenant    connectors.TenantID `json:"-"`
	Entries   int64               `json:"entries"`
	Hash      string              `json:"hash"`
	Signature string              `json:"signature"`
}

// signed is what the signature is for. No export begins like it.
func (c auditCut) signed() []byte {
	return fmt.Appendf(nil, "cut\n%s\n%d\n%s\n", c.Tenant, c.Entries, c.Hash)
}

// verify tells whether the public key's installation has cut there; nil: it has.
func (c auditCut) verify(publicKey string) error {
	h := secret.NewSigned()
	h.Write(c.signed())
	return secret.VerifySigned(publicKey, auditExport, c.Signature, h)
}

// CutAudit puts on record, signed, that the tenant's entries of before a time are cut off, and what is on record of calls that ended before it, and
// says up to which place of the log: 0 where there are none. They are gone when whoever owns the tables removes them. A log that is not as it was recorded is left as it is, with a Conflict.
func (t *Tenant) CutAudit(ctx context.Context, before time.Time, e Event) (entries int64, err error) {
	check, err := t.CheckAudit(ctx)
	if err != nil {
		return 0, err
	}
	if check.Bad != nil {
		return 0, fault.Errorf(fault.Conflict, "The audit log is not as it was recorded, from entry %d on. Nothing of it is cut off.", check.Bad.N)
	}
	outcomes, err := t.CheckOutcomes(ctx, nil, time.Time{})
	if err != nil {
		return 0, err
	}
	if outcomes.Bad != nil {
		return 0, fault.Errorf(fault.Conflict, "Calls did not end as is on record, from batch %d on. Nothing is cut off.", outcomes.Bad.N)
	}
	calls, err := t.cutOutcomes(ctx, before)
	if err != nil {
		return 0, err
	}
	old, err := t.q.AuditOld(ctx, t.id, before)
	if err != nil {
		return 0, err
	}
	if old < 0 {
		old = check.Events
	}
	if old <= check.Cut && calls == nil {
		return check.Cut, nil
	}
	detail := map[string]any{"until": before.UTC()}
	if old > check.Cut {
		c := auditCut{Tenant: t.id, Entries: old}
		if err := t.signCut(ctx, &c); err != nil {
			return 0, err
		}
		detail["entries"], detail["hash"], detail["signature"] = c.Entries, c.Hash, c.Signature
	}
	if calls != nil {
		detail["calls"] = calls
	}
	e.Action, e.Detail = "audit.cut", detail
	return max(old, check.Cut), t.Record(ctx, e)
}

func (t *Tenant) signCut(ctx context.Context, c *auditCut) error {
	hash, err := t.q.AuditLinkHash(ctx, t.id, c.Entries)
	if err != nil {
		return fmt.Errorf("read the hash of entry %d: %w", c.Entries, err)
	}
	c.Hash = hex.EncodeToString(hash)
	signer, err := t.AuditSigner()
	if err != nil {
		return err
	}
	h := secret.NewSigned()
	h.Write(c.signed())
	c.Signature, err = signer.Sign(h)
	return err
}

// lastCut is what the chain's first link that is there follows on; false: the chain does not begin where anybody has signed that it does.
// The zero value: nothing was cut off.
func (t *Tenant) lastCut(ctx context.Context) (auditCut, bool, error) {
	first, err := t.q.AuditFirst(ctx, t.id)
	if err != nil || first <= 1 {
		return auditCut{Tenant: t.id}, true, err
	}
	signer, err := t.AuditSigner()
	if err != nil {
		return auditCut{}, false, err
	}
	details, err := t.q.AuditCuts(ctx, t.id, strconv.FormatInt(first-1, 10))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return auditCut{}, false, err
	}
	for _, detail := range details {
		c := auditCut{Tenant: t.id}
		if json.Unmarshal(detail, &c) == nil && c.Entries == first-1 && c.verify(signer.PublicKey()) == nil {
			return c, true, nil
		}
	}
	return auditCut{Tenant: t.id}, false, nil
}

// begin has a chain begin after a cut.
func (c *auditChain) begin(cut auditCut) bool {
	hash, err := hex.DecodeString(cut.Hash)
	if err != nil || len(hash) != sha256.Size || cut.Entries < 1 {
		return false
	}
	c.n, c.cut, c.before = cut.Entries, cut.Entries, hash
	return true
}
