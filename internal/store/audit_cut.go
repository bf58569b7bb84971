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

// auditCut records that the audit entries up to a place were removed by retention, with the chain's hash there.
// Checks start from that hash. It is the detail of an audit.cut entry, so the chain covers it. The tenant's
// signature keeps holders of the database from forging one.
type auditCut struct {
	Tenant    connectors.TenantID `json:"-"`
	Entries   int64               `json:"entries"`
	Hash      string              `json:"hash"`
	Signature string              `json:"signature"`
}

// signedBytes returns the signed message. No export starts with these bytes.
func (c auditCut) signedBytes() []byte {
	return fmt.Appendf(nil, "cut\n%s\n%d\n%s\n", c.Tenant, c.Entries, c.Hash)
}

// verifySignature checks the cut's signature by the public key.
func (c auditCut) verifySignature(publicKey string) error {
	h := secret.NewSigned()
	h.Write(c.signedBytes())
	return secret.VerifySigned(publicKey, auditExport, c.Signature, h)
}

// Cut signs and records that entries before a time are cut off, for the audit log and for call outcomes.
// It returns the last cut place, 0 for none. The table owner's cleanup then deletes the rows. A log with a flaw
// is left as it is: Conflict.
func (t Audit) Cut(ctx context.Context, before time.Time, e Event) (entries int64, err error) {
	check, err := t.Check(ctx)
	if err != nil {
		return 0, err
	}
	if check.Bad != nil {
		return 0, fault.Errorf(fault.Conflict, "The audit log was altered from entry %d on. Nothing was removed.", check.Bad.N)
	}
	outcomes, err := t.CheckOutcomes(ctx, nil, time.Time{})
	if err != nil {
		return 0, err
	}
	if outcomes.Bad != nil {
		return 0, fault.Errorf(fault.Conflict, "Call outcomes don't match the record from batch %d on. Nothing was removed.", outcomes.Bad.N)
	}
	calls, err := t.cutOutcomes(ctx, before)
	if err != nil {
		return 0, err
	}
	old, err := t.q.CountAuditEntriesBefore(ctx, t.id, before)
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

func (t *tenant) signCut(ctx context.Context, c *auditCut) error {
	hash, err := t.q.AuditLinkHash(ctx, t.id, c.Entries)
	if err != nil {
		return fmt.Errorf("read the hash of entry %d: %w", c.Entries, err)
	}
	c.Hash = hex.EncodeToString(hash)
	signer, err := t.asTenant().Audit().Signer()
	if err != nil {
		return err
	}
	h := secret.NewSigned()
	h.Write(c.signedBytes())
	c.Signature, err = signer.Sign(h)
	return err
}

// lastCut returns the cut before the chain's first stored link; the zero value if nothing was cut. It is false
// if no valid signature covers that link.
func (t *tenant) lastCut(ctx context.Context) (auditCut, bool, error) {
	first, err := t.q.FirstAuditLink(ctx, t.id)
	if err != nil || first <= 1 {
		return auditCut{Tenant: t.id}, true, err
	}
	signer, err := t.asTenant().Audit().Signer()
	if err != nil {
		return auditCut{}, false, err
	}
	details, err := t.q.AuditCuts(ctx, t.id, strconv.FormatInt(first-1, 10))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return auditCut{}, false, err
	}
	for _, detail := range details {
		c := auditCut{Tenant: t.id}
		if json.Unmarshal(detail, &c) == nil && c.Entries == first-1 && c.verifySignature(signer.PublicKey()) == nil {
			return c, true, nil
		}
	}
	return auditCut{Tenant: t.id}, false, nil
}

// startAtCut starts the chain after a cut.
func (c *auditChain) startAtCut(cut auditCut) bool {
	hash, err := hex.DecodeString(cut.Hash)
	if err != nil || len(hash) != sha256.Size || cut.Entries < 1 {
		return false
	}
	c.n, c.cut, c.lastHash = cut.Entries, cut.Entries, hash
	return true
}
