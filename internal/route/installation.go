package route

// HealthPath is where the redirector says on every hostname whether it works.
const HealthPath = "/_service/health"

// InstallationHeader is the header of that answer that tells one installation from
// another: a hostname whose answer has the installation's own value leads to it.
const InstallationHeader = "X-Waymark-Installation"
