package pager

// Words that tests outside of the package compare with.
const (
	KindWebhook = kindWebhook
	KindCommand = kindCommand
	TryHooks    = tryHooks
)
