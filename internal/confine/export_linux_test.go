package confine

// StartAs starts a command as if the machine enforced what the report says,
// which must not be more than it does.
var StartAs = start
