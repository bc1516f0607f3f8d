package op

var examples = map[string]any{}
