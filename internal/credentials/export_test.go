package credentials

// Due reports whether a token is due.
var Due = isDue
