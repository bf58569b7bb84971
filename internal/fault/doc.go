// Package fault defines failures: their kinds, and what a person may read about them.
//
// Every failure that may reach a person or a program is an [Error]: a [Kind], a sentence that is safe to show,
// and the cause, which goes to the log only. Package respond maps a Kind to an HTTP status and a problem
// document. A cause is never shown: it can repeat what a remote server sent, and that can repeat a secret.
//
// Within a package, wrap errors with fmt.Errorf and return them. Make a fault where you know what the reader of
// the sentence can do about it.
package fault
