package engine

// Setting is one line of the configuration, secrets cut.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // default, a file, a variable of the environment, or a flag
	Env    string `json:"env"`    // variables that set it
}
