package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"github.com/waymarkhq/waymark/internal/visitor"
)

// visitors are the flags that say where the country of a visitor comes from.
type visitors struct {
	CountryHeader string `help:"Header in which a trusted proxy names the visitor's country." placeholder:"NAME"`
	GeoIP         string `name:"geoip" help:"File in MaxMind's format with the countries of addresses; asked before the country header." placeholder:"FILE"`
}

// check refuses flags that cannot work; proxies tells that some are trusted.
func (v *visitors) check(proxies bool) error {
	if v.CountryHeader != "" && !proxies {
		return errors.New("--country-header needs --trusted-proxies: the header is believed of these alone")
	}
	return nil
}

// countries opens the file of --geoip; nil without one.
func (v *visitors) countries(log *slog.Logger) (*visitor.Countries, error) {
	if v.GeoIP == "" {
		return nil, nil
	}
	countries, err := visitor.OpenCountries(v.GeoIP, log)
	if err != nil {
		return nil, fmt.Errorf("--geoip: %w", cmp.Or(errors.Unwrap(err), err)) // without the name of the function
	}
	return countries, nil
}
