// Package githook decides what ken's git hooks do: which directory ken's part of them
// belongs in, what becomes of a hook that is there already when it is put in or taken
// out, and where in a commit message the session's trailer goes.
//
// It is given names and bytes, and answers with a plan and with bytes. Where git looks
// for hooks, how they are read and written, and what git is doing at the moment are for
// others to find out.
package githook

// Names are the hooks that ken has a part in, in the order git runs them.
//
// The third belongs to the second: a message that somebody is yet to write gets its
// trailer only once it is written (see [Message.Sign]).
var Names = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}

// gateHook is the one that may stop a commit.
const gateHook = "pre-commit"

// Aside is what a hook that ken's part cannot be put into is called meanwhile: its
// name with this behind it.
const Aside = ".before-ken"
