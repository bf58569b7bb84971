package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32 // the specification wants 24 to 64
	// rotationOverlap is how long the previous secret also signs after a rotation.
	rotationOverlap = 24 * time.Hour
)

func newSecret() secret.Text {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secret.Text(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// RotateSecret creates a new secret and returns it for the only time. The previous one also signs for a day.
func (p *Post) RotateSecret(ctx context.Context, a auth.Actor, id connectors.WebhookID) (w connectors.Webhook, text secret.Text, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return w, "", err
	}
	_, old, err := p.store.Vault(a.Tenant.ID).WebhookSecrets(ctx, id)
	if err != nil && !fault.Is(err, fault.Internal) { // an unreadable secret is replaced
		return w, "", err
	}
	text = newSecret()
	next := store.WebhookSecrets{Now: text, Before: old.Now, Until: p.now().Add(rotationOverlap).UTC().Truncate(time.Second)}
	err = p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfWebhook(id))
		if err != nil {
			return err
		}
		if w, err = tx.Webhooks().SetSecrets(ctx, id, next); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "webhook.rotate_secret", w), before, store.OfWebhook(id))
	})
	if err != nil {
		return connectors.Webhook{}, "", err
	}
	return w, text, nil
}

// signedMessage is the input of a signature.
type signedMessage struct {
	id     string // without a full stop
	sentAt time.Time
	body   []byte
}

// signatureHeader returns one signature for each valid secret.
func (m signedMessage) signatureHeader(s store.WebhookSecrets) (string, error) {
	keys := []secret.Text{s.Now}
	if !s.Before.Empty() && m.sentAt.Before(s.Until) {
		keys = append(keys, s.Before)
	}
	all := make([]string, len(keys))
	for i, key := range keys {
		signature, err := m.signWith(key)
		if err != nil {
			return "", err
		}
		all[i] = signature
	}
	return strings.Join(all, " "), nil
}

func (m signedMessage) signWith(text secret.Text) (string, error) {
	encoded, ok := strings.CutPrefix(text.Reveal(), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil { // the cause could quote the secret
		return "", fault.Errorf(fault.Internal, "The webhook's stored secret is invalid. Create a new one.")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.id + "." + m.unixTime() + "."))
	mac.Write(m.body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

func (m signedMessage) unixTime() string { return strconv.FormatInt(m.sentAt.Unix(), 10) }
