// Package docs_test pastes the examples of README.md and docs/*.md into a shell,
// as a reader does after make run: as they stand, in their order, against a
// real server in development mode.
package docs_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// notRun are the examples marked ```sh no-run, by their first lines: what needs
// the network, other products, a machine of its own, or minutes. A new one is
// written down here, so that no example escapes by accident.
var notRun = map[string][]string{
	"README.md": {
		"git clone https://github.com/waymarkhq/waymark && cd waymark",
		"make test",
	},
	"docs/cli.md": { // other shells
		"source <(waymark completion bash)",
	},
	"docs/clients.md": { // packages that are installed
		"git clone https://github.com/waymarkhq/waymark",
		"go get github.com/waymarkhq/waymark/client",
	},
	"docs/containers.md": { // Docker, and images of others
		`docker build -f deploy/Containerfile -t waymark .`,
		`docker run --rm -p 127.0.0.1:8080:8080 -p 127.0.0.1:8081:8081 waymark serve --dev`,
		`docker run --detach --name=waymark --restart=unless-stopped --read-only --cap-drop=ALL --security-opt=no-new-privileges \`,
		`cat >.env <<END`,
		`sudo install -d -o 65532 -g 65532 -m 700 /var/backups/waymark`,
		`(umask 077; cat >.env <<END`,
		`docker compose build`,
		`docker compose exec api waymark session issue --link --email ann@example.com`,
		`git pull`,
		`docker compose run --rm --volume=/var/backups/waymark:/backup api backup /backup/2026-11-22`,
		`docker exec waymark waymark health`,
	},
	"docs/dashboard.md": {
		"waymark session issue --link --data-dir /var/lib/waymark --email ann@example.com",
		`waymark serve --data-dir /var/lib/waymark --api-url https://api.example.com --oidc-issuer https://id.example.com \`,
		"waymark session list --data-dir /var/lib/waymark",
	},
	"docs/dns-provider.md": {
		"SECRET=$(head -c 32 /dev/urandom | base64)           # goes into the server's settings below",
		`(umask 077; echo "$API_KEY" >/etc/waymark/powerdns.key)`,
		"waymark serve --dns-provider exec:/usr/local/lib/waymark/provider.py --dns-nameservers " +
			"ns1.example.com,ns2.example.com",
	},
	"docs/importing.md": {
		"jq -c --slurpfile mapping docs/mappings/bitly.json '",
		`curl -sS -H "Authorization: Bearer $BITLY_TOKEN" "https://api-ssl.bitly.com/v4/groups/$GROUP/bitlinks?size=50&archived=both" |`,
		`curl -sS -H "Authorization: $SHORTIO_KEY" "https://api.short.io/api/links?domain_id=$DOMAIN_ID&limit=150" |`,
		`curl -sS -H "apikey: $REBRANDLY_KEY" "https://api.rebrandly.com/v1/links?limit=25&orderBy=createdAt" >links.json`,
		`curl -sS -H "X-API-KEY: $KUTT_KEY" "https://kutt.example/api/v2/links?limit=50&skip=0" | jq .data >links.json`,
	},
	"docs/domains.md": {
		"REVISION=$(call $API/domains/$DOMAIN_ID | field revision)",
		`call $API/domains/$DOMAIN_ID/dns-records -d '{"type":"TXT","name":"@","value":"v=spf1 -all","ttl":300}'`,
	},
	"docs/event-files.md": {
		"waymark events export --data-dir /var/lib/waymark --app app_01jd3k… --start 2026-11-01 --end 2026-12-01 --parquet " +
			"november.parquet",
	},
	"docs/kubernetes.md": { // a cluster
		`git clone https://github.com/waymarkhq/waymark && cd waymark`,
		`kubectl --namespace waymark patch pvc data-waymark-0 --patch '{"spec":{"resources":{"requests":{"storage":"50Gi"}}}}'`,
		`kubectl create namespace waymark`,
		`helm install waymark deploy/helm/waymark --namespace waymark --values cluster.yaml`,
		`git pull`,
		`kubectl --namespace waymark create job waymark-backup-now --from=cronjob/waymark-backup`,
	},
	"docs/operating.md": {
		"sudo useradd --system --home-dir /var/lib/waymark --shell /usr/sbin/nologin waymark",
		"waymark users add --email ann@example.com                                        # sessions by waymark " +
			"session issue",
		`waymark serve --data-dir /var/lib/waymark --platform-zone go.example.com --connect-cname connect.example.com \`,
		"AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… waymark serve --asset-store " +
			"'s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1'",
		"waymark events status --data-dir /var/lib/waymark",
		"waymark backup --data-dir /var/lib/waymark /backup/2026-11-22",
		"sudo systemctl stop waymark",
	},
	"docs/install.md": { // published files, and root
		"sha256sum --check --ignore-missing SHA256SUMS",
		"sudo apt install ./waymark_VERSION_linux_amd64.deb",
		"sudo dnf install ./waymark_VERSION_linux_amd64.rpm",
		"sudo systemctl enable --now waymark",
		"sudo rm -r /var/lib/waymark",
		"tar -xzf waymark_VERSION_linux_amd64.tar.gz",
		"git clone https://github.com/waymarkhq/waymark && cd waymark",
		"git clone --branch vVERSION https://github.com/waymarkhq/waymark && cd waymark",
	},
	"docs/proxies.md": {
		"waymark serve --data-dir /var/lib/waymark --platform-zone go.example.com --public-addr 127.0.0.1:8081 " +
			"--trusted-proxies 127.0.0.1",
	},
	"docs/monitoring.md": { // a file of settings, and a collector
		`waymark doctor --config /etc/waymark/waymark.yaml`,
		`waymark serve --trace-endpoint http://localhost:4318 --trace-calls 0.1`,
	},
	"docs/own-domain.md": { // names and ports of the internet
		`waymark serve --data-dir /var/lib/waymark --platform-zone go.example.com --connect-cname connect.example.com --connect-ips 203.0.113.5 \`,
		`waymark serve --data-dir /var/lib/waymark --platform-zone go.example.com --connect-cname connect.example.com --connect-ips 203.0.113.5 \`,
		`waymark session issue --link --data-dir /var/lib/waymark --email ann@example.com --api-url https://api.example.com`,
		`curl -i https://shop.go.example.com/_service/health`,
	},
	"docs/privacy.md": { // an app of the reader
		`waymark events erase --data-dir /var/lib/waymark --app app_01jd3k --install 6f1c`,
	},
	"docs/sign-in.md": { // providers of others
		`sudo install -d -m 700 -o waymark /etc/waymark/secret`,
		`waymark serve --data-dir /var/lib/waymark --api-url https://api.example.com --oidc-issuer https://id.example.com/realms/example \`,
		`waymark serve --data-dir /var/lib/waymark --api-url https://api.example.com --oidc-issuer https://id.example.com/application/o/waymark/ \`,
		`waymark serve --data-dir /var/lib/waymark --api-url https://api.example.com --oidc-issuer https://login.microsoftonline.com/TENANT_ID/v2.0 \`,
		`waymark serve --data-dir /var/lib/waymark --api-url https://api.example.com --oidc-issuer https://accounts.google.com \`,
	},
	"docs/start.md": { // the network; make run is what the other examples begin with
		`git clone https://github.com/waymarkhq/waymark && cd waymark`,
	},
	"docs/upgrade.md": { // root, and a service of systemd
		`git pull && make build`,
		`waymark migrate --database postgres://waymark@db.internal/waymark`,
	},
	"docs/webhooks.md": {
		"waymark serve --webhook-allow hooks.corp.example=10.0.0.7:8443 --webhook-ca /etc/waymark/ca.pem",
	},
}

// helpers are the lines that define the shell functions of the examples.
var helpers = regexp.MustCompile(`(?m)^(?:uuid|call|field)\(\) .*$`)

func TestExamples(t *testing.T) {
	s := start(t)
	printed := s.welcome(t)
	if got := helpers.FindAllString(printed, -1); len(got) != 3 {
		t.Fatalf("the functions of the welcome are %q", got)
	}
	_, lines, _ := strings.Cut(printed, "\n\nAPI=")
	lines = "API=" + lines
	lines += `for name in API TOKEN APP DOMAIN LINK; do eval "echo $name=\$$name"; done >variables` + "\n"
	var variables string
	t.Run("welcome", func(t *testing.T) {
		// Pasting it twice does nothing twice.
		var seen [2]string
		for i := range seen {
			dir := t.TempDir()
			out := s.run(t, dir, lines)
			seen[i] = string(read(t, filepath.Join(dir, "variables")))
			if !strings.Contains(out, `"clicks":`) || !bytes.HasPrefix(read(t, filepath.Join(dir, "hello.png")),
				[]byte("\x89PNG")) {
				t.Errorf("no count or no QR code:\n%s", out)
			}
		}
		if seen[0] != seen[1] || strings.Contains(seen[0], "=\n") {
			t.Fatalf("pasted once:\n%s\npasted again:\n%s", seen[0], seen[1])
		}
		variables = seen[0]
	})
	if variables == "" {
		return
	}
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			run, skipped := blocks(t, page)
			if !slices.Equal(skipped, notRun[page]) {
				t.Errorf("marked no-run are\n%s", strings.Join(skipped, "\n"))
			}
			for _, line := range skipped {
				t.Logf("not run: %s", line)
			}
			if len(run) == 0 {
				return
			}
			script := variables
			for _, b := range run {
				script += fmt.Sprintf("echo '== %s:%d' >&2\n%s", page, b.line, b.text)
			}
			if got, want := helpers.FindAllString(script, -1),
				helpers.FindAllString(printed, -1); !slices.Equal(got, want) && strings.Contains(script, "call ") {
				t.Errorf("the page defines\n%s\nthe welcome prints\n%s", strings.Join(got, "\n"),
					strings.Join(want, "\n"))
			}
			s.run(t, readersFolder(t), script)
		})
	}
}

