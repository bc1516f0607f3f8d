package assembly

// Missing names the operations of the contract that are still to come. A test
// fails when it is not exact; it shrinks to nothing.
var Missing = []string{
	// analytics
	"getAnalyticsTimeseries",
	"getAnalyticsBreakdown",
	"getAnalyticsTopLinks",
	"getAnalyticsEvents",
	"getAnalyticsNative",
	"getAnalyticsRecovery",
	"getAnalyticsCampaignsCampaignId",
}
