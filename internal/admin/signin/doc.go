// Package signin serves the pages of people without a full session: sign-in by password and by a provider, second
// factor, first setup, invitations, confirmations, and the consent of programs that sign in.
package signin
