package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// outcomeCut is the counterpart of auditCut for the chain of outcomes. It is part of an audit.cut entry's
// detail, with its own signature.
type outcomeCut struct {
	Tenant    connectors.TenantID `json:"-"`
	Places    int64               `json:"places"`
	Hash      string              `json:"hash"`
	Signature string              `json:"signature"`
}

func (c outcomeCut) signedBytes() hash.Hash {
	h := secret.NewSigned()
	_, _ = fmt.Fprintf(h, "cut calls\n%s\n%d\n%s\n", c.Tenant, c.Places, c.Hash)
	return h
}

// cutOutcomes signs the place up to which the tenant's links are older than a time; nil: none.
func (t *tenant) cutOutcomes(ctx context.Context, before time.Time) (*outcomeCut, error) {
	old, err := t.q.LastOutcomeBefore(ctx, t.id, before)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing is cut off
	}
	if err != nil {
		return nil, err
	}
	c := outcomeCut{Tenant: t.id, Places: old.N, Hash: hex.EncodeToString(old.Hash)}
	signer, err := t.asTenant().Audit().Signer()
	if err != nil {
		return nil, err
	}
	c.Signature, err = signer.Sign(c.signedBytes())
	return &c, err
}

// beginOutcomes starts a check at the chain's first stored link. The check has failed if no signed cut covers
// the missing links.
func (t *tenant) beginOutcomes(ctx context.Context, first int64) (*OutcomeCursor, error) {
	w := &OutcomeCursor{Tenant: t.id, Hash: make([]byte, sha256.Size)}
	if first <= 1 {
		return w, nil
	}
	signer, err := t.asTenant().Audit().Signer()
	if err != nil {
		return nil, err
	}
	details, err := t.q.OutcomeCuts(ctx, t.id, strconv.FormatInt(first-1, 10))
	if err != nil {
		return nil, err
	}
	for _, detail := range details {
		decoded := struct{ Calls outcomeCut }{}
		if json.Unmarshal(detail, &decoded) != nil {
			continue
		}
		c := decoded.Calls
		c.Tenant = t.id
		sum, err := hex.DecodeString(c.Hash)
		if err == nil && len(sum) == sha256.Size && c.Places == first-1 && secret.VerifySigned(signer.PublicKey(), auditExport, c.Signature, c.signedBytes()) == nil {
			w.N, w.Cut, w.Hash = c.Places, c.Places, sum
			return w, nil
		}
	}
	w.recordFlaw(1, nil, AuditCutOff)
	return w, nil
}
