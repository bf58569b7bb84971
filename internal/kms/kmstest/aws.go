package kmstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Credentials that the fake AWS accepts.
const (
	AccessKey = "AKIDEXAMPLE"
	SecretKey = "wJalrXUtnFEMI-K7MDENG+bPxRfiCYEXAMPLEKEY" //nolint:gosec // AWS's own example
	Region    = "eu-central-1"
)

// AWS is AWS KMS in one region, with keys of these ARNs. It accepts only AccessKey.
func AWS(t testing.TB, arns ...string) *Service {
	t.Helper()
	s := newService()
	for _, arn := range arns {
		s.addKey(t, arn)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serveAWS))
	t.Cleanup(s.Close)
	return s
}

func refuseAWS(w http.ResponseWriter, kind, message string) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"__type": kind, "message": message})
}

func (s *Service) serveAWS(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	operation, known := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	var in struct {
		KeyID             string `json:"KeyId"`
		Plaintext         []byte
		CiphertextBlob    []byte
		EncryptionContext map[string]string
	}
	switch {
	case err != nil || !known || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" || json.Unmarshal(body, &in) != nil:
		refuseAWS(w, "SerializationException", "")
		return
	case !isSigned(r, body):
		refuseAWS(w, "InvalidSignatureException", "The request signature we calculated does not match the signature you provided.")
		return
	case s.keys[in.KeyID] == nil:
		refuseAWS(w, "NotFoundException", "Key '"+in.KeyID+"' does not exist")
		return
	case s.isRefusing():
		refuseAWS(w, "DisabledException", in.KeyID+" is disabled.")
		return
	}
	context, _ := json.Marshal(in.EncryptionContext) // sorted keys
	s.countOperation(operation)
	switch operation {
	case "Encrypt":
		writeJSON(w, http.StatusOK, map[string]any{"KeyId": in.KeyID, "CiphertextBlob": s.keys[in.KeyID].Seal(nil, nil, in.Plaintext, context)})
	case "Decrypt":
		plain, err := s.keys[in.KeyID].Open(nil, nil, in.CiphertextBlob, context)
		if err != nil {
			refuseAWS(w, "InvalidCiphertextException", "")
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"KeyId": in.KeyID, "Plaintext": plain})
	default:
		refuseAWS(w, "UnknownOperationException", "")
	}
}

// isSigned computes the request's expected signature from its signed headers, and compares.
func isSigned(r *http.Request, body []byte) bool {
	_, names, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	headers := strings.Split(names, ";")
	if !slices.Contains(headers, "host") || !slices.Contains(headers, "x-amz-target") || !slices.Contains(headers, "x-amz-date") {
		return false
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 5*time.Minute {
		return false
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return false
	}
	for _, name := range headers {
		if name != "host" && name != "content-length" {
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	who := aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}
	err = v4.NewSigner().SignHTTP(r.Context(), who, again, hex.EncodeToString(sum[:]), "kms", Region, at)
	return err == nil && again.Header.Get("Authorization") == r.Header.Get("Authorization")
}
