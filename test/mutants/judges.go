package main

// judges says which packages are drawn from, and whose tests should notice a mistake
// there that the package's own did not.
var judges = map[string][]string{
	"actor":               {"op", "apikey", "signin", "assembly"},
	"automation":          {"automation/batches", "automation/exports", "automation/imports", "assembly"},
	"automation/batches":  {"assembly"},
	"automation/exports":  {"assembly"},
	"automation/imports":  {"assembly"},
	"blob":                {"asset"},
	"clickcount":          {"link", "redirect"},
	"clicklog":            {"redirect"},
	"csvtable":            {"automation/exports", "automation/imports"},
	"delivery":            {"webhook", "assembly"},
	"domain":              {"dnsrecord", "link", "assembly"},
	"durable":             {"executor", "automation/batches", "domain", "assembly"},
	"eventstore":          {"eventstore/database", "analytics", "assembly"},
	"executor":            {"durable"},
	"jobs":                {"executor", "durable", "assembly"},
	"link":                {"assembly", "automation/batches"},
	"loaded":              {"clickcount", "eventstore/segments"},
	"op":                  {"asset", "signin", "assembly"},
	"outbound":            {"webhook"},
	"ratelimit":           {"op"},
	"receipt":             {"op"},
	"route":               {"redirect", "link"},
	"template":            {"template/publishing", "link", "assembly"},
	"template/publishing": {"template", "assembly"},
	"webhook":             {"assembly"},
}
