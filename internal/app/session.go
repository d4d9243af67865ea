package app

import "os"

// session names the agent's session that ken runs in, "" for none.
func session() string { return os.Getenv("KEN_SESSION") }
