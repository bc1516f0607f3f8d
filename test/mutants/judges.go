package main

// judges says which packages are drawn from, and whose tests should notice a mistake
// there that the package's own did not.
var judges = map[string][]string{
	"internal/actor":               {"internal/op", "internal/apikey", "internal/assembly"},
	"internal/automation":          {"internal/automation/batches", "internal/automation/exports", "internal/automation/imports"},
	"internal/automation/batches":  {"internal/assembly"},
	"internal/automation/exports":  {"internal/assembly"},
	"internal/automation/imports":  {"internal/assembly"},
	"internal/blob":                {"internal/asset"},
	"internal/clickcount":          {"internal/link", "internal/redirect"},
	"internal/clicklog":            {"internal/redirect"},
	"internal/csvtable":            {"internal/automation/exports", "internal/automation/imports"},
	"internal/delivery":            {"internal/webhook"},
	"internal/domain":              {"internal/dnsrecord", "internal/link", "internal/assembly"},
	"internal/durable":             {"internal/executor", "internal/automation/batches", "internal/domain"},
	"internal/eventstore":          {"internal/analytics", "internal/assembly"},
	"internal/executor":            {"internal/durable"},
	"internal/jobs":                {"internal/executor", "internal/durable"},
	"internal/link":                {"internal/assembly", "internal/automation/batches"},
	"internal/op":                  {"internal/assembly"},
	"internal/outbound":            {"internal/webhook"},
	"internal/ratelimit":           {"internal/op"},
	"internal/receipt":             {"internal/op"},
	"internal/route":               {"internal/redirect", "internal/link"},
	"internal/template":            {"internal/template/publishing", "internal/assembly"},
	"internal/template/publishing": {"internal/template", "internal/assembly"},
	"internal/webhook":             {"internal/assembly"},
}
