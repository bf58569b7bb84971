// Package auditsentence words entries of the audit log as sentences: "Ada Keller granted Support bot all tools of Linear".
//
// Steps: Write looks up the sentence of the action (sentences.go), and fills in the actor and the names of the target
// (sentence.go).
package auditsentence
