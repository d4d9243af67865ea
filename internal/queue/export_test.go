package queue

import "time"

// Polling returns options under which each queue is looked at so often.
func (opts WorkOptions) Polling(every time.Duration) WorkOptions {
	opts.poll = every
	return opts
}