// block is an example of a page.
type block struct {
	line int
	text string
}

var fence = regexp.MustCompile("^( *)```(.*)$")

// blocks returns the examples of a page that are run, and the first lines of
// those that are not.
func blocks(t *testing.T, page string) (run []block, skipped []string) {
	t.Helper()
	var open *block
	var info, indent string
	for i, line := range strings.Split(string(read(t, filepath.Join(repository, page))), "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m == nil && open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		case m == nil:
		case open == nil:
			open, info, indent = &block{line: i + 1}, m[2], m[1]
		default:
			switch info {
			case "sh":
				run = append(run, *open)
			case "sh no-run":
				first, _, _ := strings.Cut(open.text, "\n")
				skipped = append(skipped, first)
			case "", "go", "js", "ts", "kotlin", "swift", "dart", "json", "yaml", "http", "text", "mermaid", "sql", "python", "nginx", "caddy", "haproxy":
			default:
				t.Errorf("%s:%d: examples for a shell are marked sh or sh no-run, not %q", page, open.line, info)
			}
			open = nil
		}
	}
	return run, skipped
}

func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(repository + "/docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	all := []string{"README.md"}
	for _, file := range files {
		all = append(all, "docs/"+filepath.Base(file))
	}
	return all
}

// readersFolder has what the pages take for granted: a logo, files of links,
// the folder of mappings. One link has an http destination, as the page about
// imports looks for what is invalid.
func readersFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	links := "shortUrl,longUrl,title\r\n" +
		"http://demo.localhost/quoted,https://example.com/a,\"He said \"\"yes\"\",\ttwice \\ thrice\"\r\n" +
		"http://demo.localhost/plain,http://example.com/b,Ünïcödé\r\n"
	large := "shortUrl,longUrl,title\n"
	for i := range 60 {
		title := `"One, ""two"""`
		if i%10 == 0 {
			title = "\"Two\nlines\""
		}
		large += fmt.Sprintf("http://demo.localhost/n%d,https://example.com/%d,%s\n", i, i, title)
	}
	bitly := `{"links":[{"link":"https://bit.ly/moved1","long_url":"https://example.com/1","title":"One","archived":false}]}`
	for name, content := range map[string][]byte{"logo.png": logo.Bytes(), "links.csv": []byte(links),
		"large.csv": []byte(large), "bitly.json": []byte(bitly)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docs, err := filepath.Abs(repository + "/docs")
	if err == nil {
		err = os.Symlink(docs, filepath.Join(dir, "docs"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// tools are the programs that the examples may use besides waymark: those of a small system,
// and curl. There is no jq and no uuidgen.
var tools = []string{"awk", "cat", "curl", "cut", "date", "grep", "head", "od", "sed", "sleep", "tee", "tr"}

// toolsFolder has links to them and to waymark, and nothing else.
func toolsFolder(t *testing.T, waymark string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(waymark, filepath.Join(dir, "waymark")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, tool))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
