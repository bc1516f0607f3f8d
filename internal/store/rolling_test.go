package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// firstKept is the oldest schema of which test/upgrade has a database.
const firstKept = 3

// breaking are the statements of migrations since then that a running older program may not
// survive on PostgreSQL, each with what it cannot do any more, or why it can nevertheless.
//
// After the first release none may be added that it does not survive: whoever upgrades runs old
// and new processes side by side until the last old one has ended. What is no longer needed is
// dropped by a release after the one that ceased to use it.
var breaking = map[string]string{
	// Before the first release.
	"4: DROP TABLE link_tag":                  "tags of links",
	"4: CREATE TABLE tag REFERENCES app":      "delete an app that has tags",
	"4: CREATE TABLE folder REFERENCES app":   "delete an app that has folders",
	"4: CREATE TABLE campaign REFERENCES app": "delete an app that has campaigns",
	"4: CREATE TABLE qr_code REFERENCES app":  "delete an app that has QR codes",
	"6: DROP TABLE outbox":                    "any write, as each leaves an event there",
	"6: CREATE TABLE webhook REFERENCES app":  "delete an app that has webhooks",
	"11: CREATE UNIQUE INDEX domain_hostname ON domain (hostname) WHERE NOT detached AND verified_at IS NOT NULL": "it can: the " +
		"index that this replaces allowed less",
	"11: CREATE UNIQUE INDEX domain_claim ON domain (hostname, app_id) WHERE NOT detached": "it can: the index that this " +
		"replaces allowed less",
	"14: CREATE TABLE template REFERENCES app": "delete an app that has templates",
	"18: DROP TABLE click_counted":             "count the clicks of limited links",
	// It survives these.
	"7: CREATE TABLE session REFERENCES users":                                            "it can: nobody deletes rows of users",
	"20: CREATE TABLE sign_in_link REFERENCES users":                                      "it can: nobody deletes rows of users",
	"20: CREATE TABLE passkey REFERENCES users":                                           "it can: nobody deletes rows of users",
	"20: CREATE TABLE passkey_ceremony REFERENCES users":                                  "it can: nobody deletes rows of users",
	"20: CREATE UNIQUE INDEX session_digest ON session (digest) WHERE digest IS NOT NULL": "it can: it leaves the new column NULL",
}

// additive are the forms of statements that leave all that an older program does as it was:
// it names the columns of what it reads and inserts, and knows no others.
var additive = []*regexp.Regexp{
	regexp.MustCompile(`^CREATE TABLE \w+ \(.*\)( WITHOUT ROWID)?$`),
	regexp.MustCompile(`^CREATE INDEX \w+ ON `),
	regexp.MustCompile(`^DROP INDEX \w+$`),
	regexp.MustCompile(`^ALTER TABLE \w+ ADD COLUMN \w+ [A-Z]+( NOT NULL DEFAULT \S+)?$`),
	// Rows that are there or come; whether an older program understands them, only a reader can tell.
	regexp.MustCompile(`^(INSERT INTO|UPDATE) \w+ `),
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	unique  = regexp.MustCompile(`^CREATE UNIQUE INDEX \w+ ON (\w+) `)
	table   = regexp.MustCompile(`^CREATE TABLE (\w+) \(`)
	refers  = regexp.MustCompile(`REFERENCES (\w+) \(\w+\)( ON DELETE CASCADE)?`)
)

// breaks returns what in a statement of a migration an older program may not survive: the
// statement, or the references that keep it from deleting rows.
func breaks(statement string, migration []string) (found []string) {
	made := func(name string) bool {
		return slices.ContainsFunc(migration, func(s string) bool { return strings.HasPrefix(s, "CREATE TABLE "+name+" (") })
	}
	if m := unique.FindStringSubmatch(statement); m != nil && made(m[1]) {
		return nil // a rule for rows of which no older program knows
	}
	if !slices.ContainsFunc(additive, func(form *regexp.Regexp) bool { return form.MatchString(statement) }) {
		return []string{statement}
	}
	if m := table.FindStringSubmatch(statement); m != nil {
		for _, r := range refers.FindAllStringSubmatch(statement, -1) {
			if r[2] == "" && !made(r[1]) {
				found = append(found, "CREATE TABLE "+m[1]+" REFERENCES "+r[1])
			}
		}
	}
	return found
}

// statementsOf returns the statements of a migration.
func statementsOf(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range strings.Split(comment.ReplaceAllString(string(text), ""), ";") {
		if statement = strings.Join(strings.Fields(statement), " "); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}

// What an older program does not survive is noticed, and what it does is not.
func TestBreaks(t *testing.T) {
	for statement, broken := range map[string]bool{
		"ALTER TABLE link ADD COLUMN x TEXT":                      false,
		"ALTER TABLE link ADD COLUMN x BIGINT NOT NULL DEFAULT 0": false,
		"ALTER TABLE link ADD COLUMN x TEXT NOT NULL":             true,
		"ALTER TABLE link ADD COLUMN x TEXT REFERENCES app (id)":  true,
		"ALTER TABLE link DROP COLUMN title":                      true,
		"ALTER TABLE link RENAME COLUMN title TO name":            true,
		"DROP TABLE link":                                                        true,
		"DROP INDEX link_list":                                                   false,
		"CREATE INDEX x ON link (title)":                                         false,
		"CREATE UNIQUE INDEX x ON link (title)":                                  true,
		"CREATE UNIQUE INDEX x ON fresh (id)":                                    false,
		"CREATE TABLE fresh (id TEXT)":                                           false,
		"CREATE TABLE y (id TEXT REFERENCES link (id))":                          true,
		"CREATE TABLE y (id TEXT REFERENCES link (id) ON DELETE CASCADE)":        false,
		"CREATE TABLE y (id TEXT REFERENCES fresh (id))":                         false,
		"DELETE FROM link":                                                       true,
		"UPDATE link SET title = ''":                                             false,
		"CREATE TRIGGER x BEFORE INSERT ON link FOR EACH ROW EXECUTE FUNCTION y": true,
	} {
		if found := breaks(statement, []string{"CREATE TABLE fresh (id TEXT)"}); (len(found) > 0) != broken {
			t.Errorf("%s: %q", statement, found)
		}
	}
}

// Migrations add and take nothing away, so that processes of an older program go on beside
// those of a newer one.
func TestMigrationsAreAdditive(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) < 21 {
		t.Fatal(files, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		number, _, _ := strings.Cut(filepath.Base(file), "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		if version <= firstKept {
			continue
		}
		statements := statementsOf(t, file)
		for _, statement := range statements {
			for _, broken := range breaks(statement, statements) {
				name := fmt.Sprintf("%d: %s", version, broken)
				if found[name] = true; breaking[name] == "" {
					t.Errorf("%s: an older program that still runs may not survive this: %s", filepath.Base(file), broken)
				}
			}
		}
	}
	for name := range breaking {
		if !found[name] {
			t.Errorf("no migration has %q", name)
		}
	}
}
