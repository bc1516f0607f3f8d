package actor

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// ends expects that so many sessions end.
func (w *world) ends(which string, want int) []KnownSession {
	w.Helper()
	ended, err := EndSessions(w.Context(), w.db, which)
	if err != nil || len(ended) != want {
		w.Fatalf("%.40s: %+v, %v; want %d to end", which, ended, err, want)
	}
	return ended
}

func (w *world) endsNone(which string) {
	w.Helper()
	if ended, err := EndSessions(w.Context(), w.db, which); err == nil || len(ended) > 0 {
		w.Errorf("%.40s ended %+v", which, ended)
	}
}

func (w *world) sessions(email string) []KnownSession {
	w.Helper()
	all, err := Sessions(w.Context(), w.db, email, 100)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// A session is ended by its token, its sid, its id in the list, or with all of
// its owner; what names none ends none.
func TestEndSessions(t *testing.T) {
	eachWorld(t, func(w *world) {
		byToken, bySID, byID, rest := w.issue(email), w.issue(email), w.issue(email), w.issue("Other@example.com")
		sid := func(token string) string {
			claims, ok := unverified(token)
			if !ok {
				t.Fatal(token)
			}
			return claims.SID
		}
		before := w.sessions("")
		if len(before) != 5 || len(w.sessions(" OWNER@example.com")) != 4 ||
			len(w.sessions("nobody@example.com")) != 0 {
			t.Fatalf("%+v", before)
		}
		for _, s := range before {
			if strings.Contains(s.ID, sid(byID)) || s.ExpiresAt.Sub(s.IssuedAt) != 12*time.Hour {
				t.Errorf("%+v", s)
			}
		}
		for _, wrong := range []string{"", "x", "nobody@example.com", byToken + "x.y", ids.New(), sid(byToken)[1:],
			before[0].ID[1:], LocalIssuerURL,
			"%", w.owner, w.mint(map[string]any{"sid": "unknown"})} {
			w.endsNone(wrong)
		}
		if len(w.sessions("")) != 5 {
			t.Error("what names no session ended one")
		}
		w.ends(byToken+"\n", 1)
		w.refuses("by token", byToken, endedSession)
		w.ends(sid(bySID), 1)
		w.refuses("by sid", bySID, endedSession)
		i := slices.IndexFunc(before, func(s KnownSession) bool {
			return s.ID == w.accepts("by id",
				byID).Credential[len(sessionPrefix):]
		})
		if ended := w.ends(before[i].ID, 1)[0]; ended.Email != email || ended.OwnerID != w.owner {
			t.Errorf("%+v", ended)
		}
		w.refuses("by id", byID, endedSession)
		w.accepts("untouched", w.token)
		links := map[string]string{}
		for _, address := range []string{email, "other@example.com"} {
			code, err := IssueLink(t.Context(), w.db, address)
			if err != nil {
				t.Fatal(err)
			}
			links[address] = code
		}
		w.ends("OWNER@example.com ", 1)
		if _, err := UseLink(t.Context(), w.db, links[email], "Firefox"); err == nil {
			t.Error("the link of the owner signs in")
		}
		secret, err := UseLink(t.Context(), w.db, links["other@example.com"], "Firefox")
		if err != nil {
			t.Fatalf("the link of another owner: %v", err)
		}
		w.ends(secret, 1)
		w.refuses("by e-mail address", w.token, endedSession)
		for _, again := range []string{email, byToken, sid(bySID), before[i].ID} {
			w.endsNone(again)
		}
		w.accepts("of another owner", rest)
		if left := w.sessions(""); len(left) != 1 || left[0].Email != "other@example.com" {
			t.Errorf("%+v", left)
		}
	})
}

// A token without sid and jti is a session of its own, however its signature is
// written.
func TestSessionWithoutID(t *testing.T) {
	eachWorld(t, func(w *world) {
		mint := func() string { return w.mint(map[string]any{"sid": nil, "nonce": ids.New()}) }
		one, two := mint(), mint()
		if w.accepts("one", one).Credential == w.accepts("two", two).Credential {
			t.Error("two tokens, one session")
		}
		w.ends(one, 1)
		w.refuses("ended", one, endedSession)
		// The last of the 86 characters of a signature has bits that mean nothing.
		alphabet := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		last := strings.IndexByte(alphabet, one[len(one)-1])
		for other := last &^ 15; other < last|15; other++ {
			variant := one[:len(one)-1] + alphabet[other:other+1]
			if _, err := base64.RawURLEncoding.DecodeString(variant[strings.LastIndexByte(variant,
				'.')+1:]); err == nil {
				w.refuses("ended, signature written in another way", variant, endedSession)
			}
		}
		w.accepts("the other", two)
	})
}

// A renewable session of an OpenID Connect issuer is known for longer than its
// last token: ended, it does not come back with the next one.
func TestSessionRenewed(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true), LocalIssuer(w.db))
		now := time.Now()
		w.clock.Set(clock.At(now))
		token := func(subject, sid string, life time.Duration) string {
			return mint(map[string]any{"sub": subject, "sid": sid, "email": subject + "@example.com",
				"exp": now.Add(life).Unix()})
		}
		w.accepts("first token", token("ann", "s", time.Hour))
		w.accepts("a later one", token("ann", "s", 2*time.Hour))
		w.accepts("an earlier one", token("ann", "s", time.Hour))
		if s := w.sessions("ann@example.com"); len(s) != 1 ||
			s[0].ExpiresAt != clock.At(now.Add(2*time.Hour).Truncate(time.Second)) || s[0].Issuer != r.URL {
			t.Errorf("%+v", s)
		}
		w.refuses("of another subject", token("eve", "s", time.Hour), invalidToken)
		ann := w.userID(r.URL, "ann")
		w.fill(ann, 999)
		w.refuses("one more than fit", token("ann", "another", time.Hour), tooManySessions)
		w.accepts("a later one, while no other fits", token("ann", "s", 2*time.Hour+time.Second))
		w.exec("DELETE FROM session WHERE user_id = ? AND issued_at = 0", ann)
		w.clock.Move(3 * time.Hour)
		w.ends("ann@example.com", 1)
		w.clock.Move(400*24*time.Hour - time.Second)
		w.sweep()
		w.refuses("ended a year ago", token("ann", "s", 2*time.Hour), endedSession)
		w.clock.Move(time.Second)
		w.sweep()
		w.accepts("ended longer ago than anybody remembers", token("ann", "s", 2*time.Hour))
		w.accepts("local, beside it", w.issue(email))
	})
}

