package credentials

// Due is whether it is time for the next token.
var Due = due
