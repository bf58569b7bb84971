package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"

	"patchbay/internal/config"
	"patchbay/internal/installation"
	"patchbay/internal/mail"
)

// checkMail signs in to the SMTP server, if one is set. It sends no e-mail.
func (r *report) checkMail(ctx context.Context, server config.Server) {
	o, err := installation.MailOptions(server)
	if err != nil {
		r.reportError(mailCheck, err)
		return
	}
	if o != nil {
		r.checkSMTP(ctx, *o)
	}
}

const mailCheck = "e-mail"

func (r *report) checkSMTP(ctx context.Context, o mail.Options) {
	address := net.JoinHostPort(o.Server.Host, strconv.Itoa(o.Server.Port))
	err := mail.New(o).Check(ctx)
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	_, unreachable := errors.AsType[*net.OpError](err)
	switch {
	case err == nil && o.Server.TLS == mail.NoTLS:
		r.reportOK(mailCheck, "%s accepts connections, in plain text", address)
	case err == nil && o.Server.Username == "":
		r.reportOK(mailCheck, "%s accepts connections, with TLS", address)
	case err == nil:
		r.reportOK(mailCheck, "%s accepts the password, with TLS", address)
	case errors.Is(err, mail.ErrAuth):
		r.reportProblem(mailCheck, "%s refuses the user name or password. Fix PATCHBAY_SMTP_URL.", address)
	case badCertificate:
		r.reportProblem(mailCheck, "%s has a certificate that this machine doesn't trust (%v). Use the name in the certificate, or install its authority.", address, err)
	case errors.Is(err, mail.ErrNoTLS) || notTLS:
		r.reportProblem(mailCheck, "%s doesn't encrypt as PATCHBAY_SMTP_URL says. Use smtp:// for STARTTLS, smtps:// for TLS from the start, or ?tls=none.", address)
	case unreachable || errors.Is(err, context.DeadlineExceeded):
		r.reportProblem(mailCheck, "%s can't be reached (%v). Check host and port in PATCHBAY_SMTP_URL, and the firewall.", address, err)
	default:
		r.reportProblem(mailCheck, "%s doesn't answer as an SMTP server should (%v).", address, err)
	}
}
