package visitor

import (
	"strings"

	"github.com/mileusna/useragent"
)

// browserNames are the names of package useragent that analytics shows, and
// what they are called there. For an unknown program the package's name is
// whatever the program says, which must not become a value of a breakdown.
var browserNames = map[string]string{
	useragent.Chrome:           "Chrome",
	useragent.Firefox:          "Firefox",
	useragent.Safari:           "Safari",
	useragent.MobileSafari:     "Safari",
	useragent.Edge:             "Edge",
	useragent.Opera:            "Opera",
	useragent.OperaMini:        "Opera Mini",
	useragent.OperaTouch:       "Opera",
	useragent.Vivaldi:          "Vivaldi",
	useragent.InternetExplorer: "Internet Explorer",
	"Trident":                  "Internet Explorer",
	useragent.SamsungBrowser:   "Samsung Internet",
	"Miui Browser":             "Miui Browser",
	"Huawei Browser":           "Huawei Browser",
	"Android browser":          "Android Browser",
	"YaBrowser":                "Yandex",
	"UCBrowser":                "UC Browser",
	"Whale":                    "Whale",
	"DuckDuckGo":               "DuckDuckGo",
	"Ddg":                      "DuckDuckGo",
	"QQBrowser":                "QQ Browser",
	"MQQBrowser":               "QQ Browser",
	"Silk":                     "Silk",
}

// socialApps are the apps of social networks, which open links in a browser of
// their own, by what their user agents contain.
var socialApps = []struct{ token, browser string }{
	{"Instagram", "Instagram"},
	{"Barcelona ", "Threads"},
	{"MessengerForiOS", "Messenger"},
	{"Orca-Android", "Messenger"},
	{"FBAN/", "Facebook"},
	{"FBAV/", "Facebook"},
	{"FB_IAB", "Facebook"},
	{"Twitter for ", "X"},
	{"TwitterAndroid", "X"},
	{"musical_ly", "TikTok"},
	{"BytedanceWebview", "TikTok"},
	{"TikTok", "TikTok"},
	{"AppName/ultralite", "TikTok"},
	{"trill_", "TikTok"},
	{"LinkedInApp", "LinkedIn"},
	{"Snapchat/", "Snapchat"},
	{"[Pinterest/", "Pinterest"},
	{"Pinterest for ", "Pinterest"},
	{"WhatsApp", "WhatsApp"},
	{" Line/", "LINE"},
	{"MicroMessenger/", "WeChat"},
	{"KAKAOTALK", "KakaoTalk"},
	{"KAKAOSTORY/", "KakaoStory"},
	{" QQ/", "QQ"},
	{"Weibo (", "Weibo"},
	{"Zalo/", "Zalo"},
	{"Telegram-Android/", "Telegram"},
	{"Reddit/", "Reddit"},
	{"VKAndroidApp/", "VK"},
	{"VK_iOS", "VK"},
}

// embeddingApps are parts of the user agents of other apps with a browser of their
// own that names itself like an ordinary one.
var embeddingApps = []string{"GSA/", "BingSapphire/", "TeamsMobile-", "NAVER(inapp"}

// onlyOnIOS are parts of user agents that a Macintosh never has: the names of
// browsers on iOS, and what browsers inside apps say.
var onlyOnIOS = []string{"Mobile/", "CriOS/", "FxiOS/", "EdgiOS/", "GSA/"}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// botTokens are parts of the lower-case user agents of crawlers, link previews
// and monitors, besides those that carry a URL of their maker. Command-line
// tools and HTTP libraries are not among them: somebody follows the link.
var botTokens = []string{
	"crawl", "spider", "slurp", "+http", "preview", "prerender",
	"facebookexternalhit", "facebookcatalog", "meta-externalagent", "facebot",
	"slack-imgproxy", "embedly", "iframely", "vkshare", "quora link", "flipboardproxy", "nuzzel", "outbrain",
	"google-inspectiontool", "googleother", "apis-google", "google-read-aloud", "mediapartners-google",
	"feedfetcher", "google-safety", "google favicon", "chrome-lighthouse", "pagespeed", "gtmetrix",
	"headlesschrome", "phantomjs", "puppeteer", "playwright", "selenium", "cypress",
	"scrapy",
	"uptime", "pingdom", "statuscake", "site24x7", "datadog", "newrelicpinger", "monitoring",
	"nmap", "masscan", "zgrab", "nikto", "sqlmap", "nuclei", "censysinspect", "expanse",
	"w3c_", "validator", "archive.org", "ia_archiver", "dataprovider", "microsoft office", "ms-office",
}

