package main

// unseen is a mutant that changes nothing which anybody could see.
type unseen struct{ file, function, on, from, to, reason string }

// equivalents are the known ones. They are found by what they change and by the text of
// its line, whatever number it has. An empty text is any.
var equivalents = []unseen{
	{"internal/actor/authenticate.go", "FlushUsed", "", "last_used_at <", "last_used_at <= …",
		"the instant that is kept is kept again"},
	{"internal/automation/store.go", "scanItem", "return i, err", "err", "nil",
		"the columns are those of the query, and have what was written into them as JSON"},
	{"internal/domain/hostname.go", "platformHostname", "", `prefix, ".。．｡"`, `".。．｡", prefix`,
		"strings.ContainsAny looks for a common character, which both ways find"},
	{"internal/jobs/jobs.go", "Claim", "", "apps > 1", "apps >= 1",
		"the turns of one app are the order in which its jobs are due; only the claim costs more"},
	{"internal/jobs/jobs.go", "Wake", "", "run_after >", "run_after >= …",
		"a job that is due at this very instant is made due at this instant"},
	{"internal/link/campaign.go", "enqueuePage", "return err", "err", "nil",
		"texts and numbers can always be written as JSON"},
	{"internal/link/list.go", "byTag", "", "n < smallTag", "n <= smallTag",
		"which way a list is read, not what it has"},
	{"internal/link/list.go", "byTag", "", "in.only(Filters{TagID: in.TagID})",
		`false in in.TagID == "" || in.only(Filters{TagID: in.TagID})`, "which way a list is read, not what it has"},
	{"internal/link/loops.go", "look", "", "&l.AppStoreURL, &l.Lifecycle.ExpiredURL",
		"&l.Lifecycle.ExpiredURL, &l.AppStoreURL",
		"what is looked for is where a link leads, whichever member says so"},
	{"internal/template/availability.go", "availability", "return v, err", "err", "nil",
		"the columns are those of the query, so that they can always be read"},
}

func (m *mutant) is(u unseen) bool {
	return m.File == u.file && m.Function == u.function && (u.on == "" || m.On == u.on) &&
		m.From == u.from && m.To == u.to
}
