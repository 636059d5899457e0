package engine

// Actor is who asked for something.
type Actor struct {
	User    string `json:"user"`
	Session string `json:"session,omitempty"`
	Via     string `json:"via"` // console, cli, socket, cron, engine
}

// Name is the actor in one word or two: the user, or the way that one without a name
// came; "" = the engine itself.
func (a Actor) Name() string {
	if a.User == "" && a.Via != "engine" {
		return a.Via
	}
	return a.User
}