// isBot reports whether a lower-case user agent is not a person's browser.
func isBot(lower string) bool {
	// WhatsApp's preview says nothing but its name; its users' browsers say
	// more. Apps that fetch previews through Apple's library have no Mozilla.
	if strings.HasPrefix(lower, "whatsapp/") || (strings.Contains(lower, "cfnetwork/") &&
		!strings.HasPrefix(lower, "mozilla/")) {
		return true
	}
	// Cubot is a maker of phones.
	if strings.Contains(strings.ReplaceAll(lower, "cubot", ""), "bot") {
		return true
	}
	return containsAny(lower, botTokens)
}

// previewTokens are parts of the lower-case user agents of what fetches a link
// because somebody shared it, and shows title, description and image. Messages
// of iPhones, LINE, KakaoTalk and Threads call themselves facebookexternalhit,
// Signal calls itself WhatsApp. Crawlers of search engines (also Applebot and
// BingPreview) are not among them: they are to find the destination.
var previewTokens = []string{
	"facebookexternalhit", "facebot", "twitterbot", "linkedinbot", "slackbot", "discordbot", "telegrambot",
	"skypeuripreview", "microsoftpreview", "pinterestbot", "pinterest.com/bot", "redditbot", "vkshare",
	"xing-contenttabreceiver",
	"iframely", "embedly", "cardyb", "mastodon/", "summalybot", "pleroma", "akkoma", "lemmy/", "synapse (bot",
	"mattermost",
	"google-pagerenderer", "+/web/snippet", "googlemessages", "google-messages", "snap url preview", "link preview",
	"flipboardproxy",
}

// previewPrefixes begin user agents that say little else; browsers inside these
// apps have the same names further on.
var previewPrefixes = []string{"whatsapp/", "viber", "tumblr/"}

// isPreview reports whether a lower-case user agent makes previews of links.
func isPreview(lower string) bool {
	for _, prefix := range previewPrefixes {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return containsAny(lower, previewTokens)
}

// televisionTokens are parts of the lower-case user agents of televisions, sticks
// and consoles: those name Android, Linux or Windows, but are neither phones nor
// desktops.
var televisionTokens = []string{"smart-tv", "smarttv", "tizen", "web0s", "webos", "hbbtv", "appletv", "android tv",
	"androidtv", "googletv", "bravia", "crkey/", "; aft", "playstation", "nintendo", "xbox"}

// socialHosts are the hostnames of social networks, and the packages of their
// Android apps. Subdomains belong to them.
var socialHosts = set(
	"facebook.com", "fb.com", "fb.me", "messenger.com", "instagram.com", "threads.net", "threads.com",
	"twitter.com", "x.com", "t.co", "linkedin.com", "lnkd.in", "tiktok.com", "snapchat.com",
	"pinterest.com", "pinterest.co.uk", "pinterest.de", "pinterest.fr", "pin.it", "reddit.com", "redd.it",
	"youtube.com", "youtu.be", "whatsapp.com", "wa.me", "telegram.org", "telegram.me", "t.me", "bsky.app",
	"mastodon.social",
	"vk.com", "ok.ru", "weibo.com", "weixin.qq.com", "line.me", "discord.com", "tumblr.com", "quora.com", "kakao.com",
	"com.facebook.katana", "com.facebook.lite", "com.facebook.orca", "com.instagram.android", "com.twitter.android",
	"com.linkedin.android", "com.zhiliaoapp.musically", "com.ss.android.ugc.trill", "com.snapchat.android",
	"com.pinterest", "com.reddit.frontpage", "com.google.android.youtube", "com.whatsapp", "org.telegram.messenger",
	"jp.naver.line.android", "com.vkontakte.android", "com.discord",
)

func set(names ...string) map[string]struct{} {
	m := make(map[string]struct{}, len(names))
	for _, name := range names {
		m[name] = struct{}{}
	}
	return m
}

func isSocialHost(host string) bool {
	for host != "" {
		if _, ok := socialHosts[host]; ok {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}
