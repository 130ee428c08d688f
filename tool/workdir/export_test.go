package workdir

// Denied is the deny list, for tests that must not run what they ask about.
var Denied = denied
