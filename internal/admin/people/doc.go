// Package people serves the pages of members and invitations, and of a person's own account, sessions and
// programs.
package people
