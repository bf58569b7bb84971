// Package fault is the vocabulary of failure: which kinds there are, and what a person may be told about one.
//
// Every failure that may reach a person or a program is an [Error]: a [Kind], a sentence that is safe to show, and
// the cause, which goes to the log only. The doors translate a Kind once (package respond: HTTP status and problem
// document). A cause is never shown: it can repeat what a remote server sent, and that can repeat a secret.
//
// It is not a replacement for the errors package: inside a room, wrap with fmt.Errorf and return; make a fault where
// you know what the reader of the sentence can do about it.
package fault
