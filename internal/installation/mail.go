package installation

import (
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/mail"
)

// MailOptions parse the operator's SMTP server and sender; nil: none.
func MailOptions(server config.Server) (*mail.Options, error) {
	if server.SMTPURL.Empty() {
		return nil, nil
	}
	at, err := mail.Parse(server.SMTPURL)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_SMTP_URL "+err.Error()+".")
	}
	from, err := mail.ParseAddress(server.SMTPFrom)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_SMTP_FROM "+err.Error()+".")
	}
	return &mail.Options{Server: at, From: from}, nil
}
