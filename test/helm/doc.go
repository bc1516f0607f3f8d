// Package helm tests the chart in deploy/helm: with Helm's own linter and templates, with the types of
// Kubernetes and its Pod Security Standards, and by running what the pods would run.
package helm
