package db

// MigrateWithin is [Migrate] with another patience.
var MigrateWithin = migrate

// TakingTurns does something again for as long as it gives way.
var TakingTurns = takingTurns

// LearnTypes is what the pool calls with each new connection.
var LearnTypes = learnTypes

// Dialer connects to databases.
var Dialer = dialer
