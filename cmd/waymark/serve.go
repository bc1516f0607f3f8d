package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// serveCommand has its flags in groups, each in a file with its checks.
type serveCommand struct {
	mode         `group:"Process:"`
	storage      `group:"Storage:"`
	images       `group:"Storage:"`
	events       `group:"Storage:"`
	listeners    `group:"Listeners:"`
	hostnames    `group:"Hostnames:"`
	dns          `group:"Hostnames:"`
	probes       `group:"Hostnames:"`
	certificates `group:"TLS:"`
	dashboard    `group:"Sessions of people:"`
	oidc         `group:"Sessions of people:"`
	clients      `group:"Clients of the API:"`
	limits       `group:"Limits:"`
	visitors     `group:"Visitors:"`
	work         `group:"Executor:"`
	traces       `group:"Diagnosis:"`
	webhooks     `group:"Webhooks:"`
	zones        `group:"DNS provider:"`
}

// check completes the settings and refuses those that cannot work. It makes
// nothing and asks nothing outside this process.
func (c *serveCommand) check() error {
	for _, check := range []func() error{
		func() error { return c.mode.check(c.embedded()) },
		c.listeners.check,
		func() error { return c.hostnames.check(c.Dev) },
		c.dns.check,
		func() error { return c.certificates.check(c.Dev) },
		c.checkHosts,
		c.dashboard.check,
		c.oidc.check,
		c.limits.check,
		c.clients.check,
		c.work.check,
		c.traces.check,
		c.events.check,
		func() error { return c.visitors.check(len(c.trusted) > 0) },
		c.images.check,
		c.zones.check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkHosts refuses hostnames of the installation that would hide each other.
func (c *serveCommand) checkHosts() error {
	if c.APIHost != "" && (c.APIHost == c.AssetsHost || c.APIHost == c.PlatformZone) {
		return fmt.Errorf("--api-host %s is the assets host or the platform zone; the API needs a hostname of its own",
			c.APIHost)
	}
	return nil
}

// Run serves until the context ends, then drains, flushes and returns.
func (c *serveCommand) Run(ctx context.Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	log, err := c.logger()
	if err != nil {
		return err
	}
	if err := c.checkUnused(); err != nil {
		return err
	}
	if c.NoMigrate {
		if err := c.existing(); err != nil {
			return err
		}
	}
	p := &process{serveCommand: c, log: log, metrics: prometheus.NewRegistry(), failed: make(chan error, 4)}
	p.metrics.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	defer func() { err = errors.Join(err, p.stop()) }()
	err = p.start(ctx)
	if err == nil && c.roles().API {
		err = p.welcome(ctx)
	}
	if err != nil && ctx.Err() == nil { // otherwise it was asked to end before it had begun
		return err
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
		return nil
	case err := <-p.failed:
		return err
	}
}