func (w *world) sweep() {
	w.Helper()
	for {
		n, err := SweepSessions(w.Context(), w.db, 2)
		if err != nil {
			w.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

func TestSweepSessions(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		w.exec("DELETE FROM session")
		end := claims(nil)["exp"] // in whole seconds, of which the next one may begin between the two
		w.accepts("with a sid", mint(map[string]any{"email": "ann@example.com", "exp": end}))
		w.accepts("without", mint(map[string]any{"sid": nil, "exp": end}))
		expires := w.sessions("")[0].ExpiresAt
		for _, c := range []struct {
			at   clock.Instant
			want int
		}{
			{expires.Add(-time.Microsecond), 2}, {expires, 1}, {expires.Add(30*24*time.Hour - time.Microsecond), 1},
			{expires.Add(30 * 24 * time.Hour), 0},
		} {
			w.clock.Set(c.at)
			if listed := len(w.sessions("")); listed != c.want {
				t.Errorf("%v after the end %d are listed, want %d", c.at.Sub(expires), listed, c.want)
			}
			if c.want == 0 {
				w.endsNone("ann@example.com") // all are over by themselves
			}
			w.sweep()
			if n := int(w.count("SELECT COUNT(*) FROM session")); n != c.want {
				t.Errorf("%v after the end there are %d, want %d", c.at.Sub(expires), n, c.want)
			}
		}
	})
}

// A session that is known costs no write, until it goes on with a later token.
func TestKnownSessionIsNotWritten(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		end := time.Now().Add(time.Hour)
		token := func(later time.Duration) string {
			return mint(map[string]any{"email": email, "sid": "one", "exp": end.Add(later).Unix()})
		}
		w.accepts("new", token(0))
		writes := 0
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if !strings.HasPrefix(query, "SELECT") && !strings.HasPrefix(query, "row of SELECT") {
				writes++
			}
			return nil
		})
		for _, c := range []struct {
			later  time.Duration
			writes bool
		}{{0, false}, {-time.Second, false}, {time.Second, true}, {time.Second, false}} {
			writes = 0
			if _, err := w.auth.Authenticate(ctx, "Bearer "+token(c.later)); err != nil || writes > 0 != c.writes {
				t.Errorf("a token that ends %s later: %v, %d writes", c.later, err, writes)
			}
		}
	})
}

