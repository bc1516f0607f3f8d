package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/op"
)

// Diagnostics are what the last verification of a domain saw (completions.md §4).
type Diagnostics struct {
	DomainID    string        `json:"domainId" format:"uuid"`
	AppID       string        `json:"appId"`
	Revision    string        `json:"revision" format:"uuid"`
	GeneratedAt clock.Instant `json:"generatedAt" format:"date-time"`
	Checks      []Check       `json:"checks"`
}

// SchemaName implements schema.Named.
func (Diagnostics) SchemaName() string { return "DomainDiagnostics" }

// Check is one thing that a verification looked at.
type Check struct {
	Name     string   `json:"name" enum:"ownership,dns,https,links,native_ios,native_android,zone"`
	Status   string   `json:"status" enum:"ok,warning,failed,skipped"`
	Message  string   `json:"message" doc:"What was seen and, unless it is right, what to do."`
	Expected []string `json:"expected"`
	Observed []string `json:"observed"`
}

// SchemaName implements schema.Named.
func (Check) SchemaName() string { return "DomainCheck" }

func diagnose(ctx context.Context, c *op.Call, in *domainInput) (op.Item[Diagnostics], error) {
	d, err := load(ctx, c.DB, in.DomainID)
	if err != nil {
		return op.Item[Diagnostics]{}, err
	}
	return op.Item[Diagnostics]{Data: Diagnostics{DomainID: d.ID, AppID: d.AppID, Revision: d.Revision,
		GeneratedAt: c.Now, Checks: d.checks()}, Ref: d.ref()}, nil
}

// checks returns what the last verification saw.
func (d *Domain) checks() []Check {
	v := d.verification.Value
	unchecked := func(why string) {
		v.Ownership = finding{Status: skipped, Message: why}
		v.DNS, v.HTTPS, v.Links, v.Zone = v.Ownership, v.Ownership, v.Ownership, v.Ownership
	}
	switch {
	case d.Detached:
		unchecked("The domain is detached.")
	case !d.verification.Valid:
		unchecked("The domain has not been checked yet.")
		if d.Mode == Platform {
			v.Ownership = proved(d)
		}
	}
	ios := finding{Status: skipped, Message: "No iOS app is associated with the hostname."}
	if d.NativeConfig.IOS.Valid {
		ios = finding{Status: passed, Message: "iOS apps are associated with the hostname.",
			Expected: d.NativeConfig.IOS.Value.AppIDs}
	}
	android := finding{Status: skipped, Message: "No Android app is associated with the hostname."}
	if d.NativeConfig.Android.Valid {
		android = finding{Status: passed, Message: "Android apps are associated with the hostname."}
		for _, app := range d.NativeConfig.Android.Value.Apps {
			android.Expected = append(android.Expected, app.PackageName)
		}
	}
	return []Check{v.Ownership.check("ownership"), v.DNS.check("dns"), v.HTTPS.check("https"), v.Links.check("links"),
		ios.check("native_ios"), android.check("native_android"), v.Zone.check("zone")}
}

func (f finding) check(name string) Check {
	return Check{Name: name, Status: string(f.Status), Message: f.Message, Expected: append([]string{}, f.Expected...),
		Observed: append([]string{}, f.Observed...)}
}
