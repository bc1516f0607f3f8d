package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/waymarkhq/waymark/internal/tracing"
)

// traces are the flags that show what takes long.
type traces struct {
	TraceEndpoint string        `help:"Collector of OpenTelemetry that gets traces, by OTLP over HTTP; default: no traces are made." placeholder:"URL"`
	TraceCalls    float64       `default:"1" help:"Share of the API's calls that are traced, from 0 to 1; default: ${default}." placeholder:"SHARE"`
	TraceVisits   float64       `default:"0.001" help:"Share of visits that are traced, from 0 to 1; default: ${default}." placeholder:"SHARE"`
	SlowStatement time.Duration `default:"1s" help:"Log statements of the database that take longer; 0 logs none; default: ${default}." placeholder:"DURATION"`
}

func (t *traces) check() error {
	for _, share := range []struct {
		name  string
		value float64
	}{{"--trace-calls", t.TraceCalls}, {"--trace-visits", t.TraceVisits}} {
		if !(share.value >= 0 && share.value <= 1) {
			return fmt.Errorf("%s %v is not between 0 and 1", share.name, share.value)
		}
	}
	if t.SlowStatement < 0 {
		return errors.New("--slow-statement is less than 0")
	}
	return nil
}

// lastTraces is how long the last traces have to be sent at the end.
const lastTraces = 3 * time.Second

// trace begins to send traces; without --trace-endpoint there are none.
func (p *process) trace() (*tracing.Tracer, error) {
	if p.TraceEndpoint == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	tracer, err := tracing.New(tracing.Options{
		Endpoint: p.TraceEndpoint, Calls: p.TraceCalls, Visits: p.TraceVisits, Version: version,
		Instance: fmt.Sprintf("%s:%d", host, os.Getpid()), Log: p.log, Metrics: p.metrics,
	})
	if err != nil {
		return nil, fmt.Errorf("--trace-endpoint: %w", err)
	}
	p.stops = append(p.stops, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
		defer cancel()
		if err := tracer.Close(ctx); err != nil {
			p.log.Warn("the last traces were not sent", "error", err)
		}
		return nil
	})
	return tracer, nil
}
