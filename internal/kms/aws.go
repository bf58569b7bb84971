package kms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// awsKey is a key of AWS KMS: two operations of its JSON protocol.
type awsKey struct {
	transport
	arn         awsARN
	credentials aws.CredentialsProvider
}

// encryptionContext is authenticated with the ciphertext. CloudTrail logs it, and a key policy may require it.
var encryptionContext = map[string]string{"patchbay": "keyset"}

type awsRequest struct {
	KeyID             string            `json:"KeyId"`
	Plaintext         []byte            `json:",omitempty"`
	CiphertextBlob    []byte            `json:",omitempty"`
	EncryptionContext map[string]string `json:"EncryptionContext"`
}

type awsResponse struct{ Plaintext, CiphertextBlob []byte }

// Wrap encrypts by the KMS.
func (k awsKey) Wrap(ctx context.Context, plain secret.Text) ([]byte, error) {
	answer, err := k.callAPI(ctx, "Encrypt", awsRequest{Plaintext: []byte(plain.Reveal())})
	if err == nil && len(answer.CiphertextBlob) == 0 {
		err = k.newUnavailable("answered without a ciphertext", nil)
	}
	return answer.CiphertextBlob, err
}

// Unwrap decrypts by the KMS.
func (k awsKey) Unwrap(ctx context.Context, wrapped []byte) (secret.Text, error) {
	answer, err := k.callAPI(ctx, "Decrypt", awsRequest{CiphertextBlob: wrapped})
	if err == nil && len(answer.Plaintext) == 0 {
		err = k.newUnavailable("answered without a plaintext", nil)
	}
	return secret.Text(answer.Plaintext), err
}

func (k awsKey) callAPI(ctx context.Context, operation string, in awsRequest) (out awsResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	in.KeyID, in.EncryptionContext = k.arn.text, encryptionContext
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(k.endpoint, "/")+"/", bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "TrentService."+operation)
	if err := k.signRequest(ctx, r, body); err != nil {
		return out, err
	}
	err = k.doRequest(r, &out, func(body []byte) string {
		var refusal struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		_ = json.Unmarshal(body, &refusal) // a proxy may send another body
		return strings.TrimSuffix(refusal.Type[strings.LastIndexByte(refusal.Type, '#')+1:]+": "+refusal.Message, ": ")
	})
	return out, err
}

// signRequest signs with the SDK's credentials: environment, profile, or the role of pod, task or machine.
func (k awsKey) signRequest(ctx context.Context, r *http.Request, body []byte) error {
	provider := k.credentials
	if provider == nil {
		loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(k.arn.region))
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "The AWS settings of the environment can't be read ("+innermostError(err).Error()+").")
		}
		provider = loaded.Credentials
	}
	who, err := provider.Retrieve(ctx)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "PATCHBAY_KEYSET names an AWS KMS key, but there are no AWS credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and this machine or pod has no role.")
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(sum[:]), "kms", k.arn.region, time.Now())
}
