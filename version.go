package agentloom

// Version is this release's version.
const Version = "0.1.0"
