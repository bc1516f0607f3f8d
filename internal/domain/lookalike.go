package domain

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// reservedPrefixes are those whose hostnames programs ask for by themselves, or
// people take for a part of the service. A number may follow each of them.
var reservedPrefixes = strings.Fields(`
	abuse account accounts admin administrator api assets auth autoconfig autodiscover billing
	broadcasthost connect console dashboard dns docs email ftp help hostmaster imap internal isatap localhost login
	logon mail mta-sts mx noc noreply no-reply ns oauth official openpgpkey password payment payments
	pop postmaster proxy registrar root security sftp signin signup smtp ssh ssl sso static status support sysadmin
	system tls usenet uucp vpn waymark webmail webmaster wpad www`)

// lookalikes are letters that look like Latin ones in common fonts: of UTS 39's
// confusables those that IDNA admits, of the scripts in use.
var lookalikes = map[rune]string{
	// Latin, beyond ASCII and what decomposes into it
	'ɑ': "a", 'ƃ': "b", 'đ': "d", 'ɖ': "d", 'ɡ': "g", 'ħ': "h", 'ı': "i", 'ɩ': "i", 'ɪ': "i", 'ȷ': "j", 'ł': "l",
	'ǀ': "l", 'ʟ': "l", 'ɴ': "n", 'ø': "o", 'ɵ': "o", 'ʀ': "r", 'ʂ': "s", 'ŧ': "t", 'ʋ': "v", 'ʏ': "y",
	// Cyrillic
	'а': "a", 'ъ': "b", 'ь': "b", 'ы': "bl", 'с': "c", 'ԁ': "d", 'е': "e", 'ҽ': "e", 'ԍ': "g", 'һ': "h", 'і': "i",
	'ю': "io", 'ј': "j", 'ӏ': "l", 'п': "n", 'о': "o", 'р': "p", 'ԗ': "p", 'ԛ': "q", 'г': "r", 'ѕ': "s", 'ѵ': "v",
	'ԝ': "w", 'ѡ': "w", 'х': "x", 'у': "y", 'ү': "y",
	// Greek
	'α': "a", 'ι': "i", 'ϳ': "j", 'κ': "k", 'η': "n", 'ο': "o", 'ρ': "p", 'τ': "t", 'υ': "u", 'ν': "v", 'ω': "w",
	'χ': "x", 'γ': "y",
	// Armenian
	'ց': "g", 'հ': "h", 'յ': "j", 'լ': "l", 'ւ': "l", 'ո': "n", 'օ': "o", 'գ': "q", 'զ': "q", 'է': "t", 'ս': "u",
	'ա': "w",
	// Georgian
	'ხ': "b", 'ო': "m", 'ჿ': "o", 'ყ': "y",
	// Hebrew
	'ו': "l", 'ן': "l", 'ח': "n", 'ס': "o",
}

// looksLatin reports whether all letters of a label of another script look like
// Latin ones.
func looksLatin(label string) bool {
	letters := false
	for _, r := range norm.NFD.String(label) {
		if unicode.IsLetter(r) {
			if _, ok := lookalikes[r]; !ok {
				return false
			}
			letters = true
		}
	}
	return letters
}

// alike makes one of what is hard to tell apart among ASCII characters.
var alike = strings.NewReplacer("0", "o", "1", "l", "i", "l", "rn", "m", "vv", "w", "cl", "d", "ci", "d", "c1", "d")

// skeleton returns a text that labels share which look the same.
func skeleton(label string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(label) {
		zero := zeroOf(r)
		switch like, ok := lookalikes[r]; {
		case unicode.Is(unicode.Mn, r):
		case ok:
			b.WriteString(like)
		case zero != 0:
			b.WriteByte(byte('0' + r - zero))
		default:
			b.WriteRune(r)
		}
	}
	return alike.Replace(b.String())
}

var reservedSkeletons = sync.OnceValue(func() map[string]string { return skeletons(reservedPrefixes) })

// skeletons returns names by their skeletons.
func skeletons(names []string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[skeleton(name)] = name
	}
	return all
}

// reservedLike returns the reserved prefix that a label is or looks like, with or
// without a number after it, or "". A label that is reserved itself is returned as
// it is.
func reservedLike(label string, more []string) string {
	name := strings.TrimRight(label, "0123456789")
	for _, form := range []string{label, name} {
		for _, reserved := range []map[string]string{reservedSkeletons(), skeletons(more)} {
			switch like := reserved[skeleton(form)]; {
			case like == "" || form == "":
			case like == form:
				return label
			default:
				return like
			}
		}
	}
	return ""
}