// A session can be ended until it is over: one of a browser until it expires, one of an issuer as long as its token
// may be renewed.
func TestSessionsEndUntilTheyAreOver(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		for _, token := range []bool{true, false} {
			for _, over := range []bool{false, true} {
				begin := w.now()
				w.exec("DELETE FROM session")
				if token {
					w.accepts("of an issuer", mint(map[string]any{"email": email}))
				} else {
					w.signIn("browser")
				}
				s := w.sessions("")[0]
				end := s.ExpiresAt
				if token {
					end = end.Add(30 * 24 * time.Hour)
				}
				if !over {
					end = end.Add(-time.Microsecond)
				}
				w.clock.Set(end)
				if listed := len(w.sessions("")) > 0; listed == over {
					t.Errorf("token %t, over %t: listed %t", token, over, listed)
				}
				if over {
					w.endsNone(s.ID)
				} else {
					w.ends(s.ID, 1)
				}
				w.clock.Set(begin)
			}
		}
	})
}

// fill gives an owner n local sessions for an hour, named by their numbers; it returns when that is over.
func (w *world) fill(owner string, n int) clock.Instant {
	w.Helper()
	later := w.now().Add(time.Hour)
	values, args := []string{}, []any{}
	for i := range n {
		values, args = append(values, "(?, ?, 0, ?, ?)"), append(args, fmt.Sprint(sessionPrefix, i), owner, later, later)
	}
	w.exec("INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at) VALUES "+
		strings.Join(values, ", "), args...)
	return later
}

// An owner has at most maxSessions at once; expired ones make room.
func TestSessionBound(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.clock.Set(clock.At(time.Now()))
		w.exec("DELETE FROM session")
		later := w.fill(w.owner, 999)
		last := w.issue(email)
		w.accepts("the last that fits", last)
		if token, err := IssueSession(w.Context(), w.db, w.dir, email); err == nil || token != "" {
			t.Errorf("one more than fit was issued")
		}
		w.refuses("one more than fit", w.mint(nil), tooManySessions)
		w.accepts("the last that fits, again", last)
		w.accepts("of another owner", w.issue("other@example.com"))
		w.exec("UPDATE session SET expires_at = ? WHERE credential = ?", w.now(), sessionPrefix+"0")
		// What expires with it, but is of another owner or was ended, makes no room.
		w.exec(`INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at, ended_at) VALUES
			('of another', ?, 0, ?, ?, NULL), ('ended', ?, 0, ?, ?, 1)`, w.userID(LocalIssuerURL, "other@example.com"), w.now(),
			later, w.owner, w.now(), later)
		w.accepts("in the place of an expired one", w.mint(nil))
		if n := w.count("SELECT COUNT(*) FROM session WHERE user_id = ? AND ended_at IS NULL", w.owner); n != 1000 {
			t.Errorf("%d sessions", n)
		}
		if n := w.count("SELECT COUNT(*) FROM session WHERE credential IN ('of another', 'ended')"); n != 2 {
			t.Errorf("%d of the two others are kept", n)
		}
		w.refuses("one more again", w.mint(nil), tooManySessions)
		w.ends("1", 1)
		w.accepts("in the place of an ended one", w.mint(nil))
		// 10,000 that are ended are known besides.
		w.exec("DELETE FROM session")
		w.exec(`INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at, ended_at)
			WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 9999)
			SELECT 'x' || n, CAST(? AS TEXT), 0, CAST(? AS BIGINT), CAST(? AS BIGINT), 1 FROM s`, w.owner, later, later)
		another := w.mint(nil)
		w.accepts("beside 9,999 ended ones", another)
		w.exec("UPDATE session SET ended_at = 1 WHERE ended_at IS NULL")
		w.refuses("beside 10,000", w.mint(map[string]any{"sid": "fresh"}), tooManySessions)
	})
}
