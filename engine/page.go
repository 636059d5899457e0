package engine

// OpPage lets those who are configured to be told hear a test: Command.Channel names
// one of them, "" = all. Receipt.Sample are the keys of the jobs that tell them, or, of
// a dry run, who would be told.
const OpPage Op = "page"
