// Package safehttp is the only HTTP client that leaves the house: it decides where Patchbay may connect.
//
// Addresses of servers come from tenants, so they are checked twice: the URL when it is entered ([Policy.CheckURL]),
// and the address that its name resolves to at every connection ([Policy.Client]), because names can change their mind.
//
//	mode     scheme       addresses            ports
//	public   https        global               443, 8443
//	local    http, https  global               80, 443, 8443
//	                      this machine's       any, by loopback address or localhost
//	any      http, https  an operator's Exception, its port; another server beside Patchbay, too
//
// Never, in any mode: userinfo or a fragment in the URL, an address in numeric or folded form, Patchbay's own address.
// No redirect is followed and no proxy of the environment is asked. A refusal does not tell what a name resolves to.
//
// With a [Proxy] of the operator's everything but this machine's own addresses goes through it. URLs and addresses are judged as before; a
// name is by what it resolves to here, if it does, and then by the proxy, who connects.
package safehttp
