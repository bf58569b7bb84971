package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// auditExport is the signature purpose of audit exports.
const auditExport = "patchbay audit export"

// auditLine is an entry of an exported audit log. Detail is last and byte-identical to the database's text
// because the hash covers it.
type auditLine struct {
	N         int64           `json:"n"` // number in the chain, from 1
	TenantID  uuid.UUID       `json:"tenant_id"`
	ID        uuid.UUID       `json:"id"`
	At        time.Time       `json:"at"`
	ActorType string          `json:"actor_type"`
	ActorID   *uuid.UUID      `json:"actor_id"`
	ActorName string          `json:"actor_name"`
	Action    string          `json:"action"`
	Target    string          `json:"target"`
	RequestID string          `json:"request_id"`
	IP        string          `json:"ip"`
	Hash      string          `json:"hash"`
	Detail    json.RawMessage `json:"detail,omitempty"`
}

// Signer returns the signer of the tenant's audit exports.
func (t Audit) Signer() (secret.Signer, error) {
	return t.store.Keyring().Signer(auditExport, t.id.String())
}

// Export writes entries 1 to until as JSON Lines and returns the signature. Entries are append-only, so
// the same until gives the same bytes.
func (t Audit) Export(ctx context.Context, w io.Writer, until int64) (signature string, err error) {
	signer, err := t.Signer()
	if err != nil {
		return "", err
	}
	cut, _, err := t.lastCut(ctx) // an unsigned cut is omitted, and a check of the export finds it
	if err != nil {
		return "", err
	}
	signed := secret.NewSigned()
	out := bufio.NewWriter(io.MultiWriter(w, signed))
	if err := writeCutLine(out, cut); err != nil {
		return "", err
	}
	for after := cut.Entries; after < until; {
		links, err := t.q.AuditLinks(ctx, dbgen.AuditLinksParams{TenantID: t.id, After: after, Until: until, MaxRows: auditPageSize})
		if err != nil {
			return "", err
		}
		if len(links) == 0 {
			break // the rest was cut off: a check of the export finds it
		}
		for i := range links {
			if err := writeAuditLine(out, t.id, &links[i]); err != nil {
				return "", err
			}
		}
		after = links[len(links)-1].N
	}
	if err := out.Flush(); err != nil {
		return "", err
	}
	return signer.Sign(signed)
}

// End returns the number of the tenant's last entry, 0 for none.
func (t Audit) End(ctx context.Context) (int64, error) {
	head, err := t.q.AuditHead(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return head.Events, err
}

// cutLine is the first line of an export after a cut.
type cutLine struct {
	TenantID uuid.UUID `json:"tenant_id"`
	Cut      *auditCut `json:"cut"`
}

func writeCutLine(w *bufio.Writer, cut auditCut) error {
	if cut.Entries == 0 {
		return nil
	}
	line, err := json.Marshal(cutLine{TenantID: cut.Tenant.UUID, Cut: &cut})
	if err != nil {
		return fmt.Errorf("export the cut: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// addCut starts the chain at the cut in an export's first line. It is false if the line is an entry.
func (c *auditChain) addCut(text []byte, publicKey string) bool {
	var l cutLine
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(&l) != nil || l.Cut == nil {
		return false
	}
	c.tenant = connectors.TenantID{UUID: l.TenantID}
	l.Cut.Tenant = c.tenant
	if l.Cut.verifySignature(publicKey) != nil || !c.startAtCut(*l.Cut) {
		c.recordFlaw(1, nil, AuditCutOff)
	}
	return true
}

func writeAuditLine(w *bufio.Writer, tenant connectors.TenantID, l *dbgen.AuditLinksRow) error {
	if !l.Present {
		return nil // the missing number is found by a check of the export
	}
	line, err := json.Marshal(auditLine{
		N: l.N, TenantID: tenant.UUID, ID: l.EventID, At: l.At.UTC(), ActorType: *l.ActorType, ActorID: l.ActorID, ActorName: *l.ActorName,
		Action: *l.Action, Target: *l.Target, RequestID: *l.RequestID, IP: *l.Ip, Hash: hex.EncodeToString(l.Hash),
	})
	if err != nil {
		return fmt.Errorf("export entry %d: %w", l.N, err)
	}
	_, err = fmt.Fprintf(w, "%s,\"detail\":%s}\n", line[:len(line)-1], l.Detail)
	return err
}

// AuditFile is the result of checking an exported audit log.
type AuditFile struct {
	AuditCheck
	Tenant connectors.TenantID
	Signed error // nil: the signature matches
}

// CheckAuditFile checks an exported audit log offline: the signature by the public key, and the hash of each
// entry. The error is one of reading.
func CheckAuditFile(file io.Reader, signature, publicKey string) (AuditFile, error) {
	signed := secret.NewSigned()
	c := auditChain{lastHash: make([]byte, 32)}
	in := bufio.NewReader(io.TeeReader(file, signed))
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && !(first && c.addCut(line, strings.TrimSpace(publicKey))) {
			c.addLine(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return AuditFile{}, err
		}
	}
	f := AuditFile{AuditCheck: AuditCheck{Events: c.n, Head: c.lastHash, Bad: c.flaw, Cut: c.cut}, Tenant: c.tenant}
	f.Signed = secret.VerifySigned(strings.TrimSpace(publicKey), auditExport, strings.TrimSpace(signature), signed)
	return f, nil
}

// addLine adds one line of an export to the chain.
func (c *auditChain) addLine(text []byte) {
	var l auditLine
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	sum := []byte(nil)
	err := strict.Decode(&l)
	if err == nil {
		sum, err = hex.DecodeString(l.Hash)
	}
	if c.n == 0 {
		c.tenant = connectors.TenantID{UUID: l.TenantID}
	}
	if err != nil || l.TenantID != c.tenant.UUID {
		c.recordFlaw(c.n+1, nil, AuditChanged)
		return
	}
	c.addLink(&dbgen.AuditLinksRow{
		N: l.N, EventID: l.ID, Hash: sum, Present: true, At: &l.At, ActorType: &l.ActorType, ActorID: l.ActorID, ActorName: &l.ActorName,
		Action: &l.Action, Target: &l.Target, Detail: string(l.Detail), RequestID: &l.RequestID, Ip: &l.IP,
	})
}
