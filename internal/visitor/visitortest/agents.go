// Package visitortest has user agents and files of countries for tests.
package visitortest

// User agents of browsers.
const (
	ChromeWindows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/131.0.0.0 Safari/537.36"
	ChromeAndroid = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
		"Mobile Safari/537.36"
	SafariPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Version/17.6 Mobile/15E148 Safari/604.1"
	SafariMac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Version/17.6 Safari/605.1.15"
)

// User agents of programs that follow links by themselves.
var (
	// Previewers fetch a link to show what it leads to.
	Previewers = []string{
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 " +
			"Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
		"facebookexternalhit/1.1;kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
		"Twitterbot/1.0",
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"Slackbot 1.0 (+https://api.slack.com/robots)",
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
		"TelegramBot (like TwitterBot)",
		"WhatsApp/2.24.21.79 A",
		"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
		"Pinterest/0.2 (+http://www.pinterest.com/bot.html)",
		"Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
		"Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
		"Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
		"Viber/21.0.0 CFNetwork/1492.0.1 Darwin/23.3.0",
		"Iframely/1.3.1 (+https://iframely.com/docs/about)",
		"Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
		"Mastodon/4.3.1 (http.rb/5.2.0; +https://mastodon.social/)",
		"Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
		"Mozilla/5.0 (Windows NT 6.1; rv:6.0) Gecko/20110814 Firefox/6.0 Google " +
			"(+https://developers.google.com/+/web/snippet/)",
		"Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)",
	}
	// Searchers look for where a link leads.
	Searchers = []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; " +
			"+http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
		"Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/17.4 Mobile/15E148 Safari/604.1 (Applebot/0.1; +http://www.apple.com/go/applebot)",
		"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
		"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
		"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	}
)
