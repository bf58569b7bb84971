// Package mail sends plain-text e-mail by the operator's SMTP server.
//
// [Parse] reads the server's URL; [Sender.Send] opens a connection for each message, as mails are rare. TLS is
// required: by STARTTLS for smtp://, from the first byte for smtps://. Only ?tls=none sends in plain text, for a server
// on the same machine. Neither a password nor a body is in an error.
package mail
